// The edges of a graph turned round, for kernels that ask who leads to a node.
#include "stretches.cuh"

// Where each edge leads to, and what it leaves.
KERNEL(list_edges, Csr graph, uint32 *targets, int32 *sources) {
    FOR_RANGE (i)
        for_stretch(graph, i, [&](Index node, Index edge) {
            targets[edge] = uint32(graph.targets[edge]);
            sources[edge] = int32(node);
        });
}
