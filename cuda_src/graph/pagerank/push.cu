// PageRank by push: each edge adds the share of its source to its target, atomically. Sums of integers do not depend on
// the order of the additions.
#include "graph/edge_blocks.cuh"
#include "graph/pagerank/iteration.cuh"

// Adds the shares of a block of edges. `incoming` is zero before.
KERNEL(push_shares, PageRank rank, Csr graph, const uint64 *ratios, uint64 *incoming) {
    with_iteration(rank, [&](const auto &iteration) {
        for (const Index i : launch)
            for_edge_block(graph, i, [&](Index node, Index edge) {
                const uint64 share = units_of(iteration.shares[node]);
                atomic_add(incoming + graph.targets[edge], ratios != nullptr ? part_of(share, ratios[edge]) : share);
            });
    });
}

// The new scores of all nodes from the sums of their shares, which become zero again.
TEAM_KERNEL(leave_nodes, PageRank rank, uint64 *incoming) {
    with_iteration(rank, [&](const auto &iteration) {
        for (const Team team : launch.teams()) {
            RankSums sums;
            for (const Index v : team.share(piece_of(team.number, rank.nodes))) {
                iteration.leave(v, incoming[v], sums);
                incoming[v] = 0;
            }
            add_sums(team, rank, sums);
            team.barrier();
        }
    });
}

KERNEL(end_ranking, PageRank rank) {
    for ([[maybe_unused]] const Index once : launch)
        end_iteration(rank, load_end(rank), {});
}
