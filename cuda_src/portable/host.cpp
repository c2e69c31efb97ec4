// Launches on the CPU. Built into the host library only; nvcc never sees it.
#include "portable/host.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "portable/host_pool.hpp"
#include "portable/recorded.cuh"

namespace {

using host::Index;

constexpr double GUESS = 100;   // assumed nanoseconds per index, before any measurement
constexpr int PIECES = 16;      // a thread's share is cut into this many pieces to balance the load
constexpr int GRID_PIECE = 128; // a thread is not started for fewer indices

} // namespace

// A kernel, and its recent time per index in nanoseconds, which may be one or thousands. It decides how launches are
// cut; the results do not depend on the cut.
struct Timed {
    host::Kernel kernel;
    bool team; // an index may be a long piece of a list, and the next one empty
    std::atomic<double> nanoseconds;
};

// Returns a kernel without measured time. It lives as long as the library.
extern "C" Timed *host_timed(host::Kernel kernel, int team) { return new Timed{kernel, team != 0, {GUESS}}; }

namespace {

using host::Call;
using host::Done;
using host::Piece;

// A launch whose indices below `begin` are done.
struct Launch {
    host::Kernel kernel;
    const host::Slot *arguments;
    Index begin, end;
    Piece piece;

    // Runs on the calling thread alone, for at most `most_nanoseconds`, or to the end if that is 0. `is_whole`: whether
    // no other thread has a part of the launch, before or afterwards; kernels may rely on it (`works_alone`).
    Done run_alone(Call &call, std::int64_t most_nanoseconds, bool is_whole) {
        std::int64_t stop = 0;
        const host::Alone here(is_whole);
        return host::run_pieces(kernel, arguments, piece, call, true, [&](Index size) {
            if (most_nanoseconds > 0) { // costs one more reading of the clock per piece
                const std::int64_t now = host::nanoseconds();
                stop = stop == 0 ? now + most_nanoseconds : stop;
                if (now >= stop)
                    return std::pair(end, end);
            }
            const Index from = begin;
            begin = std::min(begin + size, end);
            return std::pair(from, begin);
        });
    }

    // Runs on threads of the pool, or on this thread while another launch has the pool or the others would not help.
    // expected: nanoseconds on one thread.
    Done run_together(Call &call, int threads, double expected) {
        constexpr std::int64_t BETWEEN_TRIES = 1'000'000;
        host::Pool &shared = host::pool();
        const Index first = begin;
        Done done;
        while (begin < end && !call.stopped()) {
            const bool has_pool = shared.take();
            const bool alone = has_pool && !shared.company.is_worth(expected, host::nanoseconds());
            if (alone)
                shared.leave();
            const Done more = alone      ? run_alone(call, 0, begin == first)
                              : has_pool ? shared.run(kernel, begin, end, arguments, piece, threads, call)
                                         : run_alone(call, BETWEEN_TRIES, false);
            if (has_pool && !alone) {
                shared.leave();
                begin = end;
            }
            done = {done.indices + more.indices, done.nanoseconds + more.nanoseconds};
        }
        return done;
    }
};

// Runs a kernel for one index. Its time is not recorded: it predicts little about others.
void run_one(host::Kernel kernel, const host::Slot *arguments) {
    const host::Alone here(true);
    try {
        kernel(0, 1, arguments);
    } catch (const host::Interrupted &) {
    }
}

// Runs a kernel over `count` indices on at most `threads` threads. Returns early if the call is to end.
void launch(Call &call, Timed *timed, Index count, const host::Slot *arguments, int threads, double smallest_piece) {
    if (count == 1) {
        run_one(timed->kernel, arguments);
        return;
    }
    const double known = timed->nanoseconds.load(std::memory_order_relaxed);
    const Index least = Index(std::min(smallest_piece / known, double(count)));
    Launch whole{timed->kernel, arguments, 0, count, Piece(least, count)};
    Done own;
    if (threads <= 1) {
        own = whole.run_alone(call, 0, true);
    } else {
        const Index even = std::max(count / (Index(threads) * PIECES), Index(1));
        const Index most = timed->team && least < count ? even : std::max(least, even);
        const Index pieces = (count + most - 1) / most;
        if (pieces == 1) {
            own = whole.run_alone(call, 0, true);
        } else {
            whole.piece = Piece(least, most);
            own = whole.run_together(call, int(std::min<Index>(pieces, threads)), known * double(count));
        }
    }
    if (own.indices > 0) { // the clock may not have advanced, but no work takes zero time
        const double seen = double(own.nanoseconds + 1) / double(own.indices);
        timed->nanoseconds.store(known + (seen - known) / 4, std::memory_order_relaxed);
    }
}

// A reusable barrier for the threads of a launch.
class Barrier {
  public:
    Barrier(int threads, Call &call) : call_(call), threads_(threads), missing_(threads) {}

    // Throws `Interrupted` if the call is to end.
    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        if (--missing_ == 0) {
            missing_ = threads_;
            ++turn_;
            all_here_.notify_all();
        } else {
            const auto ready = [this, turn = turn_] { return turn_ != turn || call_.stopped(); };
            if (!host::working.polls)
                all_here_.wait(lock, ready);
            while (!all_here_.wait_for(lock, std::chrono::nanoseconds(host::POLL_NANOSECONDS), ready)) {
                lock.unlock(); // signal handlers may take long
                call_.poll();
                lock.lock();
            }
        }
        if (call_.stopped())
            throw host::Interrupted{};
    }

    // Takes one thread out of the barrier, from now on.
    void leave() {
        std::lock_guard<std::mutex> lock(mutex_);
        --threads_, --missing_;
    }

    // Releases all waiting threads, because the call is to end.
    void dissolve() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
        } // every thread now waits, or will see that the call is stopped
        all_here_.notify_all();
    }

  private:
    Call &call_;
    std::mutex mutex_;
    std::condition_variable all_here_;
    int threads_, missing_;
    unsigned turn_ = 0;
};

// The launch of a COOPERATIVE_KERNEL that this thread takes part in.
struct GridLaunch {
    Barrier *barrier;
    Index count;
};

thread_local GridLaunch grid_launch = {};

// Runs a COOPERATIVE_KERNEL: each piece on a separate thread, all of them at the same time. Threads of a pool come when
// they can, which is not enough if they wait for each other. Therefore the threads are started here.
void launch_grid(Call &call, Timed *timed, Index count, const host::Slot *arguments, int threads) {
    const Index most = (count + GRID_PIECE - 1) / GRID_PIECE;
    int pieces = int(threads < most ? threads : most);
    Barrier barrier(pieces, call);
    const auto run_piece = [&](int k) {
        const host::WorkingOn here(call, k == 0);
        const GridLaunch outer = grid_launch; // a signal handler may launch a grid within this one
        grid_launch = {&barrier, count};
        const host::Alone together(false);
        try {
            barrier.wait(); // until all threads are here, and `pieces` is known
            timed->kernel(count * k / pieces, count * (k + 1) / pieces, arguments);
            barrier.wait(); // the calling thread handles signals until the last thread has come
        } catch (const host::Interrupted &) {
            barrier.dissolve();
        }
        grid_launch = outer;
    };
    std::vector<std::thread> others;
    try {
        others.reserve(pieces);
        while (int(others.size()) + 1 < pieces)
            others.emplace_back(run_piece, int(others.size()) + 1);
    } catch (const std::exception &) { // std::system_error, std::bad_alloc: continue with fewer threads
        for (; pieces > int(others.size()) + 1; --pieces)
            barrier.leave();
    }
    run_piece(0);
    for (std::thread &other : others)
        other.join();
}

} // namespace

void host::wait_for_grid() { grid_launch.barrier->wait(); }

host::Index host::grid_size() { return grid_launch.count; }

// Runs a kernel over `count` indices on at most `threads` threads; each of them takes pieces that last at least about
// `smallest_piece` nanoseconds.
extern "C" void host_launch(Timed *timed, Index count, const host::Slot *arguments, int threads,
                            double smallest_piece) {
    host::interruptible([&](Call &call) { launch(call, timed, count, arguments, threads, smallest_piece); });
}

extern "C" void host_launch_grid(Timed *timed, Index count, const host::Slot *arguments, int threads, double) {
    host::interruptible([&](Call &call) { launch_grid(call, timed, count, arguments, threads); });
}

// Repeats a sequence until `*stop` is nonzero.
extern "C" void host_repeat(const Step *steps, Index count, const std::int32_t *stop, int threads,
                            double smallest_piece) {
    host::interruptible([&](Call &call) {
        do {
            for (const Step *step = steps; step < steps + count && !call.stopped(); ++step) {
                for (const Lookup *lookup = step->lookups; lookup < step->lookups + step->lookups_count; ++lookup)
                    step->arguments[lookup->slot] = host::Slot(Index(*lookup->place));
                const Index indices = step->place != nullptr ? *step->place : step->count;
                if (indices <= 0)
                    continue;
                if (step->grid)
                    launch_grid(call, step->timed, indices, step->arguments, threads);
                else
                    launch(call, step->timed, indices, step->arguments, threads, smallest_piece);
            }
        } while (!call.poll() && !*stop);
    });
}

namespace {

constexpr std::uintptr_t HUGE_PAGE = std::uintptr_t(1) << 21; // of x86-64, and of aarch64 with pages of 4 KiB
constexpr Index COPIED = 1 << 17;                             // bytes that a thread copies at a time
constexpr Index CHECKED = COPIED / Index(sizeof(double));     // numbers that it checks

// Writes the first byte of each of the huge pages [begin, end) that begin within the target.
void touch_pages(Index begin, Index end, const host::Slot *arguments) {
    const auto start = reinterpret_cast<std::uintptr_t>(host::from_slots<char *>(&arguments[0]));
    const std::uintptr_t first = (start + HUGE_PAGE - 1) / HUGE_PAGE;
    for (Index page = begin; page < end; ++page)
        *reinterpret_cast<volatile char *>((first + page) * HUGE_PAGE) = 0;
}

void copy_pieces(Index begin, Index end, const host::Slot *arguments) {
    char *target = host::from_slots<char *>(&arguments[0]);
    const char *source = host::from_slots<const char *>(&arguments[1]);
    const Index from = begin * COPIED, to = std::min(Index(arguments[2]), end * COPIED);
    std::memcpy(target + from, source + from, std::size_t(to - from));
}

// Sets a flag if any of the numbers in the pieces [begin, end) is infinite or not a number.
void check_pieces(Index begin, Index end, const host::Slot *arguments) {
    const double *values = host::from_slots<const double *>(&arguments[0]);
    const Index from = begin * CHECKED, to = std::min(Index(arguments[1]), end * CHECKED);
    bool finite = true;
    for (Index i = from; i < to; ++i)
        finite &= values[i] - values[i] == 0.0;
    if (!finite)
        host::from_slots<std::atomic<bool> *>(&arguments[2])->store(true, std::memory_order_relaxed);
}

Timed touching{touch_pages, false, {100e3}}, copying{copy_pieces, false, {10e3}}, checking{check_pieces, false, {4e3}};

} // namespace

// Gets the huge pages of memory that is to be overwritten, with several threads. Memory that was never touched costs
// more to get than to write, and threads that touch the same huge page wait for each other, so one thread gets each.
extern "C" void host_touch(char *target, Index bytes, int threads) {
    const auto start = reinterpret_cast<std::uintptr_t>(target);
    const host::Slot arguments[] = {start};
    const Index pages = Index((start + bytes - 1) / HUGE_PAGE) - Index((start + HUGE_PAGE - 1) / HUGE_PAGE) + 1;
    if (bytes > 0 && pages > 0)
        host_launch(&touching, pages, arguments, threads, 0);
}

// Copies memory with several threads.
extern "C" void host_copy(char *target, const char *source, Index bytes, int threads) {
    if (bytes <= 0)
        return;
    host_touch(target, bytes, threads);
    const host::Slot arguments[] = {reinterpret_cast<std::uintptr_t>(target), reinterpret_cast<std::uintptr_t>(source),
                                    host::Slot(bytes)};
    host_launch(&copying, (bytes + COPIED - 1) / COPIED, arguments, threads, 0);
}

// Returns whether all numbers are finite, found with several threads.
extern "C" int host_all_finite(const double *values, Index count, int threads) {
    std::atomic<bool> found{false};
    const host::Slot arguments[] = {reinterpret_cast<std::uintptr_t>(values), host::Slot(count),
                                    reinterpret_cast<std::uintptr_t>(&found)};
    if (count > 0)
        host_launch(&checking, (count + CHECKED - 1) / CHECKED, arguments, threads, 0);
    return !found;
}

// Calls query(subject) until it returns something other than `pending`; returns the last answer. Handles signals.
extern "C" int host_poll(int (*query)(void *), void *subject, int pending) {
    int answer = pending;
    host::interruptible([&](Call &call) {
        while ((answer = query(subject)) == pending && !call.poll())
            host::pause_thread();
    });
    return answer;
}

// Sets the number of cores that the process may use.
extern "C" void host_use_cores(int cores) { host::usable_cores = cores; }

// Digest of the library's sources (setup.py): Python refuses a library that does not fit the declarations it reads.
extern "C" const char *host_sources() { return HOST_SOURCES; }
