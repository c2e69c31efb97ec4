// PageRank by pull: each node sums the shares of its predecessors, along the rows of the transposed graph.
//
// A team loads the shares of a tile of rows (tiles.cuh), turns them into prefix sums, and gets the sum of a row as a
// difference of two of them. This is exact, because the sums are integers modulo 2^64, and it needs no branch for the
// end of a row: every member has independent loads to wait for, however long the rows are.
#pragma once

#include "graph/pagerank/iteration.cuh"
#include "graph/pagerank/tiles.cuh"

constexpr int MOST_SCANNED = int(2 * RANK_TILE / TEAM_SIZE); // prefix sums per member
constexpr int PAD = 8;      // words between two unused ones: neighbouring members use other banks of shared memory
constexpr int LOADS = 8;    // shares that a member of a GPU waits for together
constexpr Index AHEAD = 64; // edges: a CPU prefetches their shares

// Shared memory of a team.
struct PullSpace {
    uint64 sums[2 * RANK_TILE + 2 * RANK_TILE / PAD];
    int64 partial[TEAM_SIZE], of_warp[Team::WARPS];
    int32 flag;
};

// The share that reaches a node along an edge of the transposed graph, from the share of its source.
template <bool WEIGHTED, class T> INLINE uint64 share_of_edge(T share, const uint64 *ratios, int32 edge) {
    if constexpr (WEIGHTED)
        return part_of(units_of(share), ratios[edge]);
    else
        return units_of(share);
}

// Calls visit(k, share of edge `begin` + k) for the edges [begin, begin + count), shared by a team's members. A member
// waits for several shares at a time; the only one of a CPU prefetches.
template <bool WEIGHTED, class T, class Visit>
INLINE void for_shares(const Team &team, const Csr &back, const uint64 *ratios, const T *shares, Index begin,
                       int32 count, Visit visit) {
    const int32 *const sources = back.targets + begin;
    const uint64 *const edge_ratios = WEIGHTED ? ratios + begin : nullptr;
    if constexpr (ONE_MEMBER) {
        const auto add = [&](int32 k) { visit(k, share_of_edge<WEIGHTED>(shares[sources[k]], edge_ratios, k)); };
        const Index known = back.edges - begin - AHEAD; // edges for which the one to prefetch exists
        const int32 prefetched = int32(known < 0 ? 0 : known < count ? known : count);
        for (int32 k = 0; k < prefetched; ++k) {
            prefetch(shares + sources[k + AHEAD]);
            add(k);
        }
        for (int32 k = prefetched; k < count; ++k)
            add(k);
    } else {
        team.for_members([&](int member) {
            for (int32 first = member; first < count; first += LOADS * TEAM_SIZE) {
                int32 source[LOADS];
                T share[LOADS];
                for (int n = 0; n < LOADS; ++n)
                    source[n] = first + n * TEAM_SIZE < count ? sources[first + n * TEAM_SIZE] : -1;
                for (int n = 0; n < LOADS; ++n)
                    share[n] = source[n] >= 0 ? shares[source[n]] : T(0);
                for (int n = 0; n < LOADS; ++n)
                    if (source[n] >= 0)
                        visit(first + n * TEAM_SIZE,
                              share_of_edge<WEIGHTED>(share[n], edge_ratios, first + n * TEAM_SIZE));
            }
        });
    }
}

// Where the sum of the first k shares of a tile is.
INLINE int32 sum_place(int32 k) { return ONE_MEMBER ? k : k + k / PAD; }

// Replaces `count` shares by their prefix sums, and adds the sum of all; each member takes ITEMS neighbouring ones.
template <int ITEMS> INLINE void scan_shares(const Team &team, int32 count, PullSpace &space) {
    uint64 items[ITEMS];
    team.for_members([&](int member) {
        uint64 sum = 0;
        for (int n = 0; n < ITEMS; ++n) {
            const int32 k = member * ITEMS + n;
            items[n] = k < count ? space.sums[sum_place(k)] : 0;
            sum += items[n];
        }
        space.partial[member] = int64(sum);
    });
    team.scan(space.partial, space.of_warp);
    team.for_members([&](int member) {
        uint64 sum = member > 0 ? uint64(space.partial[member - 1]) : 0;
        for (int n = 0; n < ITEMS; ++n) {
            const int32 k = member * ITEMS + n;
            if (k <= count)
                space.sums[sum_place(k)] = sum;
            sum += items[n];
        }
    });
}

// Sets the place of each k from 0 to `count` to the sum of the first k shares of a tile. A barrier follows.
template <bool WEIGHTED, class T>
INLINE void find_sums(const Team &team, const Csr &back, const uint64 *ratios, const T *shares, Index begin,
                      int32 count, PullSpace &space) {
    if constexpr (ONE_MEMBER) {
        uint64 sum = 0;
        space.sums[0] = 0;
        for_shares<WEIGHTED>(team, back, ratios, shares, begin, count,
                             [&](int32 k, uint64 share) { space.sums[k + 1] = sum += share; });
        return;
    }
    for_shares<WEIGHTED>(team, back, ratios, shares, begin, count,
                         [&](int32 k, uint64 share) { space.sums[sum_place(k)] = share; });
    if (count < MOST_SCANNED / 2 * TEAM_SIZE)
        scan_shares<MOST_SCANNED / 2>(team, count, space);
    else
        scan_shares<MOST_SCANNED>(team, count, space);
}

// Pulls the shares of a tile's rows, apart from a long one. What is needed of a member's first row is loaded with the
// shares: a GPU waits for both at once.
template <bool WEIGHTED, bool EVEN, class T>
INLINE void pull_tile(const Team &team, const Iteration<T> iteration, const Csr back, const uint64 *ratios,
                      const RowTile &tile, PullSpace &space, RankSums &sums) {
    struct Row {
        int32 from, to;
        RankedNode node;
    };
    const auto load = [&](Index v) {
        return Row{sum_place(int32(back.begin(v) - tile.begin)), sum_place(int32(back.end(v) - tile.begin)),
                   iteration.load(v)};
    };
    const auto rows = team.share(Piece{tile.first, tile.last});
    auto row = rows.begin();
    Row loaded = {};
    if (row != rows.end())
        loaded = load(*row);
    find_sums<WEIGHTED>(team, back, ratios, iteration.shares, tile.begin, tile.edges, space);
    RankSums own; // in registers of a CPU, which no store of a score can change
    while (row != rows.end()) {
        iteration.template leave<EVEN>(*row, loaded.node, space.sums[loaded.to] - space.sums[loaded.from], own);
        ++row;
        if (row != rows.end())
            loaded = load(*row);
    }
    sums.change += own.change;
    sums.dangling += own.dangling;
    team.barrier();
}

// Adds the shares of a chunk of a long row to its sum.
template <bool WEIGHTED, class T>
INLINE void pull_chunk(const Team &team, const Iteration<T> &iteration, const Csr &back, const uint64 *ratios,
                       const RowTiles &tiles, Index chunk, PullSpace &space) {
    const Index row = tiles.chunk_rows[chunk], begin = tiles.chunk_begins[chunk];
    const Index rest = back.end(tiles.long_rows[row]) - begin;
    const int32 count = int32(rest < RANK_TILE ? rest : RANK_TILE);
    uint64 sum = 0;
    for_shares<WEIGHTED>(team, back, ratios, iteration.shares, begin, count,
                         [&](int32, uint64 share) { sum += share; });
    if constexpr (!ONE_MEMBER) {
        team.for_members([&](int member) { space.partial[member] = int64(sum); });
        team.scan(space.partial, space.of_warp);
        sum = uint64(space.partial[TEAM_SIZE - 1]);
    }
    if (team.leads())
        atomic_add(tiles.long_sums + row, sum);
    team.barrier();
}

// One task of an iteration: a chunk of a long row, or a tile.
template <class T>
INLINE void pull_task(const Team &team, const Iteration<T> &iteration, const Csr &back, const uint64 *ratios,
                      const RowTiles &tiles, Index task, PullSpace &space, RankSums &sums) {
    const Index tile = task - tiles.chunks;
    if (tile < 0) {
        if (ratios != nullptr)
            pull_chunk<true>(team, iteration, back, ratios, tiles, task, space);
        else
            pull_chunk<false>(team, iteration, back, ratios, tiles, task, space);
    } else if (ratios != nullptr) {
        pull_tile<true, false>(team, iteration, back, ratios, tiles.tiles[tile], space, sums);
    } else if (ONE_MEMBER && iteration.is_even()) { // a CPU has fewer registers
        pull_tile<false, true>(team, iteration, back, ratios, tiles.tiles[tile], space, sums);
    } else {
        pull_tile<false, false>(team, iteration, back, ratios, tiles.tiles[tile], space, sums);
    }
}

// Adds the sums of a team of a cooperative launch, in which additions of all teams to one place would queue.
INLINE void add_team_sums(const Team &team, const RowTiles &tiles, const RankSums &sums) {
    const RankSums all = sums_of_team(team, sums);
    if (team.leads()) {
        uint64 *const place = tiles.team_sums + 2 * (team.number % RANK_SUMS);
        atomic_add(place, all.change);
        atomic_add(place + 1, all.dangling);
    }
}

// Ends an iteration, by one team, when all tasks are done: leaves the long rows, and adds the sums of the teams.
INLINE void end_pull(const Team &team, const PageRank &rank, const RankProgress &progress, const RowTiles &tiles) {
    const RankEnd end = load_end(rank);
    RankSums sums;
    with_iteration(rank, progress, [&](const auto &iteration) {
        for (const Index row : team.share(Piece{0, tiles.long_count})) {
            const uint64 incoming = racing_load(tiles.long_sums + row); // a GPU waits for this and the next at once
            iteration.leave(tiles.long_rows[row], incoming, sums);
            tiles.long_sums[row] = 0;
        }
    });
    for (const Index place : team.share(Piece{0, RANK_SUMS})) { // one for each member of a GPU's team
        uint64 *const added = tiles.team_sums + 2 * place;
        sums.change += racing_load(added);
        sums.dangling += racing_load(added + 1);
        added[0] = added[1] = 0;
    }
    const RankSums rest = sums_of_team(team, sums);
    if (team.leads())
        end_iteration(rank, end, rest);
}

// Repeats iterations by all teams of a cooperative launch: pull(progress, sums) does this team's tasks.
template <class Pull>
INLINE void repeat_pull(const Grid &grid, const PageRank &rank, const RowTiles &tiles, PullSpace &space, Pull pull) {
    for (RankProgress progress = load_progress(rank); !progress.ended; progress = load_progress(rank)) {
        RankSums sums;
        pull(progress, sums);
        add_team_sums(grid.team(), tiles, sums);
        grid.barrier_with(tiles.meeting, &space.flag, [&] { end_pull(grid.team(), rank, progress, tiles); });
    }
}
