// PageRank by pull (pull.cuh): one launch per iteration, or one for all of them.
#include "graph/pagerank/pull.cuh"

TEAM_KERNEL(pull_shares, PageRank rank, Csr back, const uint64 *ratios, RowTiles tiles) {
    TEAM_SHARED(PullSpace, space, 1);
    RankSums sums;
    Team last{0};
    with_iteration(rank, [&](const auto &iteration) {
        for (const Team team : launch.teams()) {
            pull_task(team, iteration, back, ratios, tiles, team.number, *space, sums);
            last = team;
        }
    });
    add_sums(last, rank, sums);
}

TEAM_KERNEL(end_pulled_iteration, PageRank rank, RowTiles tiles) {
    for (const Team team : launch.teams())
        end_pull(team, rank, tiles);
}

// All iterations, or as many as fit in a SLICE of time, with one barrier of all teams per iteration.
HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(pull_iterations, PageRank rank, Csr back, const uint64 *ratios, RowTiles tiles) {
    TEAM_SHARED(PullSpace, space, 1);
    const Grid grid = launch.grid();
    for (RankProgress progress = load_progress(rank); !progress.ended; progress = load_progress(rank)) {
        RankSums sums;
        with_iteration(rank, progress, [&](const auto &iteration) {
            for (const Team team : grid.tasks(tiles.tasks()))
                pull_task(team, iteration, back, ratios, tiles, team.number, *space, sums);
        });
        add_team_sums(grid.team(), tiles, sums);
        grid.barrier_with(tiles.meeting, &space->flag, [&] { end_pull(grid.team(), rank, tiles); });
    }
}

// Begins a launch of pull_iterations.
KERNEL(begin_slice, PageRank rank) {
    for ([[maybe_unused]] const Index once : launch) {
        rank.totals[RANK_SLICE] = uint64(nanoseconds());
        rank.progress[RANK_PAUSED] = 0;
    }
}
