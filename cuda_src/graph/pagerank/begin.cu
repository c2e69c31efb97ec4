// Ratios of nodes and edges, and the first scores of PageRank.
#include "graph/edge_blocks.cuh"
#include "graph/pagerank/iteration.cuh"

constexpr int SUM_LANES = 32;                   // partial sums of a row of weights
constexpr int SUM_ROWS = TEAM_SIZE / SUM_LANES; // rows per team

// A node's weights are multiplied by it if their sum is infinite otherwise: a power of two, so that the products are
// exact, unless they are too small to count beside such a sum.
constexpr float64 SMALLER = 1.0 / (1ull << 63);
constexpr float64 LARGEST = 1.7976931348623157e308; // finite number

INLINE float64 weight_of(const Csr &graph, Index edge) {
    return graph.real_weights != nullptr ? graph.real_weights[edge] : float64(graph.whole_weight(edge));
}

// sums[v] = the sum of the weights of v's edges times `scale`, for the nodes for which wanted(v), in one fixed tree:
// lane k sums the edges k, k + SUM_LANES, ... in order, and then the lanes are added pairwise.
template <class Wanted>
INLINE void sum_rows(const Team &team, const Csr &graph, float64 scale, float64 *lanes, float64 *sums, Wanted wanted) {
    const Index first = team.number * SUM_ROWS;
    team.for_members([&](int member) {
        const Index v = first + member / SUM_LANES, end = v < graph.nodes && wanted(v) ? graph.end(v) : 0;
        float64 sum = 0;
        for (Index edge = end > 0 ? graph.begin(v) + member % SUM_LANES : 0; edge < end; edge += SUM_LANES)
            sum += weight_of(graph, edge) * scale;
        lanes[member] = sum;
    });
    for (int reach = SUM_LANES / 2; reach > 0; reach /= 2)
        team.for_members([&](int member) {
            if (member % SUM_LANES < reach)
                lanes[member] += lanes[member + reach];
        });
    team.for_members([&](int member) {
        const Index v = first + member / SUM_LANES;
        if (member % SUM_LANES == 0 && v < graph.nodes && wanted(v))
            sums[v] = lanes[member];
    });
}

// sums[v] = the sum of the weights of v's edges; if that is infinite, - SMALLER times the sum. A team has SUM_ROWS
// rows.
TEAM_KERNEL(sum_weights, Csr graph, float64 *sums) {
    TEAM_SHARED(float64, lanes, TEAM_SIZE);
    for (const Team team : launch.teams()) {
        sum_rows(team, graph, 1, lanes, sums, [](Index) { return true; });
        sum_rows(team, graph, -SMALLER, lanes, sums, [&](Index v) { return sums[v] > LARGEST; });
    }
}

// ratios[k] = 1 / out-degree of node k. With the sums of the weights, which are null otherwise, 1 if the sum is not 0.
// The ratio of a dangling node is 0. If nodes are renumbered, `order` has their numbers in the graph; otherwise it is
// null.
KERNEL(find_node_ratios, Csr graph, const int32 *order, const float64 *sums, uint64 *ratios) {
    for (const Index k : launch) {
        const Index v = order != nullptr ? order[k] : k;
        if (sums != nullptr)
            ratios[k] = sums[v] != 0 ? ONE_RATIO : 0;
        else
            ratios[k] = graph.degree(v) > 0 ? ratio_of(1, float64(graph.degree(v))) : 0;
    }
}

// ratios[e] = the weight of edge e, of the sum over the edges that leave the same node; 0 if the sum is 0. In a
// transposed graph (`transposed` = 1) that node is the edge's target. `order` is that of find_node_ratios.
KERNEL(find_edge_ratios, Csr graph, const int32 *order, const float64 *sums, int64 transposed, uint64 *ratios) {
    for (const Index i : launch)
        for_edge_block(graph, i, [&](Index node, Index edge) {
            const Index source = transposed ? graph.targets[edge] : node;
            const float64 sum = sums[order != nullptr ? order[source] : source];
            const float64 weight = weight_of(graph, edge);
            ratios[edge] = sum > 0 ? ratio_of(weight, sum) : sum < 0 ? ratio_of(weight * SMALLER, -sum) : 0;
        });
}

// ratios[v] = values[v] / sum, a part of a vector that sums to 1; values[order[v]] / sum if nodes are renumbered.
KERNEL(find_vector_ratios, const float64 *values, float64 sum, const int32 *order, uint64 *ratios) {
    for (const Index v : launch)
        ratios[v] = ratio_of(values[order != nullptr ? order[v] : v], sum);
}

// The first scores, given as ratios (null: all even), and their shares.
TEAM_KERNEL(begin_scores, PageRank rank, const uint64 *start) {
    for (const Team team : launch.teams()) {
        RankSums sums;
        for (const Index v : team.share(piece_of(team.number, rank.nodes))) {
            const uint64 score = part_of(ONE_SCORE, start != nullptr ? start[v] : rank.even);
            const uint64 share = part_of(score, rank.node_ratios[v]);
            rank.scores[v] = score;
            sums.dangling += rank.node_ratios[v] == 0 ? score : 0;
            if (rank.is_narrow())
                store_share(rank.narrow0 + v, share);
            else
                store_share(rank.shares0 + v, share);
        }
        add_sums(team, rank, sums);
        team.barrier();
    }
}

// Moves the sums of the first scores to the place of the previous iteration's.
KERNEL(end_scores, PageRank rank) {
    for ([[maybe_unused]] const Index once : launch) {
        rank.totals[DANGLING_MASS] = rank.totals[NEXT_DANGLING];
        rank.totals[NEXT_DANGLING] = 0;
    }
}

// The scores as numbers that sum to 1. If nodes are renumbered, `order` has their old numbers; otherwise it is null.
KERNEL(export_scores, const uint64 *scores, const int32 *order, float64 *shown) {
    for (const Index v : launch)
        shown[order != nullptr ? order[v] : v] = float64(scores[v]) / float64(ONE_SCORE);
}
