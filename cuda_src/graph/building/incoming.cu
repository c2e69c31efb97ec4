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
