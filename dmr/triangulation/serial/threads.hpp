// Threads that share the work of a call, and their tables.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "portable/system.hpp"
#include "portable/interrupts.hpp"

namespace triangulation {

// The indices of `count` that part `number` of `parts` has.
struct Share {
    size_t begin, end;
};
inline Share share_of(size_t count, int number, int parts) {
    return {count * size_t(number) / size_t(parts), count * size_t(number + 1) / size_t(parts)};
}

// Runs work(0), ..., work(pieces - 1) on at most `threads` threads, and returns when all have ended; a thread that is
// free takes the next one. A core that other programs keep busy therefore does fewer pieces, and the threads end at
// nearly the same time. Throws the first exception; a signal ends all threads at their next stop points.
//
// indices: how many the pieces have together, for short steps. While another program keeps a core busy, a step may have
// to wait for a thread that does not run; for a while, the calling thread then does steps alone that take about as long
// as such a wait, at `NANOSECONDS` per index (`Company` of portable/host_pool.hpp).
constexpr size_t MANY = std::numeric_limits<size_t>::max();
constexpr double NANOSECONDS = 8;
void share_out(int threads, int pieces, const std::function<void(int)> &work, size_t indices = MANY);

// The number of pieces into which loops are cut.
constexpr int PIECES_PER_THREAD = 4;
inline int pieces_for(int threads) { return threads > 1 ? PIECES_PER_THREAD * threads : 1; }

// Runs work(begin, end) for pieces of `count` indices.
template <class Work> void share_indices(int threads, size_t count, const Work &work) {
    const int pieces = pieces_for(threads);
    share_out(
        threads, pieces,
        [&](int piece) {
            const Share share = share_of(count, piece, pieces);
            work(share.begin, share.end);
        },
        count);
}

// Replaces each entry by the sum of all entries up to it.
template <class Entries> void add_up(int threads, Entries &entries) {
    const int pieces = pieces_for(threads);
    std::vector<typename Entries::value_type> before(pieces + 1);
    share_out(
        threads, pieces,
        [&](int piece) {
            const Share share = share_of(entries.size(), piece, pieces);
            for (size_t i = share.begin; i < share.end; ++i)
                before[piece + 1] += entries[i];
        },
        entries.size());
    for (int piece = 0; piece < pieces; ++piece)
        before[piece + 1] += before[piece];
    share_out(
        threads, pieces,
        [&](int piece) {
            const Share share = share_of(entries.size(), piece, pieces);
            auto sum = before[piece];
            for (size_t i = share.begin; i < share.end; ++i)
                entries[i] = sum += entries[i];
        },
        entries.size());
}

// ---- Tables ---------------------------------------------------------------------------------------------------------
//
// Large arrays. Their entries have no value until they are written, so that the threads that write them share the page
// faults; and they ask for large pages, of which there are fewer.

constexpr std::size_t LARGE_PAGE = 1 << 21; // bytes: of x86-64, and of aarch64 with pages of 4 KiB

template <class T> struct WithoutValues {
    using value_type = T;
    WithoutValues() = default;
    template <class U> WithoutValues(const WithoutValues<U> &) {}
    template <class U> bool operator==(const WithoutValues<U> &) const { return true; }
    template <class U> bool operator!=(const WithoutValues<U> &) const { return false; }

    T *allocate(std::size_t count) {
        const bool large = count * sizeof(T) >= LARGE_PAGE;
        const std::size_t align = large ? LARGE_PAGE : alignof(std::max_align_t);
        const std::size_t bytes = (count * sizeof(T) + align - 1) / align * align;
        void *const place = std::aligned_alloc(align, bytes);
        if (place == nullptr)
            throw std::bad_alloc();
        if (large)
            host::prefer_large_pages(place, bytes);
        return static_cast<T *>(place);
    }
    void deallocate(T *place, std::size_t) { std::free(place); }

    template <class U> void construct(U *place) { ::new (static_cast<void *>(place)) U; }
    template <class U, class... Arguments> void construct(U *place, Arguments &&...arguments) {
        ::new (static_cast<void *>(place)) U(std::forward<Arguments>(arguments)...);
    }
};

template <class T> using Table = std::vector<T, WithoutValues<T>>;

} // namespace triangulation
