#include "threads.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "portable/host_pool.hpp"

namespace triangulation {

namespace {

// Pieces of work, and the first exception that one of them has thrown.
struct Job {
    const std::function<void(int)> &work;
    std::mutex mutex;
    std::exception_ptr error;

    void run(int piece) {
        try {
            work(piece);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex);
            if (!error)
                error = std::current_exception();
        }
    }
};

void run_kernel(host::Index begin, host::Index end, const host::Slot *arguments) {
    Job *const job = host::from_slots<Job *>(arguments);
    for (host::Index piece = begin; piece < end; ++piece)
        job->run(int(piece));
}

// Runs a job on threads that live as long as it: while another call has the pool.
void run_on_fresh_threads(Job &job, int threads, int pieces, host::Call &call) {
    std::atomic<int> next{0};
    const auto run = [&](bool polls) {
        const host::WorkingOn here(call, polls);
        for (int piece = next++; piece < pieces; piece = next++)
            job.run(piece);
    };
    std::vector<std::thread> others;
    others.reserve(std::size_t(threads));
    try {
        while (int(others.size()) + 1 < threads)
            others.emplace_back(run, false);
    } catch (const std::system_error &) {
    }
    run(true);
    for (std::thread &other : others)
        other.join();
}

} // namespace

void share_out(int threads, int pieces, const std::function<void(int)> &work, size_t indices) {
    host::Call *const call = host::working.call;
    bool alone = threads <= 1 || pieces <= 1 || call == nullptr;
    host::Pool &pool = host::pool();
    const bool has_pool = !alone && pool.take();
    if (has_pool && !pool.company.is_worth(NANOSECONDS * double(indices), host::nanoseconds())) {
        alone = true;
        pool.leave();
    }
    if (alone) {
        for (int piece = 0; piece < pieces; ++piece)
            work(piece);
        return;
    }
    Job job{work, {}, nullptr};
    const int used = threads < pieces ? threads : pieces;
    if (has_pool) {
        Job *const address = &job;
        const host::Slot arguments[] = {reinterpret_cast<host::Slot>(address)};
        pool.run(run_kernel, 0, pieces, arguments, host::Piece(1, 1), used, *call);
        pool.leave();
    } else {
        run_on_fresh_threads(job, used, pieces, *call);
    }
    if (job.error)
        std::rethrow_exception(job.error);
    if (call->stopped())
        throw host::Interrupted{};
}

} // namespace triangulation
