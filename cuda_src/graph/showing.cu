// Distances as users see them: -1 where no path leads.
#include "distances.cuh"

// Whole distances of some nodes, into `hops` or else into `sums`.
KERNEL(show_distances, Csr graph, Distances distances, int32 *hops, int64 *sums) {
    by_kind(distances, graph, [&](auto of) {
        FOR_RANGE (node) {
            const auto distance = of.values[node];
            const int64 shown = distance == of.unreached() ? -1 : int64(distance);
            if (hops != nullptr)
                hops[node] = int32(shown);
            else
                sums[node] = shown;
        }
    });
}
