// The pass over all nodes that the fixed-point schemes share.
#pragma once

#include "graph/schemes/rounds.cuh"
#include "graph/traversal/distances.cuh"

// Calls relax(of, distance, begin, end) for each reached node, with its distance and its range of edges; the result
// says whether a distance was lowered. `of` are the distances by their kind.
template <class Relax>
INLINE void relax_reached(const Launch &launch, const Csr &graph, const Distances &distances, int32 *progress,
                          int64 *relaxed, Relax relax) {
    by_kind(distances, graph, [&](auto of) {
        int64 looked_at = 0;
        bool changed = false;
        for (const Index v : launch) {
            const auto distance = of.at(v);
            if (!of.goes_on(distance))
                continue;
            const Index begin = graph.begin(v), end = graph.end(v);
            looked_at += end - begin;
            changed |= relax(of, distance, begin, end);
        }
        count_up(relaxed, looked_at);
        mark_changed(progress, changed);
    });
}
