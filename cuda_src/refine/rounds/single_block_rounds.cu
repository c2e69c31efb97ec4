// Single-block rounds, too small for many teams: one team runs them one after the other, without launches in between.
//
// The tail of a refinement is some hundred rounds of a few cavities each, and the beginning is the same for
// subsegments. Launch overhead dominates there.
#include "refine/rounds/groups.cuh"
#include "refine/rounds/run_rounds.cuh"

// Leaves the ranges of a larger round that is to follow. Meanwhile the team's `progress` and `counts` are in its shared
// memory.
TEAM_KERNEL(single_block_rounds, Mesh mesh, Limits limits, Cavities cavities, Capacity capacity,
            SingleBlock single_block, int32 small_mesh, int32 *first, int32 *second, int32 *roots, int32 *fresh,
            int32 *inherited, uint8 *flags, int64 *all_counts, int64 *history, int32 *all_progress) {
    TEAM_SHARED(int32, progress, PROGRESS_ENTRIES);
    TEAM_SHARED(int64, counts, OUTCOMES + 1);
    const RoundArrays arrays = {{first, second}, roots,   fresh,   inherited, flags,
                                history,         nullptr, nullptr, nullptr,   nullptr};
    for (const Team team : launch.teams()) {
        for (const Index entry : team.share({0, PROGRESS_ENTRIES}))
            progress[entry] = all_progress[entry];
        for (const Index outcome : team.share({0, OUTCOMES + 1}))
            counts[outcome] = all_counts[outcome];
        run_rounds(Block{team, single_block}, 0, mesh, limits, cavities, capacity, small_mesh, arrays, counts,
                   progress);
        team.barrier();
        for (const Index entry : team.share({0, PROGRESS_ENTRIES}))
            all_progress[entry] = progress[entry];
        for (const Index outcome : team.share({0, OUTCOMES + 1}))
            all_counts[outcome] = counts[outcome];
    }
}
