// The pool of threads behind a launch on the CPU. Built into the host library only; nvcc never sees it.
#include "host.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using host::Index;

struct Launch {
    host::Kernel kernel;
    const host::Slot *arguments;
    Index end;
    Index piece; // indices that a thread takes at a time
    std::atomic<Index> next;

    void work() {
        for (Index begin; (begin = next.fetch_add(piece, std::memory_order_relaxed)) < end;)
            kernel(begin, begin + piece < end ? begin + piece : end, arguments);
    }
};

class Pool {
  public:
    // Runs the launch on the calling thread and `helpers` others; returns when every index is done.
    void run(Launch &launch, int helpers) {
        std::unique_lock<std::mutex> one_at_a_time(launching_);
        helpers = hire(helpers);
        {
            std::lock_guard<std::mutex> lock(mutex_);
            current_ = &launch;
            wanted_ = busy_ = helpers;
        }
        wake_.notify_all();
        launch.work();
        std::unique_lock<std::mutex> lock(mutex_);
        wanted_ = 0; // whoever has not woken by now is not needed
        busy_ -= helpers - taken_;
        taken_ = 0;
        done_.wait(lock, [this] { return busy_ == 0; });
        current_ = nullptr;
    }

  private:
    // Starts threads until there are `wanted`, or the system has no more to give; returns how many of them there are.
    int hire(int wanted) {
        try {
            while (int(workers_.size()) < wanted)
                workers_.emplace_back(&Pool::wait_for_work, this).detach();
        } catch (const std::system_error &) {
        }
        return std::min(wanted, int(workers_.size()));
    }

    void wait_for_work() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [this] { return wanted_ > 0; });
            --wanted_;
            ++taken_;
            Launch *launch = current_;
            lock.unlock();
            launch->work();
            lock.lock();
            if (--busy_ == 0)
                done_.notify_one();
        }
    }

    std::mutex launching_, mutex_;
    std::condition_variable wake_, done_;
    std::vector<std::thread> workers_;
    Launch *current_ = nullptr;
    int wanted_ = 0; // workers that the current launch still asks for
    int taken_ = 0;  // workers that took part in it
    int busy_ = 0;   // workers that it waits for
};

// A child of fork() has none of its parent's threads: it gets a pool of its own. The pool outlives main() on purpose,
// since its threads may still wait on it.
Pool &pool() {
    static std::mutex making;
    static Pool *made = nullptr;
    static pid_t maker = 0;
    std::lock_guard<std::mutex> lock(making);
    if (made == nullptr || maker != getpid()) {
        made = new Pool;
        maker = getpid();
    }
    return *made;
}

} // namespace

extern "C" void host_launch(host::Kernel kernel, Index count, const host::Slot *arguments, int threads,
                            Index smallest_piece) {
    if (count <= smallest_piece || threads <= 1) {
        kernel(0, count, arguments);
        return;
    }
    // Sixteen pieces a thread even out the load; the result does not depend on the cut.
    Index piece = count / (Index(threads) * 16);
    piece = piece < smallest_piece ? smallest_piece : piece;
    const Index pieces = (count + piece - 1) / piece;
    Launch launch{kernel, arguments, count, piece, {0}};
    pool().run(launch, int(pieces < threads ? pieces : threads) - 1);
}

namespace {

// Where the threads of a launch wait for each other; used again and again.
class Barrier {
  public:
    explicit Barrier(int threads) : threads_(threads), missing_(threads) {}

    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        if (--missing_ == 0) {
            missing_ = threads_;
            ++turn_;
            all_here_.notify_all();
            return;
        }
        all_here_.wait(lock, [this, turn = turn_] { return turn_ != turn; });
    }

    // One thread less will come, from now on.
    void leave() {
        std::lock_guard<std::mutex> lock(mutex_);
        --threads_, --missing_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable all_here_;
    int threads_, missing_;
    unsigned turn_ = 0;
};

thread_local Barrier *grid_barrier = nullptr; // of the launch that this thread takes part in

} // namespace

std::int64_t host::nanoseconds() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void host::wait_for_grid() { grid_barrier->wait(); }

// Runs a GRID_KERNEL: every piece on a thread of its own, all of them at the same time. A pool's threads come when they
// can, which is not enough where they wait for each other, so that these are started here.
extern "C" void host_launch_grid(host::Kernel kernel, Index count, const host::Slot *arguments, int threads,
                                 Index smallest_piece) {
    const Index most = (count + smallest_piece - 1) / smallest_piece;
    int pieces = int(threads < most ? threads : most);
    Barrier barrier(pieces);
    const auto run_piece = [&](int k) {
        barrier.wait(); // until all are there, and `pieces` is known
        grid_barrier = &barrier;
        kernel(count * k / pieces, count * (k + 1) / pieces, arguments);
        grid_barrier = nullptr;
    };
    std::vector<std::thread> others;
    try {
        while (int(others.size()) + 1 < pieces)
            others.emplace_back(run_piece, int(others.size()) + 1);
    } catch (const std::system_error &) { // the system has no more to give
        for (; pieces > int(others.size()) + 1; --pieces)
            barrier.leave();
    }
    run_piece(0);
    for (std::thread &other : others)
        other.join();
}

namespace {

constexpr std::uintptr_t HUGE_PAGE = std::uintptr_t(1) << 21; // what x86-64 and aarch64 have between a page and a gigabyte

// Copies the huge pages begin to end - 1 of those that the target lies in.
void copy_pages(Index begin, Index end, const host::Slot *arguments) {
    char *target = host::from_slot<char *>(arguments[0]);
    const char *source = host::from_slot<const char *>(arguments[1]);
    const auto start = reinterpret_cast<std::uintptr_t>(target), stop = start + arguments[2];
    const std::uintptr_t first = start / HUGE_PAGE;
    const std::uintptr_t from = std::max(start, (first + begin) * HUGE_PAGE);
    const std::uintptr_t to = std::min(stop, (first + end) * HUGE_PAGE);
    std::memcpy(target + (from - start), source + (from - start), to - from);
}

} // namespace

// Copies memory on several threads. Memory that was never touched costs more to get than to write: each huge page is
// got by one of the threads.
extern "C" void host_copy(char *target, const char *source, Index bytes, int threads) {
    if (bytes <= 0)
        return;
    const auto start = reinterpret_cast<std::uintptr_t>(target);
    const host::Slot arguments[] = {start, reinterpret_cast<std::uintptr_t>(source), host::Slot(bytes)};
    host_launch(copy_pages, Index((start + bytes - 1) / HUGE_PAGE - start / HUGE_PAGE) + 1, arguments, threads, 1);
}

// What the library was built from (setup.py): Python refuses one that does not fit the declarations it reads.
extern "C" const char *host_sources() { return HOST_SOURCES; }
