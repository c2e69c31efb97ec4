// Even distribution of a graph's edges: blocks of EDGE_BLOCK consecutive edges, regardless of their sources.
#pragma once

#include "graph/csr.cuh"

// Edges per index. On a GPU neighbouring threads should read neighbouring edges, and each thread searches for its first
// node; a CPU thread has many blocks.
constexpr Index GPU_EDGE_BLOCK = 4;
constexpr Index CPU_EDGE_BLOCK = 64;
constexpr Index EDGE_BLOCK = ONE_MEMBER ? CPU_EDGE_BLOCK : GPU_EDGE_BLOCK;

// Returns the last node whose edges begin at or before an edge: the node that the edge leaves. `above` is a later node,
// or the number of nodes, and `node` the first one that is possible.
INLINE Index source_between(const Csr &graph, Index node, Index above, Index edge) {
    while (above - node > 1) {
        const Index middle = (node + above) / 2;
        (graph.begin(middle) <= edge ? node : above) = middle;
    }
    return node;
}

// Returns the node that an edge leaves, which is `node` or a later one; the cost is logarithmic in the distance.
INLINE Index source_from(const Csr &graph, Index node, Index edge) {
    Index step = 1;
    while (node + step < graph.nodes && graph.begin(node + step) <= edge) {
        node += step;
        step *= 2;
    }
    return source_between(graph, node, node + step < graph.nodes ? node + step : graph.nodes, edge);
}

// Calls visit(node, begin, end) for the nodes that the edges of a block leave; these are the node's edges in the block.
//
// node: one at or before the first of them. Returns one at or before the first of the next block.
template <class Visit> INLINE Index for_rows_from(const Csr &graph, Index node, Index edge_block, Visit visit) {
    Index edge = edge_block * EDGE_BLOCK;
    const Index last = edge + EDGE_BLOCK < graph.edges ? edge + EDGE_BLOCK : graph.edges;
    while (edge < last) {
        const Index row = graph.end(node);
        if (row <= edge) { // the next node may be far away
            node = source_from(graph, node, edge);
            continue;
        }
        const Index end = row < last ? row : last;
        visit(node, edge, end);
        edge = end;
        ++node;
    }
    return graph.end(node - 1) > last ? node - 1 : node; // the last row goes on in the next block
}

// The same without a node to begin at.
template <class Visit> INLINE void for_rows_of_block(const Csr &graph, Index edge_block, Visit visit) {
    for_rows_from(graph, source_between(graph, 0, graph.nodes, edge_block * EDGE_BLOCK), edge_block, visit);
}

// Calls visit(node, edge) for the edges of a block.
template <class Visit> INLINE void for_edge_block(const Csr &graph, Index edge_block, Visit visit) {
    for_rows_of_block(graph, edge_block, [&](Index node, Index begin, Index end) {
        for (Index edge = begin; edge < end; ++edge)
            visit(node, edge);
    });
}

// Calls visit(node, begin, end), as `for_rows_from`, for the blocks of a launch. Consecutive ones, which a CPU thread
// has, need no search.
template <class Visit> INLINE void for_rows_of_edge_blocks(const Csr &graph, const Launch &launch, Visit visit) {
    Index node = 0;
    for (const Index block : launch)
        node = for_rows_from(graph, node, block, visit);
}
