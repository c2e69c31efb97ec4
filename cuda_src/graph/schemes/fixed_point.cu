// Fixed-point iteration of the relaxation, node by node: the baseline of all comparisons (thesis, Algorithm 1 without
// the split).
//
// In every round each node relaxes all its outgoing edges, until a round changes nothing. The order within a round is
// arbitrary: a distance that was lowered in a round may be read in the same round.
//
// Without atomics (section 4.4 has both) a store may overwrite a lower value: A and B read distance 9, B stores 4, A
// stores 6. This is harmless. (1) Every stored distance is the length of an actual path, so no distance is too low. (2)
// A thread that stores has read a higher value, and a value read in a round is at most the value at the beginning of
// the round. So from the beginning of one round to the next, a distance never rises, and it falls wherever a value was
// stored. Therefore the rounds end. (3) A round that stores nothing has seen d[v] <= d[u] + w on every edge; with (1),
// the distances are correct. The loads and stores are relaxed atomics for the C++ compiler, and volatile accesses to
// words, which are not torn, on a GPU.
#include "graph/schemes/relax_nodes.cuh"
#include "graph/schemes/timeline.cuh"

// Marks all nodes but the source as unreached. If there are several sources, `source` is -1, and set_sources follows.
KERNEL(reset_distances, Csr graph, Distances distances, int64 source) {
    by_kind(distances, graph, [&](auto of) {
        for (const Index v : launch)
            of.values[v] = v == source ? 0 : of.unreached();
    });
}

KERNEL(set_sources, const int32 *sources, Csr graph, Distances distances) {
    by_kind(distances, graph, [&](auto of) {
        for (const Index i : launch)
            of.values[sources[i]] = {};
    });
}

// Relaxes the edges of all nodes. A timeline, if given, records when and where each block runs (figure 6.5).
KERNEL(relax_nodes, Csr graph, Distances distances, int32 atomic, int32 *progress, int64 *relaxed, Timeline timeline) {
    const BlockClock clock = begin_block(timeline);
    relax_reached(launch, graph, distances, progress, relaxed, [&](auto of, auto distance, Index begin, Index end) {
        bool changed = false;
        for (Index edge = begin; edge < end; ++edge)
            changed |= of.relax(edge, distance, atomic != 0);
        return changed;
    });
    end_block(timeline, clock, progress[ROUNDS]);
}

// Ends a round, and decides whether another one follows.
KERNEL(end_relaxation, int32 *progress, int64 *cursors) {
    for ([[maybe_unused]] const Index once : launch) {
        progress[ROUNDS] += 1;
        progress[STOP] = !progress[CHANGED];
        progress[CHANGED] = progress[DEFERRED] = 0;
        cursors[TAKEN] = cursors[TICKETS] = 0;
    }
}
