// Breadth-first search of a small graph by one thread of a CPU, from one source.
#include "graph/csr.cuh"

enum class Parents { NONE, SMALLEST, FIRST };

constexpr Index AHEAD = 4; // nodes: their rows are in the second cache at best

struct Small {
    int32 *distances, *parents, *queue;
    int64 *counts;
};

// search_small_graph, for graphs whose rows are given as `Offset`.
template <Parents PARENTS, class Offset>
INLINE void search_small(const Csr &graph, const Offset *offsets, int32 source, int64 limit, const Small &found) {
    int32 *const distances = found.distances, *const parents = found.parents, *const queue = found.queue;
    for (Index v = 0; v < graph.nodes; ++v)
        distances[v] = -1;
    if (PARENTS != Parents::NONE)
        for (Index v = 0; v < graph.nodes; ++v)
            parents[v] = -1;
    distances[source] = 0;
    queue[0] = source;
    const int32 *at = queue;
    int32 *end = queue + 1, level = 0;
    int64 followed = 0;
    while (at < end && level < limit) {
        ++level;
        for (const int32 *const level_end = end; at < level_end; ++at) {
            const int32 u = *at;
            prefetch(graph.targets + offsets[end - at > AHEAD ? at[AHEAD] : u]);
            const int32 *edge = graph.targets + offsets[u], *const row_end = graph.targets + offsets[u + 1];
            followed += row_end - edge;
            for (; edge < row_end; ++edge) {
                const int32 v = *edge;
                if (distances[v] < 0) {
                    distances[v] = level;
                    *end++ = v;
                    if (PARENTS != Parents::NONE)
                        parents[v] = u;
                } else if (PARENTS == Parents::SMALLEST && distances[v] == level && u < parents[v]) {
                    parents[v] = u;
                }
            }
        }
    }
    found.counts[0] = level;
    found.counts[1] = followed;
    found.counts[2] = end - queue;
}

template <class Offset>
INLINE void search_small(const Csr &graph, const Offset *offsets, int32 source, int64 limit, bool by_order,
                         const Small &found) {
    if (found.parents == nullptr)
        search_small<Parents::NONE>(graph, offsets, source, limit, found);
    else if (by_order)
        search_small<Parents::FIRST>(graph, offsets, source, limit, found);
    else
        search_small<Parents::SMALLEST>(graph, offsets, source, limit, found);
}

// Sets the numbers of edges to all nodes, -1 if that is more than `limit`. parents, unless null, receives the smallest
// predecessor that is closer, with `by_order` the first one in the order of the queue; or -1. queue: (nodes) receives
// the nodes in that order. counts = levels followed, edges followed, nodes reached.
KERNEL(search_small_graph, Csr graph, int32 source, int64 limit, int32 *distances, int32 *parents, int32 *queue,
       int32 by_order, int64 *counts) {
    for ([[maybe_unused]] const Index once : launch) {
        const Small found{distances, parents, queue, counts};
        if (graph.offsets32 != nullptr)
            search_small(graph, graph.offsets32, source, limit, by_order != 0, found);
        else
            search_small(graph, graph.offsets64, source, limit, by_order != 0, found);
    }
}
