// PageRank by pull: each node sums the shares of its predecessors, along the rows of the transposed graph.
//
// A team loads the shares of a tile of rows (tiles.cuh), turns them into prefix sums, and gets the sum of a row as a
// difference of two of them. This is exact, because the sums are integers modulo 2^64, and it needs no branch for the
// end of a row: every member has independent loads to wait for, however long the rows are.
#pragma once

#include "graph/pagerank/iteration.cuh"
#include "graph/pagerank/tiles.cuh"

constexpr int SCANNED = int(2 * RANK_TILE / TEAM_SIZE); // prefix sums per member
constexpr int PAD = 8;                                  // an unused word after so many: other banks of shared memory
constexpr Index AHEAD = 32;                             // edges: a CPU prefetches their shares
static_assert(SCANNED == PAD, "members that scan consecutive words use different banks");

// Shared memory of a team.
struct PullSpace {
    uint64 sums[2 * RANK_TILE + 2 * RANK_TILE / PAD];
    int64 partial[TEAM_SIZE], of_warp[Team::WARPS];
    int32 flag;
};

// The share that reaches a node along an edge of the transposed graph.
template <bool WEIGHTED, class T>
INLINE uint64 share_of_edge(const T *shares, int32 source, const uint64 *ratios, Index edge) {
    const uint64 share = units_of(shares[source]);
    if constexpr (WEIGHTED)
        return part_of(share, ratios[edge]);
    else
        return share;
}

// Calls visit(k, share of edge `begin` + k) for the edges [begin, begin + count), shared by a team's members. A member
// waits for several shares at a time; the only one of a CPU prefetches.
template <bool WEIGHTED, class T, class Visit>
INLINE void for_shares(const Team &team, const Csr &back, const uint64 *ratios, const T *shares, Index begin,
                       Index count, Visit visit) {
    if constexpr (ONE_MEMBER) {
        for (Index k = 0; k < count; ++k) {
            const Index edge = begin + k, far = edge + AHEAD < back.edges ? edge + AHEAD : edge;
            prefetch(shares + back.targets[far]);
            visit(k, share_of_edge<WEIGHTED>(shares, back.targets[edge], ratios, edge));
        }
    } else {
        team.for_members([&](int member) {
            for (Index first = member; first < count; first += SIDE_BY_SIDE * TEAM_SIZE) {
                int32 sources[SIDE_BY_SIDE];
                uint64 found[SIDE_BY_SIDE];
                for (int n = 0; n < SIDE_BY_SIDE; ++n) {
                    const Index k = first + n * TEAM_SIZE;
                    sources[n] = k < count ? back.targets[begin + k] : -1;
                }
                for (int n = 0; n < SIDE_BY_SIDE; ++n)
                    if (sources[n] >= 0)
                        found[n] = share_of_edge<WEIGHTED>(shares, sources[n], ratios, begin + first + n * TEAM_SIZE);
                for (int n = 0; n < SIDE_BY_SIDE; ++n)
                    if (sources[n] >= 0)
                        visit(first + n * TEAM_SIZE, found[n]);
            }
        });
    }
}

// Where the sum of the first k shares of a tile is.
INLINE Index sum_place(Index k) { return ONE_MEMBER ? k : k + k / PAD; }

// Sets the place of each k from 0 to `count` to the sum of the first k shares of a tile. A barrier follows.
template <bool WEIGHTED, class T>
INLINE void find_sums(const Team &team, const Csr &back, const uint64 *ratios, const T *shares, Index begin,
                      Index count, PullSpace &space) {
    if constexpr (ONE_MEMBER) {
        uint64 sum = 0;
        space.sums[0] = 0;
        for_shares<WEIGHTED>(team, back, ratios, shares, begin, count,
                             [&](Index k, uint64 share) { space.sums[k + 1] = sum += share; });
        return;
    }
    for_shares<WEIGHTED>(team, back, ratios, shares, begin, count,
                         [&](Index k, uint64 share) { space.sums[sum_place(k)] = share; });
    team.for_members([&](int member) {
        uint64 sum = 0;
        for (int n = 0; n < SCANNED; ++n)
            sum += member * SCANNED + n < count ? space.sums[sum_place(member * SCANNED + n)] : 0;
        space.partial[member] = int64(sum);
    });
    team.scan(space.partial, space.of_warp);
    team.for_members([&](int member) {
        uint64 sum = member > 0 ? uint64(space.partial[member - 1]) : 0;
        for (int n = 0; n < SCANNED; ++n) {
            const Index k = member * SCANNED + n;
            if (k > count)
                break;
            const uint64 share = space.sums[sum_place(k)];
            space.sums[sum_place(k)] = sum;
            sum += share;
        }
    });
}

// Pulls the shares of a tile's rows, apart from a long one.
template <bool WEIGHTED, class T>
INLINE void pull_tile(const Team &team, const Iteration<T> &iteration, const Csr &back, const uint64 *ratios,
                      const RowTiles &tiles, Index tile, PullSpace &space, RankSums &sums) {
    const Index first = tiles.first_rows[tile];
    Index last = tiles.first_rows[tile + 1];
    if (last > first && back.degree(last - 1) > RANK_TILE)
        --last;
    if (last == first)
        return;
    const Index begin = back.begin(first);
    find_sums<WEIGHTED>(team, back, ratios, iteration.shares, begin, back.begin(last) - begin, space);
    for (const Index v : team.share(Piece{first, last})) {
        const Index from = sum_place(back.begin(v) - begin), to = sum_place(back.end(v) - begin);
        iteration.leave(v, space.sums[to] - space.sums[from], sums);
    }
    team.barrier();
}

// Adds the shares of a chunk of a long row to its sum.
template <bool WEIGHTED, class T>
INLINE void pull_chunk(const Team &team, const Iteration<T> &iteration, const Csr &back, const uint64 *ratios,
                       const RowTiles &tiles, Index chunk, PullSpace &space) {
    const Index row = tiles.chunk_rows[chunk], begin = tiles.chunk_begins[chunk];
    const Index rest = back.end(tiles.long_rows[row]) - begin, count = rest < RANK_TILE ? rest : RANK_TILE;
    uint64 sum = 0;
    for_shares<WEIGHTED>(team, back, ratios, iteration.shares, begin, count,
                         [&](Index, uint64 share) { sum += share; });
    if constexpr (!ONE_MEMBER) {
        team.for_members([&](int member) { space.partial[member] = int64(sum); });
        team.scan(space.partial, space.of_warp);
        sum = uint64(space.partial[TEAM_SIZE - 1]);
    }
    if (team.leads())
        atomic_add(tiles.long_sums + row, sum);
    team.barrier();
}

// One task of an iteration: a tile, or a chunk of a long row.
template <class T>
INLINE void pull_task(const Team &team, const Iteration<T> &iteration, const Csr &back, const uint64 *ratios,
                      const RowTiles &tiles, Index task, PullSpace &space, RankSums &sums) {
    if (task >= tiles.tiles) {
        if (ratios != nullptr)
            pull_chunk<true>(team, iteration, back, ratios, tiles, task - tiles.tiles, space);
        else
            pull_chunk<false>(team, iteration, back, ratios, tiles, task - tiles.tiles, space);
    } else if (ratios != nullptr) {
        pull_tile<true>(team, iteration, back, ratios, tiles, task, space, sums);
    } else {
        pull_tile<false>(team, iteration, back, ratios, tiles, task, space, sums);
    }
}

// Ends an iteration, by one team, when all tasks are done: the long rows are summed.
INLINE void end_pull(const Team &team, const PageRank &rank, const RowTiles &tiles, PullSpace &space) {
    RankSums sums;
    with_iteration(rank, [&](const auto &iteration) {
        for (const Index row : team.share(Piece{0, tiles.long_count})) {
            iteration.leave(tiles.long_rows[row], racing_load(tiles.long_sums + row), sums);
            tiles.long_sums[row] = 0;
        }
    });
    add_sums(team, rank, sums, space.partial, space.of_warp);
    team.barrier();
    if (team.leads())
        end_iteration(rank);
}
