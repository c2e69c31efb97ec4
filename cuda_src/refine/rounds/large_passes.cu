// Passes with large records, for the cavities of a round that overflowed smaller ones. They are few, so one team runs
// the passes of one level one after the other.
#include "refine/rounds/groups.cuh"
#include "refine/rounds/run_rounds.cuh"

// Does nothing if no pass of this level, 1 or more, is due.
TEAM_KERNEL(large_passes, int32 level, Mesh mesh, Limits limits, Cavities cavities, Capacity capacity,
            SingleBlock single_block, int32 small_mesh, int32 *first, int32 *second, int32 *roots, int32 *fresh,
            int32 *inherited, uint8 *flags, int64 *all_counts, int64 *history, int32 *all_progress) {
    TEAM_SHARED(int32, progress, PROGRESS_ENTRIES);
    TEAM_SHARED(int64, counts, OUTCOMES + 1);
    const RoundArrays arrays = {{first, second}, roots,   fresh,   inherited, flags,
                                history,         nullptr, nullptr, nullptr,   nullptr};
    for (const Team team : launch.teams()) {
        if (all_progress[LARGE_LEVEL] == level)
            run_alone(LargeBlock{{team, single_block}}, level, mesh, limits, cavities, capacity, small_mesh, arrays,
                      counts, progress, all_counts, all_progress);
        else if (team.leads() && level <= all_progress[LARGE_STEPS])
            leave_rounds(all_progress, false); // the steps of a pass with many teams follow
    }
}
