// PageRank by propagation blocking (Beamer, Asanovic, Patterson 2017), in the deterministic form.
//
// Nodes are divided into bins of RANK_BIN numbers, whose sums fit in a cache or in shared memory. An iteration first
// writes the share of each edge to its place among the edges that lead to the same bin, so that each bin is written in
// sequence; then it adds the shares bin by bin. No access is random beyond a bin. The places stay the same.
#include "graph/edge_blocks.cuh"
#include "graph/pagerank/iteration.cuh"

constexpr int RANK_BIN_BITS = 12;
constexpr Index RANK_BIN = 1 << RANK_BIN_BITS;

// The bin of each edge.
KERNEL(find_bins, Csr graph, uint32 *bins) {
    for (const Index edge : launch)
        bins[edge] = uint32(graph.targets[edge]) >> RANK_BIN_BITS;
}

// order[k] is the k-th edge in the order of the bins: the place of each edge, and the targets in that order.
KERNEL(place_edges, Csr graph, const int32 *order, int32 *places, int32 *targets) {
    for (const Index k : launch) {
        places[order[k]] = int32(k);
        targets[k] = graph.targets[order[k]];
    }
}

// Writes the shares of a block of edges to their places.
KERNEL(place_shares, PageRank rank, Csr graph, const uint64 *ratios, const int32 *places, uint64 *placed) {
    with_iteration(rank, [&](const auto &iteration) {
        for (const Index i : launch)
            for_edge_block(graph, i, [&](Index node, Index edge) {
                const uint64 share = units_of(iteration.shares[node]);
                placed[places[edge]] = ratios != nullptr ? part_of(share, ratios[edge]) : share;
            });
    });
}

// Adds the shares of a chunk of a bin.
TEAM_KERNEL(add_bins, const int32 *targets, const uint64 *placed, const int32 *chunk_bins, const int64 *chunk_begins,
            const int64 *chunk_ends, int64 nodes, uint64 *incoming) {
    TEAM_SHARED(uint64, sums, RANK_BIN);
    for (const Team team : launch.teams()) {
        const Index first = chunk_bins[team.number] * RANK_BIN;
        const Index count = nodes - first < RANK_BIN ? nodes - first : RANK_BIN;
        for (const Index v : team.share(Piece{0, count}))
            sums[v] = 0;
        team.barrier();
        for (const Index k : team.share(Piece{chunk_begins[team.number], chunk_ends[team.number]})) {
            uint64 *sum = sums + (targets[k] - first);
            if constexpr (ONE_MEMBER)
                *sum += placed[k];
            else
                atomic_add(sum, placed[k]);
        }
        team.barrier();
        for (const Index v : team.share(Piece{0, count}))
            if (sums[v] != 0)
                atomic_add(incoming + first + v, sums[v]);
        team.barrier();
    }
}
