// Passes with large records, for the cavities of a round that overflowed smaller ones: few of them, which many teams
// run without launches in between.
#include "portable/grid.cuh"
#include "refine/rounds/groups.cuh"
#include "refine/rounds/run_rounds.cuh"

// Does nothing if no pass of this level, 1 or more, is due.
COOPERATIVE_TEAM_KERNEL(large_passes, int32 level, Mesh mesh, Limits limits, Cavities cavities, Capacity capacity,
                        SingleBlock most, int32 small_mesh, int32 *first, int32 *second, int32 *roots, int32 *fresh,
                        int32 *inherited, uint8 *flags, int32 *requested, int32 *surveyed, int32 *needs,
                        int32 *appended, int64 *counts, int64 *history, int32 *progress) {
    const RoundArrays arrays = {{first, second}, roots,     fresh,    inherited, flags,
                                history,         requested, surveyed, needs,     appended};
    if (progress[LARGE_LEVEL] == level)
        run_rounds(LargeTeams{launch.grid(), most}, level, mesh, limits, cavities, capacity, small_mesh, arrays, counts,
                   progress);
    else if (launch.grid().leads() && level <= progress[LARGE_STEPS])
        leave_rounds(progress, false); // the steps of a pass with launches follow
}
