// Lets Ctrl-C end long native calls. Part of each native library; nvcc never sees it.
//
// Python handles signals between bytecodes only, and a native call may last for minutes. A call that Python makes
// through `interruptible` therefore asks Python now and then, on the calling thread, to handle pending signals. If a
// handler raises an exception (KeyboardInterrupt), all threads that work on the call stop, and the call returns; ctypes
// then raises the exception.
//
// The library is not linked with Python: it gets the addresses of the few functions that it needs
// (dmr/common/native.py). A program without Python sets none; signals are then not polled.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "portable/system.hpp"

#define LIBRARY_ONLY __attribute__((visibility("hidden"))) // each library has its own copy

namespace host {

#ifndef POLL_EVERY
#define POLL_EVERY 50'000'000 // a test sets a shorter time (tests/kernels/test_native_build.py)
#endif
constexpr std::int64_t POLL_NANOSECONDS = POLL_EVERY; // between two checks for signals

LIBRARY_ONLY inline std::int64_t nanoseconds() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct PythonCalls {
    void *(*release)();      // PyEval_SaveThread
    void (*acquire)(void *); // PyEval_RestoreThread
    int (*handle_signals)(); // PyErr_CheckSignals
};

LIBRARY_ONLY inline PythonCalls python_calls{nullptr, nullptr, nullptr};

// Thrown to end a call early.
struct Interrupted {};

// A call from Python, as seen by the threads that work on it.
class Call {
  public:
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

    // Whether it is time to poll.
    bool due(std::int64_t now) {
        if (last_ == 0)
            last_ = now;
        return now - last_ >= POLL_NANOSECONDS;
    }

    // Handles signals, at most once per POLL_NANOSECONDS; returns whether the call is to end. Only the thread on which
    // Python made the call may poll.
    bool poll(std::int64_t now) {
        if (!due(now) || stopped())
            return stopped();
        if (on_main_thread() && python_calls.acquire != nullptr) { // Python runs signal handlers on no other thread
            python_calls.acquire(python_state);
            const bool raised = python_calls.handle_signals() != 0;
            python_state = python_calls.release();
            if (raised)
                stopped_.store(true, std::memory_order_relaxed);
        }
        last_ = nanoseconds();
        return stopped();
    }

    bool poll() { return poll(nanoseconds()); }

    void *python_state = nullptr;

  private:
    std::atomic<bool> stopped_{false};
    std::int64_t last_ = 0;
};

// The call that a thread works on, if any.
struct Working {
    Call *call = nullptr;
    bool polls = false; // whether it is the thread that made the call
};

LIBRARY_ONLY inline thread_local Working working;

// Makes a call the current one of this thread, until the end of the scope.
class WorkingOn {
  public:
    WorkingOn(Call &call, bool polls) : before_(working) { working = {&call, polls}; }
    ~WorkingOn() { working = before_; }
    WorkingOn(const WorkingOn &) = delete;
    WorkingOn &operator=(const WorkingOn &) = delete;

  private:
    const Working before_; // a signal handler may make calls itself
};

// Throws an exception if the call is to end. Long loops call this every few microseconds to milliseconds.
LIBRARY_ONLY inline void stop_point() {
    if (working.call != nullptr && (working.polls ? working.call->poll() : working.call->stopped()))
        throw Interrupted{};
}

// Runs body(call) without Python's lock. `body` must not throw. Nothing may need destruction after it: if a thread
// comes back too late, when the interpreter is gone, Python ends that thread.
template <class Body> void interruptible(const Body &body) {
    Call call;
    if (python_calls.release != nullptr)
        call.python_state = python_calls.release();
    {
        const WorkingOn here(call, true);
        body(call);
    }
    if (python_calls.acquire != nullptr)
        python_calls.acquire(call.python_state);
}

} // namespace host

// Takes the addresses of Python's functions, once, before the first interruptible call.
extern "C" __attribute__((used, visibility("default"))) inline void
native_python_calls(void *(*release)(), void (*acquire)(void *), int (*handle_signals)()) {
    host::python_calls = {release, acquire, handle_signals};
}
