// The pool of threads behind a launch on the CPU. Built into the host library only; nvcc never sees it.
//
// A launch lasts from a few microseconds on, and the next one follows soon: who waits, for work or for the others,
// spins for a moment before it sleeps, for it takes a system tens of microseconds to wake a thread. Threads beyond the
// cores that the process may use never spin.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

#include "host.hpp"

namespace host {

constexpr std::chrono::microseconds SPINNING{50}; // longer than most pauses between launches, and than waking takes
constexpr int CHANCES = 64;                       // looks at what it waits for between two looks at the clock

inline void pause_thread() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

// Spins until `ready`, or for a moment; returns whether it is. Where cores are few, the one waited for may have this
// very core to run on: it is let go first.
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

inline int available_cores() {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0)
        return CPU_COUNT(&cores);
    return std::max(1, int(std::thread::hardware_concurrency())); // more of them than the set can hold
}

// A place to sleep, for one thread. Others first change what it waits for, and then wake it.
class Bed {
  public:
    template <class Ready> void sleep_until(const Ready &ready) {
        std::unique_lock<std::mutex> lock(mutex_);
        asleep_ = true; // before `ready` is looked at: who changes it after that finds the sleeper
        wake_.wait(lock, ready);
        asleep_ = false;
    }

    void wake() {
        if (!asleep_)
            return;
        { std::lock_guard<std::mutex> lock(mutex_); } // it has not looked yet, or it waits
        wake_.notify_one();
    }

  private:
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<bool> asleep_{false};
};

// The part of a launch's range that a thread begins with: neighbours in an array are worked on by one thread, round
// after round, so that few cache lines and pages are shared.
struct alignas(64) Share {
    std::atomic<Index> next{0};
    Index end = 0;
};

// What one thread did of a launch, and how long it took.
struct Done {
    Index indices;
    std::int64_t nanoseconds;
};

// A launch that is cut into a share a thread.
struct Cut {
    Kernel kernel;
    const Slot *arguments;
    Index piece; // indices that a thread takes at a time
    std::vector<Share> &shares;
    int parts; // shares in use, and threads at most

    // Works on the share `mine`, then on what is left of the others.
    Done work(int mine) const {
        Done done{0, -nanoseconds()};
        for (int turn = 0; turn < parts; ++turn) {
            Share &share = shares[(mine + turn) % parts];
            while (share.next.load(std::memory_order_relaxed) < share.end) {
                const Index begin = share.next.fetch_add(piece, std::memory_order_relaxed);
                if (begin >= share.end)
                    break;
                const Index end = std::min(begin + piece, share.end);
                kernel(begin, end, arguments);
                done.indices += end - begin;
            }
        }
        done.nanoseconds += nanoseconds();
        return done;
    }
};

class Pool {
  public:
    // Runs a kernel on the calling thread and at most `parts - 1` others; returns when every index is done, and what
    // the calling thread did.
    Done run(Kernel kernel, Index count, const Slot *arguments, Index piece, int parts) {
        std::lock_guard<std::mutex> one_at_a_time(launching_);
        parts = hire(parts - 1) + 1;
        if (int(shares_.size()) < parts)
            shares_ = std::vector<Share>(parts);
        const Cut cut{kernel, arguments, piece, shares_, parts};
        for (int part = 0; part < parts; ++part) {
            shares_[part].next.store(count * part / parts, std::memory_order_relaxed);
            shares_[part].end = count * (part + 1) / parts;
        }
        finished_ = 0;
        for (int helper = parts; --helper > 0;) // the last one first: who wakes others finds that they have work
            worker(helper).given = &cut;
        wake_next(0, parts);
        const Done own = cut.work(0);
        int taken = 0;
        for (int helper = 1; helper < parts; ++helper) // whoever has not begun by now is not needed
            taken += worker(helper).given.exchange(nullptr) == nullptr;
        const auto all_finished = [&] { return finished_ == taken; };
        if (!(parts <= cores_ && spin_until(all_finished)) && !all_finished())
            caller_.sleep_until(all_finished);
        return own;
    }

  private:
    struct alignas(64) Worker {
        std::atomic<const Cut *> given{nullptr}; // until the worker takes it, or the launch does without
        Bed bed;
    };

    Worker &worker(int number) { return *workers_[number - 1]; } // the caller is number 0

    // Starts threads until there are `wanted`, or the system has no more to give; returns how many of those there are.
    int hire(int wanted) {
        while (int(workers_.size()) < wanted) {
            workers_.push_back(std::make_unique<Worker>());
            const int number = int(workers_.size());
            try {
                std::thread(&Pool::serve, this, std::ref(*workers_.back()), number).detach();
            } catch (const std::system_error &) {
                workers_.pop_back();
                break;
            }
        }
        return std::min(wanted, int(workers_.size()));
    }

    void serve(Worker &self, int number) {
        const auto work_is_here = [&] { return self.given.load() != nullptr; };
        for (;;) {
            if (!(number < cores_ && spin_until(work_is_here)))
                self.bed.sleep_until(work_is_here);
            const Cut *cut = self.given.exchange(nullptr);
            if (cut == nullptr)
                continue;
            wake_next(number, cut->parts);
            cut->work(number);
            ++finished_; // after this the launch may be over
            caller_.wake();
        }
    }

    // Each thread wakes two others, so that many are awake soon.
    void wake_next(int number, int parts) {
        for (int next = 2 * number + 1; next <= 2 * number + 2 && next < parts; ++next)
            worker(next).bed.wake();
    }

    const int cores_ = available_cores();
    std::mutex launching_;
    std::deque<std::unique_ptr<Worker>> workers_;
    std::vector<Share> shares_;
    alignas(64) std::atomic<int> finished_{0}; // workers that took part in the launch, and have ended
    Bed caller_;
};

} // namespace host
