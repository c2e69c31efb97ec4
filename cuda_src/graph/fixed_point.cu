// The fixed point of the relaxation, node by node: the baseline that every scheme is compared with (thesis, Algorithm 1
// without the split).
//
// Every round each node relaxes all edges that leave it, until a round changes nothing. Nodes are taken as they come: a
// distance that was lowered in this round may already be read in it.
//
// Without atomics (section 4.4 has both) a store may undo a lower one: A and B read distance 9, B stores 4, A stores 6.
// That does no harm. (1) Every distance that is ever stored is the length of a real path, so none is too low. (2) Who
// stores has read a higher value, and what is read in a round is at most what stood there when the round began: from
// one round's beginning to the next a distance only falls, and it does fall wherever something was stored. So rounds
// end. (3) A round that stores nothing has seen d[v] <= d[u] + w on every edge: with (1), these are the distances. The
// loads and stores are relaxed atomics to the C++ compiler, and volatile words, which are not torn, on a GPU.
#include "distances.cuh"
#include "rounds.cuh"
#include "timeline.cuh"

// Nobody is reached but the source, if there is just one; else `source` is -1, and set_sources follows.
KERNEL(reset_distances, Csr graph, Distances distances, int64 source) {
    by_kind(distances, graph, [&](auto of) {
        FOR_RANGE (v)
            of.values[v] = v == source ? 0 : of.unreached();
    });
}

KERNEL(set_sources, const int32 *sources, Csr graph, Distances distances) {
    by_kind(distances, graph, [&](auto of) {
        FOR_RANGE (i)
            of.values[sources[i]] = {};
    });
}

// With a timeline, what every block does is recorded there (figure 6.5).
KERNEL(relax_nodes, Csr graph, Distances distances, int32 atomic, int32 *progress, int64 *relaxed, Timeline timeline) {
    const BlockClock clock = begin_block(timeline);
    by_kind(distances, graph, [&](auto of) {
        int64 looked_at = 0;
        bool changed = false;
        FOR_RANGE (v) {
            const auto distance = of.at(v);
            if (!of.goes_on(distance))
                continue;
            const Index begin = graph.begin(v), end = graph.end(v);
            looked_at += end - begin;
            for (Index edge = begin; edge < end; ++edge)
                changed |= of.relax(edge, distance, atomic != 0);
        }
        count_up(relaxed, looked_at);
        mark_changed(progress, changed);
    });
    end_block(timeline, clock, progress[ROUNDS]);
}

// After a round: whether there is to be another one.
KERNEL(end_relaxation, int32 *progress, int64 *cursors) {
    FOR_RANGE (once) {
        progress[ROUNDS] += 1;
        progress[STOP] = !progress[CHANGED];
        progress[CHANGED] = progress[DEFERRED] = 0;
        cursors[TAKEN] = cursors[TICKETS] = 0;
    }
}
