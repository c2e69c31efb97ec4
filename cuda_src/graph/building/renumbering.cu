// A graph with other numbers of its nodes.
#include "graph/csr.cuh"

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

// Writes the rows in the new order, and lists the edges in it unless `edges` is null. The edges of a row keep theirs.
KERNEL(renumber_rows, Csr graph, const int32 *order, const int32 *numbers, const int32 *offsets, int32 *targets,
       int32 *edges) {
    for (const Index k : launch) {
        const Index begin = graph.begin(order[k]);
        for (Index place = offsets[k]; place < offsets[k + 1]; ++place) {
            const Index edge = begin + (place - offsets[k]);
            targets[place] = numbers[graph.targets[edge]];
            if (edges != nullptr)
                edges[place] = int32(edge);
        }
    }
}
