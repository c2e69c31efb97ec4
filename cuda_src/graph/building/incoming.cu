// Edges of the transposed graph, for kernels that need a node's incoming edges.
#include "graph/edge_blocks.cuh"

// Lists the target and source of each edge.
KERNEL(list_edges, Csr graph, uint32 *targets, int32 *sources) {
    for (const Index i : launch)
        for_edge_block(graph, i, [&](Index node, Index edge) {
            targets[edge] = uint32(graph.targets[edge]);
            sources[edge] = int32(node);
        });
}

// Gathers the weights of the edges in the given order, into the array of their kind.
KERNEL(gather_weights, Csr graph, const int32 *order, int32 *weights32, int64 *weights64, float64 *real_weights) {
    for (const Index i : launch)
        if (weights32 != nullptr)
            weights32[i] = graph.weights32[order[i]];
        else if (weights64 != nullptr)
            weights64[i] = graph.weights64[order[i]];
        else
            real_weights[i] = graph.real_weights[order[i]];
}
