// Rows of tables by their numbers, and flags of what numbers name, by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dmr/triangulation/serial/threads.hpp"

namespace unions {

using std::int32_t;
using std::int64_t;

constexpr std::size_t ROWS_PER_STOP = 1 << 20; // after which a signal is handled

// Calls work(begin, end) for the indices below `count`, several times per thread.
template <class Work> void by_pieces(int threads, std::size_t count, const Work &work) {
    triangulation::share_indices(threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t first = begin; first < end; first += ROWS_PER_STOP) {
            host::stop_point();
            work(first, first + ROWS_PER_STOP < end ? first + ROWS_PER_STOP : end);
        }
    });
}

// Calls work(width) with the bytes of a row: a constant, where there is one, makes a move of a copy.
template <class Work> void by_width(std::size_t width, const Work &work) {
    switch (width) {
    case 1:
        return work(std::integral_constant<std::size_t, 1>());
    case 4:
        return work(std::integral_constant<std::size_t, 4>());
    case 8:
        return work(std::integral_constant<std::size_t, 8>());
    case 12:
        return work(std::integral_constant<std::size_t, 12>());
    case 16:
        return work(std::integral_constant<std::size_t, 16>());
    default:
        return work(width);
    }
}

// Copies rows of a table, each of `width` bytes.
template <class Row>
void take_rows(const unsigned char *table, std::size_t width, const Row *rows, std::size_t count, int threads,
               unsigned char *out) {
    by_width(width, [&](auto bytes) {
        by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                std::memcpy(out + i * bytes, table + std::size_t(rows[i]) * bytes, bytes);
        });
    });
}

// Copies rows to those of a table, no two to the same one.
inline void put_rows(const unsigned char *rows, std::size_t width, const int32_t *places, std::size_t count,
                     int threads, unsigned char *table) {
    by_width(width, [&](auto bytes) {
        by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                std::memcpy(table + std::size_t(places[i]) * bytes, rows + i * bytes, bytes);
        });
    });
}

// Flags the numbers that there are. Threads that meet write the same.
template <class Number> void flag(const Number *numbers, std::size_t count, int threads, unsigned char *found) {
    by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            __atomic_store_n(found + numbers[i], 1, __ATOMIC_RELAXED);
    });
}

// Flags the triangles with at least `least` corners that are flagged, by 1.
inline void touch(const int32_t (*triangles)[3], std::size_t count, const unsigned char *near, int least, int threads,
                  unsigned char *found) {
    by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t)
            found[t] = near[triangles[t][0]] + near[triangles[t][1]] + near[triangles[t][2]] >= least;
    });
}

// The edges of triangles: the triangle across each, and the segment on it; negative if there is none.
struct Edges {
    const int32_t (*neighbours)[3];
    const int32_t (*segments)[3];
};

// Flags the triangles with an edge that has no segment, and no triangle on its other side.
inline void flag_frozen(const Edges &edges, std::size_t count, int threads, unsigned char *found) {
    by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t) {
            const int32_t *const across = edges.neighbours[t], *const on = edges.segments[t];
            found[t] = (across[0] < 0 && on[0] < 0) || (across[1] < 0 && on[1] < 0) || (across[2] < 0 && on[2] < 0);
        }
    });
}

// Flags the triangles, among those flagged before, with an edge to another block or patch that is no segment.
inline void flag_beside_cuts(const Edges &edges, const int32_t *block, std::size_t count, int threads,
                             const unsigned char *before, unsigned char *found) {
    by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t) {
            const auto is_cut = [&](int k) {
                const int32_t across = edges.neighbours[t][k];
                return edges.segments[t][k] < 0 && (across < 0 || block[across] != block[t]);
            };
            found[t] = before[t] && (is_cut(0) || is_cut(1) || is_cut(2));
        }
    });
}

} // namespace unions
