// Even distribution of a graph's edges: blocks of EDGE_BLOCK consecutive edges, regardless of their sources.
#pragma once

#include "graph/csr.cuh"

constexpr Index EDGE_BLOCK = 64; // edges per index

// Calls visit(node, edge) for the edges of a block.
template <class Visit> INLINE void for_edge_block(const Csr &graph, Index edge_block, Visit visit) {
    const Index first = edge_block * EDGE_BLOCK,
                end = first + EDGE_BLOCK < graph.edges ? first + EDGE_BLOCK : graph.edges;
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
