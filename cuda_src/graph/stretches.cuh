// All edges of a graph, shared out evenly: by stretches of so many edges, whatever nodes they leave.
#pragma once

#include "csr.cuh"

constexpr Index STRETCH = 64; // edges of an index (STRETCH of static_graph/stretches.py)

// Calls visit(node, edge) for the edges of a stretch.
template <class Visit> INLINE void for_stretch(const Csr &graph, Index stretch, Visit visit) {
    const Index first = stretch * STRETCH, end = first + STRETCH < graph.edges ? first + STRETCH : graph.edges;
    Index node = 0; // the last one whose edges begin at `first` or before: begin(node) <= first < begin(above)
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
