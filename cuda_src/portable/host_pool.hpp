// The pool of threads for launches on the CPU. Part of native libraries, each of which has its own; nvcc never sees it.
//
// A launch lasts a few microseconds or more, and the next one follows soon. A thread that waits, for work or for the
// others, therefore spins for a moment before it sleeps, because waking a thread takes tens of microseconds. Threads
// beyond the cores that the process may use never spin.
//
// One launch at a time has the pool. Others of the process meanwhile run on their calling threads (host.cpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "portable/host.hpp"

namespace host {

constexpr std::chrono::microseconds SPINNING{50}; // longer than most pauses between launches, and than waking a thread
constexpr int CHANCES = 64;                       // tests of the condition between two readings of the clock

inline void pause_thread() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

// Spins until `ready`, or for a moment; returns whether it is. If cores are few, the thread it waits for may need this
// very core, so it yields from time to time.
template <class Ready> bool spin_until(const Ready &ready) {
    const auto end = std::chrono::steady_clock::now() + SPINNING;
    do {
        for (int chance = 0; chance < CHANCES; ++chance, pause_thread())
            if (ready())
                return true;
        std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

// Cores that the process may use, as Python knows them (dmr/common/threads.py).
LIBRARY_ONLY inline std::atomic<int> usable_cores{1};

// Sleep and wake-up of one thread. Others first change what it waits for, and then wake it.
class Bed {
  public:
    template <class Ready> void sleep_until(const Ready &ready) {
        std::unique_lock<std::mutex> lock(mutex_);
        asleep_ = true; // set before `ready` is tested: a thread that changes it later finds the sleeper
        wake_.wait(lock, ready);
        asleep_ = false;
    }

    // The same, for at most `most_nanoseconds`; returns whether it is ready.
    template <class Ready> bool sleep_for(std::int64_t most_nanoseconds, const Ready &ready) {
        std::unique_lock<std::mutex> lock(mutex_);
        asleep_ = true;
        const bool is_ready = wake_.wait_for(lock, std::chrono::nanoseconds(most_nanoseconds), ready);
        asleep_ = false;
        return is_ready;
    }

    void wake() {
        if (!asleep_)
            return;
        {
            std::lock_guard<std::mutex> lock(mutex_);
        } // it has not tested yet, or it waits
        wake_.notify_one();
    }

  private:
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<bool> asleep_{false};
};

// The part of a launch's range that a thread begins with. One thread works on neighbouring entries of an array, round
// after round, so that few cache lines and pages are shared.
struct alignas(64) Share {
    std::atomic<Index> next{0};
    Index end = 0;
};

// The work of one thread in a launch, and its time.
struct Done {
    Index indices = 0;
    std::int64_t nanoseconds = 0;
};

// The number of indices that a thread takes at a time. The time per index is not known in advance: a thread begins with
// few indices and takes up to GROWTH times as many each time, but no more than take LONGEST at the speed of the last
// piece. A launch can therefore always end soon.
class Piece {
  public:
    static constexpr Index FIRST = 256;
    static constexpr std::int64_t LONGEST = 1'000'000; // nanoseconds
    static constexpr Index GROWTH = 8;

    // least: the smallest piece worth a thread's overhead, from earlier launches; most: the largest that balances the
    // load.
    Piece(Index least, Index most)
        : most_(std::max(most, Index(1))), size_(std::clamp(least, Index(1), std::min(most_, FIRST))) {}

    Index size() const { return size_; }

    void learn(Index indices, std::int64_t nanoseconds) {
        if (size_ == most_ && nanoseconds <= LONGEST)
            return;
        const double fits = double(LONGEST) * double(indices) / double(nanoseconds + 1);
        size_ = std::max(Index(std::min(fits, double(std::min(size_ * GROWTH, most_)))), Index(1));
    }

  private:
    Index most_, size_;
};

// Runs a kernel over the pieces (begin, end) that take(size) returns, until a piece is empty or the call is to end.
template <class Take>
Done run_pieces(Kernel kernel, const Slot *arguments, Piece piece, Call &call, bool polls, const Take &take) {
    const WorkingOn here(call, polls);
    Done done;
    std::int64_t last = nanoseconds();
    try {
        while (!call.stopped()) {
            const auto [begin, end] = take(piece.size());
            if (begin >= end)
                break;
            kernel(begin, end, arguments);
            const std::int64_t now = nanoseconds();
            piece.learn(end - begin, now - last);
            done.indices += end - begin;
            done.nanoseconds += now - last;
            last = now;
            if (polls && call.due(now)) {
                call.poll(now);
                last = nanoseconds();
            }
        }
    } catch (const Interrupted &) {
    }
    return done;
}

// A launch that is cut into one share per thread.
struct Cut {
    Kernel kernel;
    const Slot *arguments;
    Piece piece;
    std::vector<Share> &shares;
    int parts; // shares in use; at most as many threads
    int core;  // of the calling thread when the launch began
    Call &call;

    // Works on the share `mine`, then on the rest of the others. Thread 0 is the one that made the call.
    Done work(int mine) const {
        int turn = 0;
        return run_pieces(kernel, arguments, piece, call, mine == 0, [&](Index size) {
            for (; turn < parts; ++turn) {
                Share &share = shares[(mine + turn) % parts];
                if (share.next.load(std::memory_order_relaxed) >= share.end)
                    continue;
                const Index begin = share.next.fetch_add(size, std::memory_order_relaxed);
                if (begin < share.end)
                    return std::pair(begin, std::min(begin + size, share.end));
            }
            return std::pair(Index(0), Index(0));
        });
    }
};

// Decides whether a launch calls other threads. One that does not run, because its core is busy with something else,
// costs the time to wake it, and if it has begun a piece, the wait for that. One that the system runs on the core of
// the calling thread, whose work then waits, does not help either. If a thread does not come, the calling thread may
// also have needed locked instructions in vain, which can take one part in LOCKED of its time. (That counts from WAKING
// on: a thread that slept comes too late for a shorter launch, but in time for the next one. If all came, the launch
// may have had nothing to share.) After a loss, launches of about its length run alone for LOSSES_APART times as long,
// so that losses take at most one part in LOSSES_APART of the time; but at most for LONGEST, since a thread that was
// stopped, with its process or its machine, says little about what follows.
class Company {
  public:
    static constexpr std::int64_t LOSSES_APART = 32;
    static constexpr std::int64_t LOCKED = 4;
    static constexpr std::int64_t WAKING = 200'000;        // nanoseconds
    static constexpr std::int64_t LONGEST = 1'000'000'000; // nanoseconds
    static constexpr std::int64_t LONGER = 4; // a launch so many times as long may gain where this one lost

    // Whether a launch of about `nanoseconds` on one thread should call others.
    bool is_worth(double nanoseconds, std::int64_t now) const {
        return now >= alone_until_ || nanoseconds > double(alone_below_);
    }

    // Learns from a launch: the time of the calling thread in the kernel, what else it spent, how long the others
    // worked for it, and whether all came.
    void learn(std::int64_t own, std::int64_t spent, std::int64_t helped, bool all_came, std::int64_t now) {
        const std::int64_t locked = all_came || own < WAKING ? 0 : own / LOCKED, loss = spent + locked - helped;
        if (loss <= 0)
            return;
        alone_until_ = now + std::min(LOSSES_APART * loss, LONGEST);
        alone_below_ = LONGER * std::max(loss, own);
    }

  private:
    std::int64_t alone_until_ = 0, alone_below_ = 0;
};

class Pool {
  public:
    // Takes the pool until `leave`; returns false if another launch has it. Such a caller works without the pool: a
    // thread that waited here could not handle signals, and a signal handler may itself launch a kernel within a
    // launch.
    bool take() { return !taken_.exchange(true, std::memory_order_acquire); }
    void leave() { taken_.store(false, std::memory_order_release); }

    Company company; // of launches; for the one that has the pool

    // Runs a kernel over [begin, end) on the calling thread and at most `parts - 1` others. Returns when every index is
    // done, or the call is to end; the result is the work of the calling thread.
    Done run(Kernel kernel, Index begin, Index end, const Slot *arguments, Piece piece, int parts, Call &call) {
        const std::int64_t start = nanoseconds();
        parts = hire(parts - 1) + 1;
        const Cut cut{kernel, arguments, piece, shares_, parts, current_core(), call};
        const Index count = end - begin;
        for (int part = 0; part < parts; ++part) {
            shares_[part].next.store(begin + count * part / parts, std::memory_order_relaxed);
            shares_[part].end = begin + count * (part + 1) / parts;
        }
        finished_ = came_ = 0;
        helped_ = 0;
        for (int helper = parts; --helper > 0;) // last one first: a thread that wakes others finds that they have work
            worker(helper).given = &cut;
        wake_next(0, parts);
        const Alone together(false);
        const Done own = cut.work(0);
        int taken = 0;
        for (int helper = 1; helper < parts; ++helper) // threads that have not begun by now are not needed
            taken += worker(helper).given.exchange(nullptr) == nullptr;
        const auto all_finished = [&] { return finished_ == taken; };
        if (!(parts <= usable_cores && spin_until(all_finished)))
            while (!all_finished() && !caller_.sleep_for(POLL_NANOSECONDS, all_finished))
                call.poll(); // another thread may take long for one index
        const std::int64_t now = nanoseconds();
        company.learn(own.nanoseconds, now - start - own.nanoseconds, helped_, came_ == parts - 1, now);
        return own;
    }

  private:
    struct alignas(64) Worker {
        std::atomic<const Cut *> given{nullptr}; // until the worker takes it, or the launch takes it back
        Bed bed;
    };

    Worker &worker(int number) { return *workers_[number - 1]; } // the caller is number 0

    // Starts threads until there are `wanted`, or the system provides no more; returns how many of them there are.
    int hire(int wanted) {
        try {
            if (int(shares_.size()) <= wanted)
                std::vector<Share>(wanted + 1).swap(shares_);
            while (int(workers_.size()) < wanted) {
                auto fresh = std::make_unique<Worker>();
                Worker &worker = *fresh;
                workers_.push_back(std::move(fresh));
                const int number = int(workers_.size());
                try {
                    std::thread(&Pool::serve, this, std::ref(worker), number).detach();
                } catch (...) {
                    workers_.pop_back();
                    throw;
                }
            }
        } catch (const std::exception &) { // std::system_error, std::bad_alloc
        }
        return std::min({wanted, int(workers_.size()), int(shares_.size()) - 1});
    }

    void serve(Worker &self, int number) {
        const auto work_is_here = [&] { return self.given.load() != nullptr; };
        for (;;) {
            if (!(number < usable_cores && spin_until(work_is_here)))
                self.bed.sleep_until(work_is_here);
            const Cut *cut = self.given.exchange(nullptr);
            if (cut == nullptr)
                continue;
            wake_next(number, cut->parts);
            const auto is_elsewhere = [cut] { return cut->core < 0 || current_core() != cut->core; };
            const bool began_elsewhere = is_elsewhere();
            came_ += began_elsewhere;
            const std::int64_t start = thread_nanoseconds();
            cut->work(number);
            if (began_elsewhere && is_elsewhere())
                helped_ += thread_nanoseconds() - start;
            ++finished_; // after this the launch may be over
            caller_.wake();
        }
    }

    // Each thread wakes two others, so that many are soon awake.
    void wake_next(int number, int parts) {
        for (int next = 2 * number + 1; next <= 2 * number + 2 && next < parts; ++next)
            worker(next).bed.wake();
    }

    std::atomic<bool> taken_{false};
    std::deque<std::unique_ptr<Worker>> workers_;
    std::vector<Share> shares_ = std::vector<Share>(1); // one more than workers, if memory allowed
    alignas(64) std::atomic<int> finished_{0};          // workers that took part in the launch and have ended
    std::atomic<int> came_{0};                          // those that began on another core than the caller's
    std::atomic<std::int64_t> helped_{0};               // nanoseconds that they have run for it
    Bed caller_;
};

// The pool outlives main() on purpose, because its threads may still wait on it. A child of fork() has none of its
// parent's threads: it gets a new pool.
LIBRARY_ONLY inline std::atomic<Pool *> current_pool{nullptr};
[[maybe_unused]] LIBRARY_ONLY inline const int forgotten_by_children =
    in_forked_children([] { current_pool.store(nullptr, std::memory_order_relaxed); });

LIBRARY_ONLY inline Pool &pool() {
    Pool *found = current_pool.load(std::memory_order_acquire);
    if (found == nullptr) {
        auto *made = new Pool;
        if (current_pool.compare_exchange_strong(found, made))
            return *made;
        delete made; // another thread was faster
    }
    return *found;
}

} // namespace host
