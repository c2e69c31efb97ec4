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

constexpr Index EDGES_AHEAD = 64; // of prefetching

enum Parent : int32 { NONE = 0x7fffffff, SOURCE = -1 };

// Whether an edge is on a shortest path to its target.
template <class Of> INLINE bool is_tight(const Of &of, Index node, Index edge) {
    const auto distance = of.at(node), end = of.at(of.graph.targets[edge]);
    return of.goes_on(distance) && end != of.unreached() && of.along(distance, edge) == end;
}

INLINE bool has_parent(const int32 *parents, Index node) { return parents[node] != NONE; }

// Only the source has a parent, if there is a single one (otherwise -1, and enter_sources follows).
KERNEL(begin_parents, int64 source, int32 *parents) {
    for (const Index node : launch)
        parents[node] = node == source ? SOURCE : NONE;
}

KERNEL(enter_sources, const int32 *sources, int32 *parents) {
    for (const Index i : launch)
        parents[sources[i]] = SOURCE;
}

// Lowers the parents of the targets of edges from a node. The distances are final: unlike those of a search, they may
// be loaded through any cache. Which edges are on a shortest path is hard to predict, so that it decides the only
// branch.
template <class Of>
INLINE void lower_parents(const Of &of, const Csr &graph, Index node, Index begin, Index end, int32 *parents) {
    const auto distance = of.values[node];
    if (!of.goes_on(distance))
        return;
    for (Index edge = begin; edge < end; ++edge) {
        if (PREFETCHES && edge + EDGES_AHEAD < graph.edges)
            prefetch(of.values + graph.targets[edge + EDGES_AHEAD]);
        const Index target = graph.targets[edge];
        const auto further = of.values[target];
        if (of.along(distance, edge) == further)
            if (distance < further && further != of.unreached() && racing_load(parents + target) > int32(node))
                atomic_min(parents + target, int32(node));
    }
}

// The same for a block of edges, by a GPU's thread, which waits for all of them at each step.
template <class Of> INLINE void lower_parents_of_block(const Of &of, const Csr &graph, Index block, int32 *parents) {
    using Value = typename Of::Value;
    constexpr int N = int(EDGE_BLOCK);
    const Index first = block * EDGE_BLOCK;
    int32 nodes[N], targets[N];
    Index node = source_between(graph, 0, graph.nodes, first);
    for (int n = 0; n < N; ++n) {
        targets[n] = first + n < graph.edges ? graph.targets[first + n] : -1;
        if (targets[n] >= 0 && graph.end(node) <= first + n)
            node = source_from(graph, node, first + n);
        nodes[n] = int32(node);
    }
    Value distance[N], further[N], length[N];
    for (int n = 0; n < N; ++n) {
        distance[n] = of.values[nodes[n]];
        further[n] = targets[n] >= 0 ? of.values[targets[n]] : 0;
    }
    bool may_lead[N];
    for (int n = 0; n < N; ++n) {
        may_lead[n] = of.goes_on(distance[n]) && distance[n] < further[n] && further[n] != of.unreached();
        length[n] = may_lead[n] ? of.length(first + n) : 0;
    }
    for (int n = 0; n < N; ++n)
        if (may_lead[n] && of.sum(distance[n], length[n]) == further[n] && racing_load(parents + targets[n]) > nodes[n])
            atomic_min(parents + targets[n], nodes[n]);
}

KERNEL(find_parents, Csr graph, Distances distances, int32 *parents) {
    by_kind(distances, graph, [&](auto of) {
        if constexpr (ONE_MEMBER)
            for_rows_of_edge_blocks(graph, launch, [&](Index node, Index begin, Index end) {
                lower_parents(of, graph, node, begin, end, parents);
            });
        else
            for (const Index block : launch)
                lower_parents_of_block(of, graph, block, parents);
    });
}

// Ends with the nodes that are not reached, and sets `orphans` to 1 if a reached one has no parent yet.
KERNEL(find_orphans, Csr graph, Distances distances, int32 *parents, int32 *orphans) {
    by_kind(distances, graph, [&](auto of) {
        for (const Index node : launch)
            if (!has_parent(parents, node)) {
                if (of.values[node] == of.unreached())
                    parents[node] = -1;
                else
                    racing_store(orphans, 1);
            }
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
