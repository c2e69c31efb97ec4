// Threads that share the work of a call.
#pragma once

#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "portable/interrupts.hpp"

namespace triangulation {

// Runs work(0), ..., work(threads - 1), each on its own thread if the system provides it, and returns when all have
// ended. Throws the first of their exceptions; a signal ends all of them at their next stop points.
template <class Work> void on_threads(int threads, const Work &work) {
    std::vector<std::exception_ptr> errors(threads);
    const auto run = [&](int number) {
        try {
            work(number);
        } catch (...) {
            errors[number] = std::current_exception();
        }
    };
    host::Call *const call = host::working.call;
    const auto help = [&](int number) {
        if (call == nullptr)
            return run(number);
        const host::WorkingOn here(*call, false);
        run(number);
    };
    std::vector<std::thread> others;
    others.reserve(threads);
    int started = 1;
    try {
        for (; started < threads; ++started)
            others.emplace_back(help, started);
    } catch (const std::system_error &) {
    }
    run(0);
    for (int number = started; number < threads; ++number)
        run(number);
    for (std::thread &other : others)
        other.join();
    for (const std::exception_ptr &error : errors)
        if (error)
            std::rethrow_exception(error);
}

// The indices of `count` that part `number` of `parts` has.
struct Share {
    size_t begin, end;
};
inline Share share_of(size_t count, int number, int parts) {
    return {count * size_t(number) / size_t(parts), count * size_t(number + 1) / size_t(parts)};
}

} // namespace triangulation
