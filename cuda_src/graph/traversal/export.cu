// Export of distances in the user's form, with -1 for unreached nodes.
#include "graph/traversal/distances.cuh"

// Writes integer distances to `hops`, or to `sums` if `hops` is null.
KERNEL(export_distances, Csr graph, Distances distances, int32 *hops, int64 *sums) {
    by_kind(distances, graph, [&](auto of) {
        for (const Index node : launch) {
            const auto distance = of.values[node];
            const int64 shown = distance == of.unreached() ? -1 : int64(distance);
            if (hops != nullptr)
                hops[node] = int32(shown);
            else
                sums[node] = shown;
        }
    });
}
