// Grows the cavities of a pass.
#include "refine/cavity/growth.cuh"
#include "refine/marking/ownership.cuh"

// Grows the cavity of each candidate that is a triangle; if `only_damaged` is 1, only of those that another cavity has
// changed. If an epoch (`stamp`) is given, each cavity immediately claims what it would delete (ownership.cuh). Cases
// that need exact arithmetic may be deferred.
CROWDED_KERNEL(grow_cavities, Mesh mesh, Limits limits, Cavities cavities, Count segments, int32 only_damaged, Count stamp) {
    FOR_RANGE (i) {
        if (i < segments || (only_damaged && cavities.outcomes[i] != DAMAGED))
            continue;
        prefetch_surroundings(cavities.roots, i, range_end, mesh);
        prefetch_record(cavities, i + 4, range_end);
        const Outcome outcome = grow_triangle_candidate<LATER_ON_GPU>(mesh, limits, cavities, i);
        if (stamp != 0 && outcome != DEFERRED)
            claim_cavity(mesh, cavities, i, segments, uint32(stamp), outcome);
    }
}

// Grows the remaining cavities: subsegments, and deferred triangles with exact arithmetic.
KERNEL(grow_the_rest, Mesh mesh, Limits limits, Cavities cavities, Count segments, int32 only_damaged, Count stamp) {
    const auto claim = [&](Index i, Outcome outcome) {
        if (stamp != 0)
            claim_cavity(mesh, cavities, i, segments, uint32(stamp), outcome);
    };
    FOR_PART (i, range_begin, segments)
        if (!only_damaged || cavities.outcomes[i] == DAMAGED)
            claim(i, grow_segment_candidate(mesh, limits, cavities, i, only_damaged != 0));
    FOR_PART (i, segments, range_end)
        if (cavities.outcomes[i] == DEFERRED)
            claim(i, grow_triangle_candidate<AT_ONCE>(mesh, limits, cavities, i));
}

// Allows another attempt at subsegments that had no room for a point: they may have some when all other work is done.
KERNEL(clear_unsplittable, int32 *wishes) {
    FOR_RANGE (s)
        if (wishes[s] == UNSPLITTABLE)
            wishes[s] = NO_WISH;
}
