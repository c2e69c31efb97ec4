// Single-block rounds, too small for many teams.
#include "refine/rounds/small_rounds.cuh"

TEAM_KERNEL(small_rounds, Mesh mesh, Limits limits, Cavities cavities, Room room, Small small, int32 small_mesh,
            int32 *even, int32 *odd, int32 *roots, int32 *fresh, int32 *inherited, uint8 *flags, int64 *counts,
            int64 *history, int32 *progress) {
    FOR_TEAMS (team)
        go_through_small_rounds(mesh, limits, cavities, BadList{even, odd}, room, small, small_mesh, roots, fresh, inherited,
                                flags, counts, history, progress);
}
