// PageRank by a dense transition matrix (PageRank report, section 3.3.2): entry (i, j) is the probability of going from
// node j to node i, so that columns sum to 1. The matrix holds ratios (fixed_point.cuh), or float32.
//
// The report's text has three faults, which are not repeated here. Its row index ceil(idx / N) leaves row 0 out, and
// its column index is a quotient, too: they are idx / N and idx % N. Entries without an edge are never set to zero. And
// it is the columns that sum to 1, not the rows. Its N x N matrix of visited pairs is not needed: the edges are entered
// row by row of the transposed graph.
#include "graph/pagerank/iteration.cuh"

constexpr Index DENSE_PER_STOP_POINT = 1 << 20; // entries

KERNEL_STRUCT(TransitionMatrix) {
    uint64 *ratios;  // (nodes * nodes), by rows
    float32 *narrow; // the same as float32; one of the two is null
    int64 nodes;

    METHOD void set(Index place, uint64 ratio) const {
        if (ratios != nullptr)
            ratios[place] = ratio;
        else
            narrow[place] = float32(float64(ratio) / float64(ONE_RATIO));
    }
    METHOD uint64 at(Index place) const {
        return ratios != nullptr ? ratios[place] : uint64(float64(narrow[place]) * float64(ONE_RATIO));
    }
};

// The columns of dangling nodes, and zeros. Each index has one entry.
KERNEL(update_entries, PageRank rank, Csr graph, const float64 *weight_sums, TransitionMatrix matrix) {
    for (const Index idx : launch) {
        const Index i = idx / matrix.nodes, j = idx % matrix.nodes;
        const bool is_dangling = weight_sums != nullptr ? weight_sums[j] == 0 : graph.degree(j) == 0;
        matrix.set(idx, !is_dangling ? 0 : rank.dangling != nullptr ? rank.dangling[i] : rank.even);
    }
}

// The entries of edges: those of a row, from the row of the transposed graph, in which parallel edges are neighbours.
// `ratios` are those of its edges; without weights they are null, and `node_ratios` count.
KERNEL(enter_edges, Csr back, const uint64 *ratios, const uint64 *node_ratios, TransitionMatrix matrix) {
    for (const Index i : launch)
        for (Index edge = back.begin(i); edge < back.end(i);) {
            const Index j = back.targets[edge];
            uint64 sum = 0;
            for (; edge < back.end(i) && back.targets[edge] == j; ++edge)
                sum += ratios != nullptr ? ratios[edge] : node_ratios[j];
            if (sum > 0)
                matrix.set(i * matrix.nodes + j, sum < ONE_RATIO ? sum : ONE_RATIO);
        }
}

// One thread per node, which goes through its row (the report's kernel `pagerank`).
KERNEL(multiply_rows, PageRank rank, TransitionMatrix matrix, uint64 *incoming) {
    with_iteration(rank, [&](const auto &iteration) {
        for (const Index i : launch) {
            uint64 sum = 0;
            for (Index j = 0; j < matrix.nodes; ++j) {
                if (j % DENSE_PER_STOP_POINT == 0)
                    STOP_POINT();
                sum += part_of(units_of(iteration.shares[j]), matrix.at(i * matrix.nodes + j));
            }
            incoming[i] = sum;
        }
    });
}

// One thread per entry, which adds atomically; integers add up to the same sum in any order. `incoming` is zero before.
KERNEL(add_entries, PageRank rank, TransitionMatrix matrix, uint64 *incoming) {
    with_iteration(rank, [&](const auto &iteration) {
        for (const Index idx : launch) {
            const uint64 part = part_of(units_of(iteration.shares[idx % matrix.nodes]), matrix.at(idx));
            if (part != 0)
                atomic_add(incoming + idx / matrix.nodes, part);
        }
    });
}

// One thread per entry, which stores its part of the score in a matrix of sub-scores.
KERNEL(find_sub_scores, PageRank rank, TransitionMatrix matrix, uint64 *sub_scores) {
    with_iteration(rank, [&](const auto &iteration) {
        for (const Index idx : launch)
            sub_scores[idx] = part_of(units_of(iteration.shares[idx % matrix.nodes]), matrix.at(idx));
    });
}

// Sums the rows of the sub-scores. The report does this on the host, after a transfer of N x N numbers.
KERNEL(sum_sub_scores, const uint64 *sub_scores, int64 nodes, uint64 *incoming) {
    for (const Index i : launch) {
        uint64 sum = 0;
        for (Index j = 0; j < nodes; ++j)
            sum += sub_scores[i * nodes + j];
        incoming[i] = sum;
    }
}

// The matrix as numbers from 0 to 1.
KERNEL(export_entries, TransitionMatrix matrix, float64 *shown) {
    for (const Index idx : launch)
        shown[idx] = float64(matrix.at(idx)) / float64(ONE_RATIO);
}
