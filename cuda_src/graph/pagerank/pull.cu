// PageRank by pull (pull.cuh): one launch per iteration, or one for all of them.
#include "graph/pagerank/pull.cuh"

TEAM_KERNEL(pull_shares, PageRank rank, Csr back, const uint64 *ratios, RowTasks tasks) {
    TEAM_SHARED(PullSpace, space, 1);
    RankSums sums;
    Team last{0};
    with_iteration(rank, [&](const auto &iteration) {
        for (const Team team : launch.teams()) {
            pull_task(team, iteration, back, ratios, tasks.list[team.number], tasks.long_sums, *space, sums);
            last = team;
        }
    });
    add_sums(last, rank, sums);
}

TEAM_KERNEL(end_pulled_iteration, PageRank rank, RowTasks tasks) {
    for (const Team team : launch.teams())
        end_pull(team, rank, load_progress(rank), tasks, nullptr);
}

// All iterations, or as many as fit in a SLICE of time, with one barrier of all teams per iteration.
template <bool CACHED>
INLINE void pull_all(const Grid &grid, const PageRank &rank, const Csr &back, const uint64 *ratios,
                     const RowTasks &tasks, PullSpace &space) {
    repeat_pull(grid, rank, tasks, space, [&](const RankProgress &progress, RankSums &sums) {
        with_iteration<CACHED>(rank, progress, [&](const auto &iteration) {
            for_tasks(grid, tasks, space, [&](const Team &team, const RowTask &task) {
                pull_task(team, iteration, back, ratios, task, tasks.long_sums, space, sums);
            });
        });
    });
}

// The same for the commonest case: no weights, shares of 64 bits, and all nodes alike (Iteration::is_even). A separate
// kernel spills fewer registers.
template <bool CACHED>
INLINE void pull_all_evenly(const Grid &grid, const PageRank &rank, const Csr &back, const RowTasks &tasks,
                            PullSpace &space) {
    repeat_pull(grid, rank, tasks, space, [&](const RankProgress &progress, RankSums &sums) {
        const auto iteration = fixed_iteration<CACHED>(rank, progress);
        for_tasks(grid, tasks, space, [&](const Team &team, const RowTask &task) {
            if (task.long_row >= 0)
                pull_chunk<false>(team, iteration, back, nullptr, task, tasks.long_sums, space);
            else
                pull_tile<false, true>(team, iteration, back, nullptr, task, space, sums);
        });
    });
}

MEDIUM_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(pull_iterations, PageRank rank, Csr back, const uint64 *ratios,
                                         RowTasks tasks) {
    TEAM_SHARED(PullSpace, space, 1);
    pull_all<false>(launch.grid(), rank, back, ratios, tasks, *space);
}

MEDIUM_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(pull_cached_iterations, PageRank rank, Csr back, const uint64 *ratios,
                                         RowTasks tasks) {
    TEAM_SHARED(PullSpace, space, 1);
    pull_all<true>(launch.grid(), rank, back, ratios, tasks, *space);
}

MEDIUM_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(pull_even_iterations, PageRank rank, Csr back, RowTasks tasks) {
    TEAM_SHARED(PullSpace, space, 1);
    pull_all_evenly<false>(launch.grid(), rank, back, tasks, *space);
}

MEDIUM_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(pull_even_cached_iterations, PageRank rank, Csr back, RowTasks tasks) {
    TEAM_SHARED(PullSpace, space, 1);
    pull_all_evenly<true>(launch.grid(), rank, back, tasks, *space);
}

// Begins a launch of one of the kernels above, which iterate until a slice of time is over.
KERNEL(begin_slice, PageRank rank) {
    for ([[maybe_unused]] const Index once : launch) {
        rank.totals[RANK_SLICE] = uint64(nanoseconds());
        rank.progress[RANK_PAUSED] = 0;
    }
}
