// The tree of shortest paths, from the distances alone: one way for every scheme.
//
// A node's parent is the smallest node u that has an edge to it on a shortest path, d[u] + w = d[v], and is closer to
// the sources. An edge of weight zero, or one so short that a sum of floats does not change, may be the only one: then
// nobody is closer, and nodes at one distance could be made parents of each other in a circle. So for nodes that have
// no parent after the first pass, their edges between equals (ties) are listed as a graph, a breadth-first search
// counts how many of them lead to each node from one that has a parent or is a source, and the parent is the smallest
// one a step before.
#include "distances.cuh"
#include "stretches.cuh"

enum Parent : int32 { NONE = 0x7fffffff, SOURCE = -1 };

// Whether an edge is on a shortest path to its end.
template <class Of> INLINE bool is_tight(const Of &of, Index node, Index edge) {
    const auto distance = of.at(node), end = of.at(of.graph.targets[edge]);
    return of.goes_on(distance) && end != of.unreached() && of.along(distance, edge) == end;
}

INLINE bool has_parent(const int32 *parents, Index node) { return parents[node] != NONE; }

KERNEL(clear_parents, int32 *parents) {
    FOR_RANGE (node)
        parents[node] = NONE;
}

KERNEL(enter_sources, const int32 *sources, int32 *parents) {
    FOR_RANGE (i)
        racing_store(parents + sources[i], int32(SOURCE)); // a source may be named twice
}

KERNEL(find_parents, Csr graph, Distances distances, int32 *parents) {
    by_kind(distances, graph, [&](auto of) {
        FOR_RANGE (i)
            for_stretch(graph, i, [&](Index node, Index edge) {
                const Index target = graph.targets[edge];
                if (of.at(node) < of.at(target) && is_tight(of, node, edge) &&
                    racing_load(parents + target) > int32(node))
                    atomic_min(parents + target, int32(node));
            });
    });
}

// Calls visit(node, target) for the ties of a stretch: from any node to one that has no parent, at the same distance.
template <class Visit>
INLINE void for_ties(const Csr &graph, const Distances &distances, const int32 *parents, Index stretch, Visit visit) {
    by_kind(distances, graph, [&](auto of) {
        for_stretch(graph, stretch, [&](Index node, Index edge) {
            const Index target = graph.targets[edge];
            if (node != target && !has_parent(parents, target) && of.at(node) == of.at(target) &&
                is_tight(of, node, edge))
                visit(node, target);
        });
    });
}

// How many edges `list_ties` enters for a stretch.
KERNEL(count_ties, Csr graph, Distances distances, const int32 *parents, int64 *counts) {
    FOR_RANGE (i) {
        int64 count = 0;
        for_ties(graph, distances, parents, i,
                 [&](Index node, Index) { count += has_parent(parents, node) ? 2 : 1; });
        counts[i] = count;
    }
}

// The ties, and an edge from a node beyond all others, number `nodes`, to each one with a parent that a tie leaves.
KERNEL(list_ties, Csr graph, Distances distances, const int32 *parents, const int64 *places, uint32 *sources,
       int32 *targets) {
    FOR_RANGE (i) {
        int64 place = places[i];
        const auto enter = [&](Index source, Index target) {
            sources[place] = uint32(source);
            targets[place++] = int32(target);
        };
        for_ties(graph, distances, parents, i, [&](Index node, Index target) {
            enter(node, target);
            if (has_parent(parents, node))
                enter(graph.nodes, node);
        });
    }
}

// Along the edges of the graph of ties, by the steps that lead to each node from the one beyond. A node with a parent
// is a step from there, and keeps it: no step is shorter.
KERNEL(find_parents_by_ties, Csr ties, Distances steps, int32 *parents) {
    const By<HOPS> of = {steps.narrow, int32(steps.limit), ties};
    FOR_RANGE (i)
        for_stretch(ties, i, [&](Index node, Index edge) {
            if (node != ties.nodes - 1 && is_tight(of, node, edge))
                atomic_min(parents + ties.targets[edge], int32(node));
        });
}

KERNEL(end_parents, int32 *parents) {
    FOR_RANGE (node)
        if (!has_parent(parents, node))
            parents[node] = -1;
}
