// Growing the cavities of a pass.
#include "growth.cuh"
#include "ownership.cuh"

// Grows the cavity of each candidate that is a triangle; where `only_damaged` is 1, of those that another cavity has
// changed, and no others. Where a `stamp` is given, each claims what it would delete at once (ownership.cuh). What needs
// exact arithmetic may be deferred.
CROWDED_KERNEL(grow_cavities, Mesh mesh, Limits limits, Cavities cavities, Count segments, int32 only_damaged, Count stamp) {
    FOR_RANGE (i) {
        if (i < segments || (only_damaged && cavities.outcomes[i] != DAMAGED))
            continue;
        prefetch_surroundings(cavities.roots, i, range_end, mesh.triangles, mesh.points);
        const Outcome outcome = grow_triangle_candidate<LATER_ON_GPU>(mesh, limits, cavities, i);
        if (stamp != 0 && outcome != DEFERRED)
            claim_cavity(mesh, cavities, i, segments, uint32(stamp), outcome);
    }
}

// The rest: subsegments, and what was deferred.
KERNEL(grow_the_rest, Mesh mesh, Limits limits, Cavities cavities, Count segments, int32 only_damaged, Count stamp) {
    FOR_RANGE (i) {
        if (i < segments ? only_damaged && cavities.outcomes[i] != DAMAGED : cavities.outcomes[i] != DEFERRED)
            continue;
        const Outcome outcome = grow_candidate(mesh, limits, cavities, i, segments, only_damaged != 0);
        if (stamp != 0)
            claim_cavity(mesh, cavities, i, segments, uint32(stamp), outcome);
    }
}

// What had no room may have some when all else is done.
KERNEL(clear_unsplittable, int32 *wishes) {
    FOR_RANGE (s)
        if (wishes[s] == UNSPLITTABLE)
            wishes[s] = NO_WISH;
}
