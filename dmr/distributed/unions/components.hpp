// The connected components of triangles, by threads that each unite a range of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace unions {

// Labels triangles with the smallest number in their component. A union-find forest whose roots are the smallest
// members: threads first link the triangles within their ranges, then one thread links those between ranges, of which
// there are few, because triangles are ordered along a curve.
inline void find_components(const int32_t (*neighbours)[3], std::size_t count, int threads, int32_t *labels) {
    const auto root = [&](int32_t t) {
        while (labels[t] != t)
            t = labels[t] = labels[labels[t]];
        return t;
    };
    const auto link = [&](int32_t t, int32_t other) {
        const int32_t a = root(t), b = root(other);
        labels[std::max(a, b)] = std::min(a, b);
    };
    std::mutex one_adds;
    std::vector<std::pair<int32_t, int32_t>> between; // ranges
    triangulation::share_indices(threads, count, [&](std::size_t begin, std::size_t end) {
        std::vector<std::pair<int32_t, int32_t>> own;
        for (std::size_t t = begin; t < end; ++t) {
            if (t % ROWS_PER_STOP == 0)
                host::stop_point();
            labels[t] = int32_t(t);
            for (const int32_t across : neighbours[t]) {
                if (across < 0 || std::size_t(across) >= t) // the pair comes later
                    continue;
                if (std::size_t(across) >= begin)
                    link(int32_t(t), across);
                else
                    own.emplace_back(int32_t(t), across);
            }
        }
        const std::lock_guard<std::mutex> lock(one_adds);
        between.insert(between.end(), own.begin(), own.end());
    });
    for (const auto &[t, across] : between)
        link(t, across);
    // Each walks up to its root; others may shorten the way meanwhile.
    by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t) {
            int32_t top = __atomic_load_n(labels + t, __ATOMIC_RELAXED);
            for (int32_t above; (above = __atomic_load_n(labels + top, __ATOMIC_RELAXED)) != top;)
                top = above;
            __atomic_store_n(labels + t, top, __ATOMIC_RELAXED);
        }
    });
}

} // namespace unions
