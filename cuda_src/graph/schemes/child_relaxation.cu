// Relaxation by child kernels (dynamic parallelism; thesis, section 4.3): for a node with more than `threshold` edges,
// a child kernel relaxes them with one thread per edge; the edges of other nodes are relaxed in place.
//
// The number of pending launches on a device is limited, to 2,048 unless the host raises it. A launch beyond the limit
// fails silently unless its error code is checked. All children of a round end before the next round begins. Therefore
// a node first draws a ticket, and gets no child if `most` tickets of this round were drawn. Each launch is checked,
// and if it fails, the edges are relaxed in place. Children count themselves, which proves that they ran.
#include "graph/schemes/relax_nodes.cuh"

enum ChildEntry : int32 { RAN, IN_PLACE, CHILD_ENTRIES };

template <class Of>
INLINE bool relax_range(const Of &of, Index begin, Index end, typename Of::Value distance, bool atomic) {
    bool changed = false;
    for (Index edge = begin; edge < end; ++edge)
        changed |= of.relax(edge, distance, atomic);
    return changed;
}

// Relaxes the edges of one node; `distance` is its distance at the launch of the child.
CHILD_KERNEL(relax_edges_of_node, Csr graph, Distances distances, int64 distance, int32 atomic, int32 *progress,
             int64 first, int64 *children) {
    by_kind(distances, graph, [&](auto of) {
        bool changed = false;
        for (const Index edge : launch) {
            changed |= of.relax(edge, typename decltype(of)::Value(distance), atomic != 0);
            if (edge == first)
                atomic_add(&children[RAN], int64(1));
        }
        mark_changed(progress, changed);
    });
}

KERNEL(relax_by_children, Csr graph, Distances distances, int32 atomic, int64 threshold, int64 most, int32 *progress,
       int64 *cursors, int64 *relaxed, int64 *children) {
    relax_reached(launch, graph, distances, progress, relaxed, [&](auto of, auto distance, Index begin, Index end) {
        if (end - begin > threshold) {
            if (atomic_add(&cursors[TICKETS], int64(1)) < most &&
                LAUNCH_CHILD(relax_edges_of_node, begin, end, graph, distances, int64(distance), atomic, progress,
                             begin, children))
                return false;
            atomic_add(&children[IN_PLACE], int64(1));
        }
        return relax_range(of, begin, end, distance, atomic != 0);
    });
}
