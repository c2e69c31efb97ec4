// State of a PageRank computation, and what all methods do with a node once the shares that reach it are summed.
//
// One iteration, in the fixed-point numbers of fixed_point.cuh:
//
//     share(u)    = part of score(u) by 1 / out-degree(u), or with weights the score itself
//     incoming(v) = sum over the edges u -> v of share(u), or with weights of its part by weight / sum of weights of u
//     score(v)    = part of score(v) by `keep`
//                 + part of (incoming(v) + part of the dangling mass by dangling(v)) by `move`
//                 + part of the teleported mass by personalization(v)
//
// With the rule of Brin and Page keep = 0, move = alpha, and the teleported mass is 1 - alpha. With the rule of the
// PageRank report (section 3.3.2) keep = d, move = 1 - d, and nothing is teleported.
//
// A method sums the shares of iteration k from the buffer k % 2, and `leave` stores the shares of the next iteration in
// the other one. `end_iteration` decides whether another iteration follows.
#pragma once

#include "graph/csr.cuh"
#include "graph/pagerank/fixed_point.cuh"

// Indices into PageRank::progress.
enum RankEntry : int32 { ITERATIONS, RANK_STOP, RANK_PAUSED, RANK_ENTRIES };

// Indices into PageRank::totals; masses are in units of a score.
enum RankTotal : int32 {
    DANGLING_MASS, // the sum of the scores of the dangling nodes
    NEXT_DANGLING, // the same, of the scores that the current iteration computes
    CHANGE,        // the sum of |changes|, of the current iteration
    LAST_CHANGE,   // the same, of the iteration before
    RANK_SLICE,    // when a launch of many iterations began, in nanoseconds
    RANK_TOTALS
};

KERNEL_STRUCT(PageRank) {
    uint64 *scores;
    uint64 *shares0; // a double buffer
    uint64 *shares1;
    float32 *narrow0; // the same for the precision float32; null otherwise
    float32 *narrow1;
    const uint64 *node_ratios;     // 1 / out-degree; with weights 1; 0 for dangling nodes
    const uint64 *personalization; // ratios; null if all are `even`
    const uint64 *dangling;        // ratios; null if all are `even`
    uint64 *totals;
    int32 *progress;
    uint64 keep; // ratios
    uint64 move;
    uint64 even;       // 1 / nodes
    uint64 teleported; // mass
    uint64 tolerance;  // the iterations end when the sum of |changes| is below it
    int64 most_iterations;
    int64 nodes;
    int64 hot; // nodes from this one on have shares that are read too rarely to stay in a GPU's cache

    METHOD bool is_narrow() const { return narrow0 != nullptr; }
};

// A thread's contribution to the totals of an iteration.
struct RankSums {
    uint64 change = 0, dangling = 0;
};

// A node's values before its shares are summed.
struct RankedNode {
    uint64 score, ratio;
};

// One iteration, with shares that are stored as T. CACHED: a GPU's cache has room for all of the graph. Otherwise, what
// is read once, and rare shares, should not displace the shares that are read often.
template <class T, bool CACHED = false> struct Iteration {
    PageRank rank; // a copy, which no store of a score can change
    const T *shares;
    T *next_shares;
    uint64 dangling_mass, dangling_each, teleported_each; // the latter two if dangling or personalization is even

    // Whether the parts of the dangling and the teleported mass are the same for all nodes, and no score is kept.
    METHOD bool is_even() const {
        return rank.keep == 0 && rank.dangling == nullptr && rank.personalization == nullptr;
    }

    // The source of an edge of the transposed graph, and the share of a node.
    METHOD int32 source(const int32 *place) const { return CACHED ? *place : streamed_load(place); }
    METHOD T share(int32 node) const { return CACHED || node < rank.hot ? shares[node] : streamed_load(shares + node); }

    METHOD RankedNode load(Index node) const { return {rank.scores[node], rank.node_ratios[node]}; }

    // The new score and share of a node, of which the shares that reach it sum to `incoming`. EVEN: is_even() holds.
    METHOD void leave(Index node, uint64 incoming, RankSums &sums) const { leave(node, load(node), incoming, sums); }
    template <bool EVEN = false>
    METHOD void leave(Index node, const RankedNode &loaded, uint64 incoming, RankSums &sums) const {
        const uint64 old_score = loaded.score, ratio = loaded.ratio;
        const uint64 loose =
            EVEN || rank.dangling == nullptr ? dangling_each : part_of(dangling_mass, rank.dangling[node]);
        const uint64 teleported = EVEN || rank.personalization == nullptr
                                      ? teleported_each
                                      : part_of(rank.teleported, rank.personalization[node]);
        const uint64 kept = EVEN || rank.keep == 0 ? 0 : part_of(old_score, rank.keep);
        const uint64 score = kept + part_of(incoming + loose, rank.move) + teleported;
        sums.change += score > old_score ? score - old_score : old_score - score;
        sums.dangling += ratio == 0 ? score : 0;
        rank.scores[node] = score;
        store_share(next_shares + node, part_of(score, ratio));
    }
};

// Progress of a computation. All of it is loaded before any of it is used, so that a GPU waits once.
struct RankProgress {
    int32 iterations, ended;
    uint64 dangling_mass;
};

INLINE RankProgress load_progress(const PageRank &rank) {
    const int32 iterations = racing_load(rank.progress + ITERATIONS), stop = racing_load(rank.progress + RANK_STOP),
                paused = racing_load(rank.progress + RANK_PAUSED);
    const uint64 mass = racing_load(rank.totals + DANGLING_MASS);
    return {iterations, stop | paused, mass};
}

// The current iteration, with shares of 64 bits.
template <bool CACHED>
INLINE Iteration<uint64, CACHED> fixed_iteration(const PageRank &rank, const RankProgress &progress) {
    const bool odd = progress.iterations % 2 != 0;
    return {rank,
            odd ? rank.shares1 : rank.shares0,
            odd ? rank.shares0 : rank.shares1,
            progress.dangling_mass,
            part_of(progress.dangling_mass, rank.even),
            part_of(rank.teleported, rank.even)};
}

// Calls visit(iteration) for the current iteration.
template <bool CACHED = false, class Visit>
INLINE void with_iteration(const PageRank &rank, const RankProgress &progress, Visit visit) {
    const bool odd = progress.iterations % 2 != 0;
    const uint64 mass = progress.dangling_mass;
    const uint64 dangling_each = part_of(mass, rank.even), teleported_each = part_of(rank.teleported, rank.even);
    if (rank.is_narrow())
        visit(Iteration<float32, CACHED>{rank, odd ? rank.narrow1 : rank.narrow0, odd ? rank.narrow0 : rank.narrow1,
                                         mass, dangling_each, teleported_each});
    else
        visit(Iteration<uint64, CACHED>{rank, odd ? rank.shares1 : rank.shares0, odd ? rank.shares0 : rank.shares1,
                                        mass, dangling_each, teleported_each});
}

template <class Visit> INLINE void with_iteration(const PageRank &rank, Visit visit) {
    with_iteration(rank, load_progress(rank), visit);
}

// The sums of all members of a team; called by all of them. Numbers of 64 bits are summed in limbs of LIMB_BITS, whose
// sums over a team fit in 32 bits.
constexpr int LIMB_BITS = 22, LIMBS = 3;

INLINE RankSums sums_of_team(const Team &team, const RankSums &sums) {
    if constexpr (ONE_MEMBER)
        return sums;
    const Sums<2 * LIMBS> all = team.sum(Piece{0, TEAM_SIZE}, [&](Index) { // an index per member
        Sums<2 * LIMBS> limbs;
        for (int n = 0; n < LIMBS; ++n) {
            limbs.of[n] = int32(sums.change >> (n * LIMB_BITS) & ((1u << LIMB_BITS) - 1u));
            limbs.of[LIMBS + n] = int32(sums.dangling >> (n * LIMB_BITS) & ((1u << LIMB_BITS) - 1u));
        }
        return limbs;
    });
    RankSums found;
    for (int n = 0; n < LIMBS; ++n) {
        found.change += uint64(all.of[n]) << (n * LIMB_BITS);
        found.dangling += uint64(all.of[LIMBS + n]) << (n * LIMB_BITS);
    }
    return found;
}

// Adds the sums of all members of a team to the totals.
INLINE void add_sums(const Team &team, const PageRank &rank, const RankSums &sums) {
    const RankSums all = sums_of_team(team, sums);
    if (team.leads()) {
        atomic_add(rank.totals + CHANGE, all.change);
        atomic_add(rank.totals + NEXT_DANGLING, all.dangling);
    }
}

// Input of the end of an iteration; loaded at once, like RankProgress, when all sums were added but for the rest.
struct RankEnd {
    uint64 change, dangling, slice;
    int32 iterations;
};

INLINE RankEnd load_end(const PageRank &rank) {
    const uint64 change = racing_load(rank.totals + CHANGE), dangling = racing_load(rank.totals + NEXT_DANGLING),
                 slice = racing_load(rank.totals + RANK_SLICE);
    return {change, dangling, slice, racing_load(rank.progress + ITERATIONS)};
}

// The result of end_iteration if no iteration follows in this launch: more than any mass.
constexpr uint64 RANK_ENDED = ~(uint64(1) << 63);

// Ends an iteration; called by one member. Returns the dangling mass of the next iteration, or RANK_ENDED.
INLINE uint64 end_iteration(const PageRank &rank, const RankEnd &end, const RankSums &rest) {
    const uint64 change = end.change + rest.change, dangling = end.dangling + rest.dangling;
    const int32 iterations = end.iterations + 1;
    const bool stops = change < rank.tolerance || iterations >= rank.most_iterations;
    const bool pauses = end.slice != 0 && nanoseconds() - int64(end.slice) > SLICE;
    rank.totals[LAST_CHANGE] = change;
    rank.totals[DANGLING_MASS] = dangling;
    rank.totals[CHANGE] = rank.totals[NEXT_DANGLING] = 0;
    rank.progress[RANK_STOP] = stops;
    rank.progress[RANK_PAUSED] = pauses;
    racing_store(rank.progress + ITERATIONS, iterations);
    return stops || pauses ? RANK_ENDED : dangling;
}
