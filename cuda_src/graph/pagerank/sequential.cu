// PageRank by one thread: the baseline of the comparisons (PageRank report, section 3.2, sequential model).
#include "graph/pagerank/iteration.cuh"

constexpr Index PER_STOP_POINT = 4096; // nodes

// One iteration. `incoming` is zero before and after it.
KERNEL(iterate_in_sequence, PageRank rank, Csr graph, const uint64 *ratios, uint64 *incoming) {
    for ([[maybe_unused]] const Index once : launch) {
        with_iteration(rank, [&](const auto &iteration) {
            for (Index u = 0; u < graph.nodes; ++u) {
                if (u % PER_STOP_POINT == 0)
                    STOP_POINT();
                const uint64 share = units_of(iteration.shares[u]);
                for (Index edge = graph.begin(u); edge < graph.end(u); ++edge)
                    incoming[graph.targets[edge]] += ratios != nullptr ? part_of(share, ratios[edge]) : share;
            }
            RankSums sums;
            for (Index v = 0; v < graph.nodes; ++v) {
                iteration.leave(v, incoming[v], sums);
                incoming[v] = 0;
            }
            end_iteration(rank, load_end(rank), sums);
        });
    }
}
