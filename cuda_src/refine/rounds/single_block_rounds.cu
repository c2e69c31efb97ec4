// Single-block rounds, too small for many teams.
#include "refine/rounds/single_block_rounds.cuh"

TEAM_KERNEL(single_block_rounds, Mesh mesh, Limits limits, Cavities cavities, Capacity capacity, SingleBlock single_block, int32 small_mesh,
            int32 *first, int32 *second, int32 *roots, int32 *fresh, int32 *inherited, uint8 *flags, int64 *counts,
            int64 *history, int32 *progress) {
    FOR_TEAMS (team)
        run_single_block_rounds(mesh, limits, cavities, BadList{first, second}, capacity, single_block, small_mesh, roots, fresh, inherited,
                                flags, counts, history, progress);
}
