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
constexpr int KNOWN_TASKS = 32, KNOWN_LONG_ROWS = int(TEAM_SIZE); // see PullSpace

// Shared memory of a team. It keeps what the iterations of a cooperative launch would load again, and wait for.
struct PullSpace {
    uint64 sums[2 * RANK_TILE + 2 * RANK_TILE / PAD];
    int64 of_warp[Team::WARPS];
    RowTask tasks[KNOWN_TASKS];       // the first ones of the team
    int32 long_rows[KNOWN_LONG_ROWS]; // the nodes of the first long rows
    MeetingSpace meeting;
};

// The share that reaches a node along an edge of the transposed graph, from the share of its source.
template <bool WEIGHTED, class T> INLINE uint64 share_of_edge(T share, const uint64 *ratios, int32 edge) {
    if constexpr (WEIGHTED)
        return part_of(units_of(share), ratios[edge]);
    else
        return units_of(share);
}

// Calls visit(k, share of edge `begin` + k) for the edges [begin, begin + count), shared by a team's members. A member
// waits for several shares at a time, and visits a multiple of LOADS, with shares of 0 beyond the last edge; the only
// one of a CPU prefetches.
template <bool WEIGHTED, class I, class Visit>
INLINE void for_shares(const Team &team, const Csr &back, const uint64 *ratios, const I &iteration, Index begin,
                       int32 count, Visit visit) {
    const int32 *const sources = back.targets + begin;
    const uint64 *const edge_ratios = WEIGHTED ? ratios + begin : nullptr;
    if constexpr (ONE_MEMBER) {
        const auto *const shares = iteration.shares; // in a register, which no store of a sum can change
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
                decltype(iteration.share(0)) share[LOADS];
                for (int n = 0; n < LOADS; ++n)
                    source[n] = first + n * TEAM_SIZE < count ? iteration.source(sources + first + n * TEAM_SIZE) : -1;
                for (int n = 0; n < LOADS; ++n)
                    share[n] = source[n] >= 0 ? iteration.share(source[n]) : 0;
                for (int n = 0; n < LOADS; ++n) {
                    const int32 k = first + n * TEAM_SIZE;
                    visit(k, source[n] >= 0 ? share_of_edge<WEIGHTED>(share[n], edge_ratios, k) : 0);
                }
            }
        });
    }
}

// The place of the sum of the first k shares of a tile.
INLINE int32 sum_place(int32 k) { return ONE_MEMBER ? k : k + int32(uint32(k) / PAD); }

// Replaces shares by their prefix sums; each member takes ITEMS neighbouring ones.
template <int ITEMS> INLINE void scan_shares(const Team &team, PullSpace &space) {
    static_assert(ITEMS % PAD == 0, "the places of a member's items follow from that of the first one");
    team.for_members([&](int member) {
        uint64 *const mine = space.sums + sum_place(member * ITEMS);
        uint64 items[ITEMS], all = 0;
        for (int n = 0; n < ITEMS; ++n)
            all += items[n] = mine[sum_place(n)];
        uint64 sum = uint64(team.sum_before(int64(all), space.of_warp));
        for (int n = 0; n < ITEMS; ++n) {
            mine[sum_place(n)] = sum;
            sum += items[n];
        }
    });
}

// Sets the place of each k from 0 to `count` to the sum of the first k shares of a tile. A barrier follows.
template <bool WEIGHTED, class I>
INLINE void find_sums(const Team &team, const Csr &back, const uint64 *ratios, const I &iteration, Index begin,
                      int32 count, PullSpace &space) {
    if constexpr (ONE_MEMBER) {
        uint64 sum = 0;
        space.sums[0] = 0;
        for_shares<WEIGHTED>(team, back, ratios, iteration, begin, count,
                             [&](int32 k, uint64 share) { space.sums[k + 1] = sum += share; });
        return;
    }
    for_shares<WEIGHTED>(team, back, ratios, iteration, begin, count,
                         [&](int32 k, uint64 share) { space.sums[sum_place(k)] = share; });
    if (count < MOST_SCANNED / 2 * TEAM_SIZE)
        scan_shares<MOST_SCANNED / 2>(team, space);
    else
        scan_shares<MOST_SCANNED>(team, space);
}

// Pulls the shares of a tile's rows, apart from a long one. What is needed of a member's first row is loaded with the
// shares: a GPU waits for both at once.
template <bool WEIGHTED, bool EVEN, class I>
INLINE void pull_tile(const Team &team, const I iteration, const Csr back, const uint64 *ratios, const RowTask &tile,
                      PullSpace &space, RankSums &sums) {
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
    find_sums<WEIGHTED>(team, back, ratios, iteration, tile.begin, tile.edges, space);
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
template <bool WEIGHTED, class I>
INLINE void pull_chunk(const Team &team, const I &iteration, const Csr &back, const uint64 *ratios,
                       const RowTask &chunk, uint64 *long_sums, PullSpace &space) {
    uint64 sum = 0;
    for_shares<WEIGHTED>(team, back, ratios, iteration, chunk.begin, chunk.edges,
                         [&](int32, uint64 share) { sum += share; });
    sum += uint64(team.sum_before(int64(sum), space.of_warp));
    if (team.is_last())
        atomic_add(long_sums + chunk.long_row, sum);
    team.barrier();
}

// One task of an iteration.
template <class I>
INLINE void pull_task(const Team &team, const I &iteration, const Csr &back, const uint64 *ratios, const RowTask &task,
                      uint64 *long_sums, PullSpace &space, RankSums &sums) {
    if (task.long_row >= 0) {
        if (ratios != nullptr)
            pull_chunk<true>(team, iteration, back, ratios, task, long_sums, space);
        else
            pull_chunk<false>(team, iteration, back, ratios, task, long_sums, space);
    } else if (ratios != nullptr) {
        pull_tile<true, false>(team, iteration, back, ratios, task, space, sums);
    } else if (ONE_MEMBER && iteration.is_even()) { // a CPU has fewer registers
        pull_tile<false, true>(team, iteration, back, ratios, task, space, sums);
    } else {
        pull_tile<false, false>(team, iteration, back, ratios, task, space, sums);
    }
}

// Copies up to KNOWN_TASKS tasks of a team of a cooperative launch, from its task `first` on, to its shared memory; a
// barrier must follow.
INLINE void keep_tasks(const Grid &grid, const RowTasks &tasks, Index first, PullSpace &space) {
    for (const Index k : Team::share(Piece{0, KNOWN_TASKS})) {
        const Index task = grid.team().number + (first + k) * grid.teams();
        if (task < tasks.count)
            space.tasks[k] = tasks.list[task];
    }
}

// Calls visit(team, task) for the tasks of a team of a cooperative launch. If there are at most KNOWN_TASKS, a GPU's
// team has them in its shared memory already.
template <class Visit> INLINE void for_tasks(const Grid &grid, const RowTasks &tasks, PullSpace &space, Visit visit) {
    if constexpr (ONE_MEMBER) {
        for (const Team team : grid.tasks(tasks.count))
            visit(team, tasks.list[team.number]);
        return;
    }
    const Team team = grid.team();
    const Index all = (tasks.count - team.number + grid.teams() - 1) / grid.teams();
    for (Index first = 0; first < all; first += KNOWN_TASKS) {
        if (all > KNOWN_TASKS) {
            keep_tasks(grid, tasks, first, space);
            team.barrier();
        }
        for (int32 k = 0; k < KNOWN_TASKS && first + k < all; ++k)
            visit(team, space.tasks[k]);
    }
}

// Adds the sums of a team of a cooperative launch, in which additions of all teams to one place would queue.
INLINE void add_team_sums(const Team &team, const RowTasks &tasks, const RankSums &sums) {
    const RankSums all = sums_of_team(team, sums);
    if (team.leads()) {
        uint64 *const place = tasks.team_sums + 2 * (team.number % RANK_SUMS);
        atomic_add(place, all.change);
        atomic_add(place + 1, all.dangling);
    }
}

// Ends an iteration, by one team, when all tasks are done: leaves the long rows, and adds the sums of the teams. The
// result is that of end_iteration for the leader. `known` are the nodes of the first KNOWN_LONG_ROWS long rows, or
// null.
INLINE uint64 end_pull(const Team &team, const PageRank &rank, const RankProgress &progress, const RowTasks &tasks,
                       const int32 *known) {
    const RankEnd end = load_end(rank);
    RankSums sums;
    with_iteration(rank, progress, [&](const auto &iteration) {
        for (const Index row : team.share(Piece{0, tasks.long_count})) {
            const uint64 incoming = racing_load(tasks.long_sums + row); // a GPU waits for this and the next at once
            const int32 node = known != nullptr && row < KNOWN_LONG_ROWS ? known[row] : tasks.long_rows[row];
            iteration.leave(node, incoming, sums);
            tasks.long_sums[row] = 0;
        }
    });
    for (const Index place : team.share(Piece{0, RANK_SUMS})) { // one for each member of a GPU's team
        uint64 *const added = tasks.team_sums + 2 * place;
        sums.change += racing_load(added);
        sums.dangling += racing_load(added + 1);
        added[0] = added[1] = 0;
    }
    const RankSums rest = sums_of_team(team, sums);
    return team.leads() ? end_iteration(rank, end, rest) : 0;
}

// Repeats iterations by all teams of a cooperative launch: pull(progress, sums) does this team's tasks.
template <class Pull>
INLINE void repeat_pull(const Grid &grid, const PageRank &rank, const RowTasks &tasks, PullSpace &space, Pull pull) {
    if constexpr (!ONE_MEMBER) {
        keep_tasks(grid, tasks, 0, space);
        for (const Index row : Team::share(Piece{0, KNOWN_LONG_ROWS}))
            if (row < tasks.long_count)
                space.long_rows[row] = tasks.long_rows[row];
    }
    const uint64 first = grid.begin_meetings(tasks.meeting, space.meeting, [&] {
        const RankProgress progress = load_progress(rank);
        space.of_warp[0] = progress.iterations;
        return progress.ended ? RANK_ENDED : progress.dangling_mass;
    });
    RankProgress progress{int32(space.of_warp[0]), first == RANK_ENDED, first};
    grid.team().barrier();
    while (!progress.ended) {
        RankSums sums;
        pull(progress, sums);
        add_team_sums(grid.team(), tasks, sums);
        const uint64 next = grid.barrier_with(tasks.meeting, space.meeting, [&] {
            return end_pull(grid.team(), rank, progress, tasks, ONE_MEMBER ? nullptr : space.long_rows);
        });
        progress = {progress.iterations + 1, next == RANK_ENDED, next};
    }
}
