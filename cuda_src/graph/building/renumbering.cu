// The edges of a graph with other numbers of its nodes.
#include "graph/edge_blocks.cuh"

// Classes of nodes: those of class c have out-degrees of 32 - c binary digits, so that large ones come first.
KERNEL(find_degree_classes, Csr graph, uint32 *classes) {
    for (const Index v : launch) {
        uint32 digits = 0;
        for (Index rest = graph.degree(v); rest > 0; rest /= 2)
            ++digits;
        classes[v] = 32 - digits;
    }
}

// Node order[k] gets the number k: lists the out-degrees by new numbers, and the new numbers by old ones.
KERNEL(list_new_numbers, Csr graph, const int32 *order, int32 *degrees, int32 *numbers) {
    for (const Index k : launch) {
        degrees[k] = int32(graph.degree(order[k]));
        numbers[order[k]] = int32(k);
    }
}

// Lists the edges by the new numbers of their sources: the targets and the sources by new numbers, and the numbers of
// the edges in the graph, of which one may be null. `rows` has the rows in the new order, without their edges.
KERNEL(list_renumbered_edges, Csr graph, Csr rows, const int32 *order, const int32 *numbers, uint32 *targets,
       int32 *sources, int32 *edges) {
    for (const Index i : launch)
        for_rows_of_block(rows, i, [&](Index k, Index begin, Index end) {
            const Index shift = graph.begin(order[k]) - rows.begin(k);
            for (Index place = begin; place < end; ++place) {
                targets[place] = uint32(numbers[graph.targets[place + shift]]);
                if (sources != nullptr)
                    sources[place] = int32(k);
                if (edges != nullptr)
                    edges[place] = int32(place + shift);
            }
        });
}
