// Even distribution of a graph's edges: blocks of STRETCH consecutive edges, regardless of their sources.
#pragma once

#include "graph/csr.cuh"

constexpr Index STRETCH = 64; // edges per index (STRETCH of static_graph/graph/edge_blocks.py)

// Calls visit(node, edge) for the edges of a block.
template <class Visit> INLINE void for_edge_block(const Csr &graph, Index edge_block, Visit visit) {
    const Index first = edge_block * STRETCH, end = first + STRETCH < graph.edges ? first + STRETCH : graph.edges;
    Index node = 0; // becomes the last node with begin(node) <= first < begin(above)
    for (Index above = graph.nodes; above - node > 1;) {
        const Index middle = (node + above) / 2;
        (graph.begin(middle) <= first ? node : above) = middle;
    }
    for (Index edge = first; edge < end; ++edge) {
        while (graph.end(node) <= edge)
            ++node;
        visit(node, edge);
    }
}
