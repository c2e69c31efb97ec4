// Launches on the CPU. Built into the host library only; nvcc never sees it.
#include "host.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <vector>

#include "host_pool.hpp"

namespace {

using host::Index;

// The pool outlives main() on purpose, since its threads may still wait on it. A child of fork() has none of its
// parent's threads: it gets a pool of its own.
std::atomic<host::Pool *> current_pool{nullptr};
[[maybe_unused]] const int forgotten_by_children =
    pthread_atfork(nullptr, nullptr, [] { current_pool.store(nullptr, std::memory_order_relaxed); });

host::Pool &pool() {
    host::Pool *found = current_pool.load(std::memory_order_acquire);
    if (found == nullptr) {
        auto *made = new host::Pool;
        if (current_pool.compare_exchange_strong(found, made))
            return *made;
        delete made; // another thread was faster
    }
    return *found;
}

constexpr double GUESS = 100;   // nanoseconds that an index takes, before anything is known
constexpr int PIECES = 16;      // a thread's share, cut in so many pieces, evens out the load
constexpr int GRID_PIECE = 128; // fewer indices than this are not worth starting a thread for

} // namespace

// A kernel, and how many nanoseconds it took for an index of late, one or thousands. Launches are cut by that; what
// they give does not depend on the cut.
struct Timed {
    host::Kernel kernel;
    bool team; // an index may be a long piece of a list, and the next one nothing at all
    std::atomic<double> nanoseconds;
};

// The kernel with nothing known about its time. It lasts as long as the library.
extern "C" Timed *host_timed(host::Kernel kernel, int team) { return new Timed{kernel, team != 0, {GUESS}}; }

// Runs a kernel over `count` indices on at most `threads` threads; each of them takes pieces that last about
// `smallest_piece` nanoseconds at least.
extern "C" void host_launch(Timed *timed, Index count, const host::Slot *arguments, int threads,
                            double smallest_piece) {
    if (threads <= 1) {
        timed->kernel(0, count, arguments);
        return;
    }
    const double known = timed->nanoseconds.load(std::memory_order_relaxed);
    const double least = std::min(smallest_piece / known, double(count));
    const Index even = std::max(count / (Index(threads) * PIECES), Index(1));
    const Index piece = timed->team && Index(least) < count ? even : std::max(Index(least), even);
    const Index pieces = (count + piece - 1) / piece;
    host::Done own{0, 0};
    if (pieces == 1) {
        own.nanoseconds = -host::nanoseconds();
        timed->kernel(0, count, arguments);
        own = {count, own.nanoseconds + host::nanoseconds()};
    } else {
        own = pool().run(timed->kernel, count, arguments, piece, int(std::min<Index>(pieces, threads)));
    }
    if (own.indices > 0) { // a clock may not have moved, but nothing takes no time
        const double seen = double(own.nanoseconds + 1) / double(own.indices);
        timed->nanoseconds.store(known + (seen - known) / 4, std::memory_order_relaxed);
    }
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
extern "C" void host_launch_grid(Timed *timed, Index count, const host::Slot *arguments, int threads, double) {
    const Index most = (count + GRID_PIECE - 1) / GRID_PIECE;
    int pieces = int(threads < most ? threads : most);
    Barrier barrier(pieces);
    const auto run_piece = [&](int k) {
        barrier.wait(); // until all are there, and `pieces` is known
        grid_barrier = &barrier;
        timed->kernel(count * k / pieces, count * (k + 1) / pieces, arguments);
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

// One launch of a recorded sequence. Numbers that stand in memory are looked up when it is their turn.
struct Lookup {
    Index slot; // of the arguments
    const std::int32_t *place;
};

struct Step {
    Timed *timed;
    Index count;
    const std::int32_t *place; // of the count; or none, and `count` counts
    host::Slot *arguments;
    const Lookup *lookups;
    Index lookups_count;
    Index grid; // whether it is a GRID_KERNEL
};

// Repeats a sequence until `*stop` is not 0, and returns 1; or until `most_nanoseconds` have passed, at the end of a
// turn, and returns 0: who calls it may have signals to look after, and calls it again.
extern "C" int host_repeat(const Step *steps, Index count, const std::int32_t *stop, int threads, double smallest_piece,
                           Index most_nanoseconds) {
    const std::int64_t end = host::nanoseconds() + most_nanoseconds;
    do {
        for (const Step *step = steps; step < steps + count; ++step) {
            for (const Lookup *lookup = step->lookups; lookup < step->lookups + step->lookups_count; ++lookup)
                step->arguments[lookup->slot] = host::Slot(Index(*lookup->place));
            const Index indices = step->place != nullptr ? *step->place : step->count;
            if (indices > 0)
                (step->grid ? host_launch_grid : host_launch)(step->timed, indices, step->arguments, threads,
                                                              smallest_piece);
        }
        if (*stop)
            return 1;
    } while (host::nanoseconds() < end);
    return 0;
}

namespace {

constexpr std::uintptr_t HUGE_PAGE = std::uintptr_t(1) << 21; // of x86-64, and of aarch64 with pages of 4 KiB

// Copies the huge pages begin to end - 1 of those that the target lies in.
void copy_pages(Index begin, Index end, const host::Slot *arguments) {
    char *target = host::from_slots<char *>(&arguments[0]);
    const char *source = host::from_slots<const char *>(&arguments[1]);
    const auto start = reinterpret_cast<std::uintptr_t>(target), stop = start + arguments[2];
    const std::uintptr_t first = start / HUGE_PAGE;
    const std::uintptr_t from = std::max(start, (first + begin) * HUGE_PAGE);
    const std::uintptr_t to = std::min(stop, (first + end) * HUGE_PAGE);
    std::memcpy(target + (from - start), source + (from - start), to - from);
}

Timed copying{copy_pages, false, {100e3}};

} // namespace

// Copies memory on several threads. Memory that was never touched costs more to get than to write: each huge page is
// got by one of the threads.
extern "C" void host_copy(char *target, const char *source, Index bytes, int threads) {
    if (bytes <= 0)
        return;
    const auto start = reinterpret_cast<std::uintptr_t>(target);
    const host::Slot arguments[] = {start, reinterpret_cast<std::uintptr_t>(source), host::Slot(bytes)};
    host_launch(&copying, Index((start + bytes - 1) / HUGE_PAGE - start / HUGE_PAGE) + 1, arguments, threads, 0);
}

// What the library was built from (setup.py): Python refuses one that does not fit the declarations it reads.
extern "C" const char *host_sources() { return HOST_SOURCES; }

// Asks `query` about a subject, again and again, until it answers anything but `pending`, or for `most_nanoseconds`;
// returns its last answer.
extern "C" int host_poll(int (*query)(void *), void *subject, int pending, Index most_nanoseconds) {
    const std::int64_t end = host::nanoseconds() + most_nanoseconds;
    int answer = query(subject);
    while (answer == pending && host::nanoseconds() < end) {
        host::pause_thread();
        answer = query(subject);
    }
    return answer;
}
