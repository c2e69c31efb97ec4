// The shortest-path tree, derived from the distances alone, for every scheme.
//
// The parent of node v is the smallest node u that has an edge to v on a shortest path, d[u] + w = d[v], and is closer
// to the sources. If all such edges have weight zero, or weights lost in rounding, no such u is closer, and nodes at
// the same distance could become each other's parents in a cycle. Therefore, for nodes without a parent after the first
// pass, the edges between nodes at the same distance (ties) are listed as a graph. A breadth-first search finds the
// least number of ties from a node that has a parent or is a source to each node, and the parent is the smallest node
// one step before.
#include "graph/traversal/distances.cuh"
#include "graph/edge_blocks.cuh"

constexpr Index EDGES_AHEAD = 24; // of prefetching

enum Parent : int32 { NONE = 0x7fffffff, SOURCE = -1 };

// Whether an edge is on a shortest path to its target.
template <class Of> INLINE bool is_tight(const Of &of, Index node, Index edge) {
    const auto distance = of.at(node), end = of.at(of.graph.targets[edge]);
    return of.goes_on(distance) && end != of.unreached() && of.along(distance, edge) == end;
}

INLINE bool has_parent(const int32 *parents, Index node) { return parents[node] != NONE; }

KERNEL(clear_parents, int32 *parents) {
    for (const Index node : launch)
        parents[node] = NONE;
}

KERNEL(enter_sources, const int32 *sources, int32 *parents) {
    for (const Index i : launch)
        racing_store(parents + sources[i], int32(SOURCE)); // a source may be given twice
}

KERNEL(find_parents, Csr graph, Distances distances, int32 *parents) {
    by_kind(distances, graph, [&](auto of) {
        for (const Index i : launch)
            for_rows_of_block(graph, i, [&](Index node, Index begin, Index end) {
                const auto distance = of.at(node);
                if (!of.goes_on(distance))
                    return;
                for (Index edge = begin; edge < end; ++edge) {
                    const Index target = graph.targets[edge];
                    if (PREFETCHES && edge + EDGES_AHEAD < graph.edges)
                        prefetch(of.values + graph.targets[edge + EDGES_AHEAD]);
                    const auto further = of.at(target);
                    if (distance < further && further != of.unreached() && of.along(distance, edge) == further &&
                        racing_load(parents + target) > int32(node))
                        atomic_min(parents + target, int32(node));
                }
            });
    });
}

// Sets `found` to 1 if a reached node has no parent yet.
KERNEL(find_orphans, Csr graph, Distances distances, const int32 *parents, int32 *found) {
    by_kind(distances, graph, [&](auto of) {
        for (const Index node : launch)
            if (!has_parent(parents, node) && of.at(node) != of.unreached())
                racing_store(found, 1);
    });
}

// Calls visit(node, target) for the ties of an edge block: from any node to one without a parent, at the same distance.
template <class Visit>
INLINE void for_ties(const Csr &graph, const Distances &distances, const int32 *parents, Index edge_block,
                     Visit visit) {
    by_kind(distances, graph, [&](auto of) {
        for_edge_block(graph, edge_block, [&](Index node, Index edge) {
            const Index target = graph.targets[edge];
            if (node != target && !has_parent(parents, target) && of.at(node) == of.at(target) &&
                is_tight(of, node, edge))
                visit(node, target);
        });
    });
}

// Counts the edges that `list_ties` lists for each edge block.
KERNEL(count_ties, Csr graph, Distances distances, const int32 *parents, int64 *counts) {
    for (const Index i : launch) {
        int64 count = 0;
        for_ties(graph, distances, parents, i, [&](Index node, Index) { count += has_parent(parents, node) ? 2 : 1; });
        counts[i] = count;
    }
}

// Lists the ties, and an edge from an additional node, number `nodes`, to each node that has a parent and that a tie
// leaves.
KERNEL(list_ties, Csr graph, Distances distances, const int32 *parents, const int64 *places, uint32 *sources,
       int32 *targets) {
    for (const Index i : launch) {
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

// Finds parents along the edges of the graph of ties; `steps` is the distance of each node from the additional node
// there. A node with a parent is one step away from the additional node, and keeps its parent.
KERNEL(find_parents_by_ties, Csr ties, Distances steps, int32 *parents) {
    const By<HOPS> of = {steps.narrow, int32(steps.limit), ties};
    for (const Index i : launch)
        for_edge_block(ties, i, [&](Index node, Index edge) {
            if (node != ties.nodes - 1 && is_tight(of, node, edge))
                atomic_min(parents + ties.targets[edge], int32(node));
        });
}

KERNEL(end_parents, int32 *parents) {
    for (const Index node : launch)
        if (!has_parent(parents, node))
            parents[node] = -1;
}
