// Grows the cavities of a pass.
#include "refine/cavity/growth.cuh"
#include "refine/cavity/claim.cuh"

// Grows the cavity of each candidate that is a triangle; if `only_damaged` is 1, only of those that another cavity has
// changed. If an epoch is given, each cavity immediately claims what it would delete (claim.cuh). Cases
// that need exact arithmetic may be deferred.
HIGH_OCCUPANCY_KERNEL(grow_cavities, Mesh mesh, Limits limits, Cavities cavities, Count segments, int32 only_damaged,
                      Count epoch) {
    for (const Index i : launch) {
        if (i < segments || (only_damaged && cavities.outcomes[i] != DAMAGED))
            continue;
        prefetch_surroundings(cavities.roots, i, launch.stop(), mesh);
        prefetch_record(cavities, i + 4, launch.stop());
        const Outcome outcome = grow_triangle_candidate<FILTERED>(mesh, limits, cavities, i);
        if (epoch != 0 && outcome != DEFERRED)
            claim_cavity(mesh, cavities, i, segments, uint32(epoch), outcome);
    }
}

// Grows the remaining cavities: subsegments, and deferred triangles with exact arithmetic.
KERNEL(grow_exactly, Mesh mesh, Limits limits, Cavities cavities, Count segments, int32 only_damaged, Count epoch) {
    const auto claim = [&](Index i, Outcome outcome) {
        if (epoch != 0)
            claim_cavity(mesh, cavities, i, segments, uint32(epoch), outcome);
    };
    for (const Index i : launch.part(launch.first, segments)) {
        prefetch_around_subsegments(cavities.roots, i, segments, mesh);
        if (!only_damaged || cavities.outcomes[i] == DAMAGED)
            claim(i, grow_segment_candidate(mesh, limits, cavities, i, only_damaged != 0));
    }
    for (const Index i : launch.part(segments, launch.last))
        if (cavities.outcomes[i] == DEFERRED)
            claim(i, grow_triangle_candidate<EXACT>(mesh, limits, cavities, i));
}

// Allows another attempt at subsegments that had no room for a point, or met a frozen triangle: the way may be free
// when all other work is done.
KERNEL(clear_set_aside, int32 *split_states) {
    for (const Index s : launch)
        if (split_states[s] == UNSPLITTABLE || split_states[s] == SPLIT_WAITS)
            split_states[s] = NO_REQUEST;
        else if (split_states[s] == WANTED_ELSEWHERE)
            split_states[s] = BESIDE_CUT;
}
