// The pool of threads behind a launch on the CPU. Built into the host library only; nvcc never sees it.
#include "host.hpp"

#include <algorithm>
#include <atomic>
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

// What the library was built from (setup.py): Python refuses one that does not fit the declarations it reads.
extern "C" const char *host_sources() { return HOST_SOURCES; }
