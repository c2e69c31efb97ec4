// Rounds of a persistent kernel: too large for one team, and too small to be worth one launch per step. Teams that all
// run at once process them, and wait at grid barriers instead of ends of launches.
//
// A round of a thousand cavities takes some 16 launches of 3 to 8 microseconds each, most of which is launch overhead.
//
// Rounds with so few candidates that one team is faster are left to single_block_rounds (single_block_rounds.cu), which
// follows: the same code in this kernel, too, would cost it registers, and double the time that nvcc takes.
#include "portable/grid.cuh"
#include "refine/rounds/groups.cuh"
#include "refine/rounds/run_rounds.cuh"

COOPERATIVE_TEAM_KERNEL(persistent_rounds, Mesh mesh, Limits limits, Cavities cavities, Capacity capacity,
                        Persistent persistent, int32 small_mesh, int32 *first, int32 *second, int32 *roots,
                        int32 *fresh, int32 *inherited, uint8 *flags, int32 *requested, int32 *surveyed, int32 *needs,
                        int32 *appended, int64 *counts, int64 *history, int32 *progress) {
    const RoundArrays arrays = {{first, second}, roots,     fresh,    inherited, flags,
                                history,         requested, surveyed, needs,     appended};
    if (progress[BEGINS])
        run_rounds(AllTeams{launch.grid(), persistent}, 0, mesh, limits, cavities, capacity, small_mesh, arrays, counts,
                   progress);
}
