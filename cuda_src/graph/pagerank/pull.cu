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
        end_pull(team, rank, load_progress(rank), tiles);
}

// All iterations, or as many as fit in a SLICE of time, with one barrier of all teams per iteration.
MEDIUM_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(pull_iterations, PageRank rank, Csr back, const uint64 *ratios,
                                         RowTiles tiles) {
    TEAM_SHARED(PullSpace, space, 1);
    repeat_pull(launch.grid(), rank, tiles, *space, [&](const RankProgress &progress, RankSums &sums) {
        with_iteration(rank, progress, [&](const auto &iteration) {
            for (const Team team : launch.grid().tasks(tiles.tasks()))
                pull_task(team, iteration, back, ratios, tiles, team.number, *space, sums);
        });
    });
}

// The same for the commonest case: no weights, shares of 64 bits, and all nodes alike (Iteration::is_even). A separate
// kernel spills fewer registers.
MEDIUM_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(pull_even_iterations, PageRank rank, Csr back, RowTiles tiles) {
    TEAM_SHARED(PullSpace, space, 1);
    repeat_pull(launch.grid(), rank, tiles, *space, [&](const RankProgress &progress, RankSums &sums) {
        const auto iteration = fixed_iteration(rank, progress);
        for (const Team team : launch.grid().tasks(tiles.tasks()))
            if (team.number < tiles.chunks)
                pull_chunk<false>(team, iteration, back, nullptr, tiles, team.number, *space);
            else
                pull_tile<false, true>(team, iteration, back, nullptr, tiles.tiles[team.number - tiles.chunks], *space,
                                       sums);
    });
}

// Begins a launch of pull_iterations.
KERNEL(begin_slice, PageRank rank) {
    for ([[maybe_unused]] const Index once : launch) {
        rank.totals[RANK_SLICE] = uint64(nanoseconds());
        rank.progress[RANK_PAUSED] = 0;
    }
}
