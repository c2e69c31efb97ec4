// The connected components of triangles, by threads that unite them at the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rows.hpp"

namespace unions {

// A union-find forest whose roots are the smallest members of their trees, shared by threads (Anderson and Woll 1991).
// A root gets a parent, which is smaller, by one compare-and-swap; all other parents are replaced by their ancestors
// only, so that threads may do that at any time. Which tree a member is in at the end does not depend on the order.
class SharedForest {
  public:
    explicit SharedForest(int32_t *parents) : parents_(parents) {}

    int32_t parent(int32_t t) const { return __atomic_load_n(parents_ + t, __ATOMIC_RELAXED); }

    void set_parent(int32_t t, int32_t ancestor) { __atomic_store_n(parents_ + t, ancestor, __ATOMIC_RELAXED); }

    // The root above a member; each second member on the way gets a shorter one.
    int32_t root(int32_t t) {
        for (int32_t above = parent(t); above != t; above = parent(t)) {
            const int32_t higher = parent(above);
            if (higher != above)
                set_parent(t, higher);
            t = higher;
        }
        return t;
    }

    void unite(int32_t t, int32_t other) {
        for (;;) {
            const auto [least, largest] = std::minmax({root(t), root(other)});
            int32_t expected = largest;
            if (least == largest || __atomic_compare_exchange_n(parents_ + largest, &expected, least, false,
                                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                return; // else another thread has united the tree of the larger root meanwhile
        }
    }

  private:
    int32_t *parents_;
};

// Labels triangles with the smallest number in their component.
inline void find_components(const int32_t (*neighbours)[3], std::size_t count, int threads, int32_t *labels) {
    SharedForest forest(labels);
    by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t)
            forest.set_parent(int32_t(t), int32_t(t));
    });
    by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t)
            for (const int32_t across : neighbours[t])
                if (across >= 0 && std::size_t(across) < t) // the other pairs are those of other triangles
                    forest.unite(int32_t(t), across);
    });
    by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t)
            forest.set_parent(int32_t(t), forest.root(int32_t(t)));
    });
}

} // namespace unions
