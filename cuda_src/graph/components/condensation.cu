// Edges between the components of a graph.
#include "graph/edge_blocks.cuh"

// count[0] += the number of edges between different components, which are listed by the components' numbers.
KERNEL(list_edges_between, Csr graph, const int32 *numbers, int32 *count, uint32 *sources, int32 *targets) {
    for_rows_of_edge_blocks(graph, launch, [&](Index node, Index first, Index end) {
        const int32 own = numbers[node];
        int32 found = 0;
        for (Index edge = first; edge < end; ++edge)
            found += numbers[graph.targets[edge]] != own;
        if (found == 0)
            return;
        int32 place = atomic_add(count, found);
        if (sources == nullptr)
            return;
        for (Index edge = first; edge < end; ++edge)
            if (const int32 other = numbers[graph.targets[edge]]; other != own) {
                sources[place] = uint32(own);
                targets[place++] = other;
            }
    });
}

// The levels of an acyclic graph's nodes by one thread of a CPU (Kahn 1962): levels[v] = the number of edges on a
// longest path from v, initially 0. `back` is the transposed graph, `degrees` are the out-degrees, which become 0, and
// `queue` is an array of (nodes).
KERNEL(level_in_sequence, Csr back, int32 *degrees, int32 *queue, int32 *levels) {
    constexpr Index NODES_PER_STOP = 4096;
    for ([[maybe_unused]] const Index once : launch) {
        Index queued = 0;
        for (Index node = 0; node < back.nodes; ++node)
            if (degrees[node] == 0)
                queue[queued++] = int32(node);
        for (Index taken = 0; taken < queued; ++taken) {
            if (taken % NODES_PER_STOP == 0)
                STOP_POINT();
            const int32 node = queue[taken], further = levels[node] + 1;
            for (Index edge = back.begin(node); edge < back.end(node); ++edge) {
                const int32 source = back.targets[edge];
                levels[source] = levels[source] > further ? levels[source] : further;
                if (--degrees[source] == 0)
                    queue[queued++] = source;
            }
        }
    }
}
