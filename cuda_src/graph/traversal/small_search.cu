// Breadth-first search of a small graph by one thread of a CPU, from one source.
#include "graph/csr.cuh"

// Sets the numbers of edges to all nodes, -1 if that is more than `limit`. parents, unless null, receives the smallest
// predecessor that is closer, with `by_order` the first one in the order of the queue; or -1. queue: (nodes) receives
// the nodes in that order. counts = levels followed, edges followed, nodes reached.
KERNEL(search_small_graph, Csr graph, int32 source, int64 limit, int32 *distances, int32 *parents, int32 *queue,
       int32 by_order, int64 *counts) {
    for ([[maybe_unused]] const Index once : launch) {
        for (Index v = 0; v < graph.nodes; ++v)
            distances[v] = -1;
        if (parents != nullptr)
            for (Index v = 0; v < graph.nodes; ++v)
                parents[v] = -1;
        distances[source] = 0;
        queue[0] = source;
        Index reached = 1, levels = 0, followed = 0;
        const bool smallest = parents != nullptr && !by_order;
        for (Index at = 0; at < reached; ++at) {
            const int32 u = queue[at], next = distances[u] + 1;
            if (next > limit)
                break;
            levels = next;
            const Index end = graph.end(u);
            followed += end - graph.begin(u);
            for (Index edge = graph.begin(u); edge < end; ++edge) {
                const int32 v = graph.targets[edge];
                if (distances[v] < 0) {
                    distances[v] = next;
                    queue[reached++] = v;
                    if (parents != nullptr)
                        parents[v] = u;
                } else if (smallest && distances[v] == next && u < parents[v]) {
                    parents[v] = u;
                }
            }
        }
        counts[0] = levels;
        counts[1] = followed;
        counts[2] = reached;
    }
}
