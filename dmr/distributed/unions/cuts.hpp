// The cuts of a patch: its border, and the edges between active and frozen triangles (dmr/distributed/tiles/cuts.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace unions {

// Flags the vertices of the edges without a triangle on the other side, unless they are segments that are not `inside`.
inline void flag_border(const Edges &edges, const int32_t (*triangles)[3], std::size_t count,
                        const unsigned char *inside, int threads, unsigned char *found) {
    by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t)
            for (int k = 0; k < 3; ++k) {
                const int32_t on = edges.segments[t][k];
                if (edges.neighbours[t][k] >= 0 || (on >= 0 && !inside[on]))
                    continue;
                for (const int end_of_edge : {(k + 1) % 3, (k + 2) % 3})
                    __atomic_store_n(found + triangles[t][end_of_edge], 1, __ATOMIC_RELAXED);
            }
    });
}

// Calls visit(t, k, triangle across) for the edges without a segment between an active triangle t and a frozen one.
template <class Visit>
void visit_cut_edges(const Edges &edges, const unsigned char *frozen, std::size_t begin, std::size_t end,
                     const Visit &visit) {
    host::stop_point();
    for (std::size_t t = begin; t < end; ++t)
        for (int k = 0; k < 3; ++k) {
            const int32_t across = edges.neighbours[t][k];
            if (!frozen[t] && across >= 0 && edges.segments[t][k] < 0 && frozen[across])
                visit(t, k, across);
        }
}

// Lists the edges between active and frozen triangles, in the order of the former: where each begins and ends, and the
// far corner of the frozen triangle. Returns how many there are.
inline std::size_t list_cut_edges(const Edges &edges, const int32_t (*triangles)[3], std::size_t count,
                                  const unsigned char *frozen, int threads, int32_t *starts, int32_t *ends,
                                  int32_t *beyond) {
    const int pieces = triangulation::pieces_for(threads);
    std::vector<std::size_t> first(pieces + 1);
    const auto visit_piece = [&](int piece, const auto &visit) {
        const triangulation::Share share = triangulation::share_of(count, piece, pieces);
        visit_cut_edges(edges, frozen, share.begin, share.end, visit);
    };
    triangulation::share_out(
        threads, pieces, [&](int piece) { visit_piece(piece, [&](auto &&...) { ++first[piece + 1]; }); }, count);
    for (int piece = 0; piece < pieces; ++piece)
        first[piece + 1] += first[piece];
    triangulation::share_out(
        threads, pieces,
        [&](int piece) {
            std::size_t at = first[piece];
            visit_piece(piece, [&](std::size_t t, int k, int32_t across) {
                const int32_t *const far = triangles[across];
                starts[at] = triangles[t][(k + 1) % 3];
                ends[at] = triangles[t][(k + 2) % 3];
                beyond[at] = far[0] ^ far[1] ^ far[2] ^ starts[at] ^ ends[at]; // the corner that is neither
                ++at;
            });
        },
        count);
    return first.back();
}

// Finds pairs among others, of which no two are equal: their places, or -1. The first numbers are below `numbers`.
inline void find_pairs(const int32_t (*pairs)[2], std::size_t count, std::size_t numbers, const int32_t (*wanted)[2],
                       std::size_t wanted_count, int threads, int32_t *found) {
    std::vector<int32_t> last(numbers, -1), before(count); // of the pairs with each first number
    for (std::size_t i = 0; i < count; ++i) {
        before[i] = last[pairs[i][0]];
        last[pairs[i][0]] = int32_t(i);
    }
    by_pieces(threads, wanted_count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            found[i] = last[wanted[i][0]];
            while (found[i] >= 0 && pairs[found[i]][1] != wanted[i][1])
                found[i] = before[found[i]];
        }
    });
}

} // namespace unions
