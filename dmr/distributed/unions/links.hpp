// The neighbours of triangles that do not overlap, by threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rows.hpp"

namespace unions {

// The edges out of each vertex. Each entry has the other end, so that a search reads no triangle.
class EdgesOut {
  public:
    EdgesOut(const int32_t (*triangles)[3], std::size_t count, std::size_t vertices, int threads)
        : first_(vertices + 1), out_(3 * count) {
        by_pieces(threads, first_.size(), [&](std::size_t begin, std::size_t end) {
            std::fill(first_.begin() + begin, first_.begin() + end, 0);
        });
        by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t t = begin; t < end; ++t)
                for (const int32_t v : triangles[t])
                    __atomic_fetch_add(&first_[v], 1, __ATOMIC_RELAXED);
        });
        triangulation::add_up(threads, first_); // where the edges of a vertex end; they are stored from there downwards
        by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t t = begin; t < end; ++t)
                for (int k = 0; k < 3; ++k) {
                    const int32_t from = triangles[t][(k + 1) % 3], to = triangles[t][(k + 2) % 3];
                    out_[__atomic_sub_fetch(&first_[from], 1, __ATOMIC_RELAXED)] = {to, int32_t(t), k};
                }
        });
    }

    struct Edge {
        int32_t to, triangle, k; // opposite corner k
    };

    // Returns the edge between two vertices, or null if there is none.
    const Edge *find(int32_t from, int32_t to) const {
        for (int32_t place = first_[from]; place < first_[from + 1]; ++place)
            if (out_[place].to == to)
                return &out_[place];
        return nullptr;
    }

  private:
    triangulation::Table<int32_t> first_;
    triangulation::Table<Edge> out_;
};

// Writes the triangle across each edge, -1 if there is none. No two triangles have an edge in the same direction.
inline void link(const int32_t (*triangles)[3], std::size_t count, std::size_t vertices, int threads,
                 int32_t (*neighbours)[3]) {
    const EdgesOut edges(triangles, count, vertices, threads);
    by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
        std::fill(&neighbours[begin][0], &neighbours[begin][0] + 3 * (end - begin), -1);
    });
    by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t)
            for (int k = 0; k < 3; ++k) {
                const int32_t from = triangles[t][(k + 1) % 3], to = triangles[t][(k + 2) % 3];
                if (from > to)
                    continue; // found from the other side
                if (const EdgesOut::Edge *const across = edges.find(to, from)) {
                    neighbours[t][k] = across->triangle;
                    neighbours[across->triangle][across->k] = int32_t(t);
                }
            }
    });
}

} // namespace unions
