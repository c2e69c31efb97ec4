// The claims of the default marking: ownership of the cavity alone, by atomic maximum of a unique key.
#pragma once

#include "mesh/mesh.cuh"
#include "mesh/owner.cuh"
#include "refine/cavity/cavity.cuh"

// The key of a cavity in a step (owner.cuh).
INLINE uint64 key_of(const Mesh &mesh, const Cavities &cavities, Index i, Index segments, uint32 epoch) {
    const int32 root = cavities.roots[i];
    const bool segment = i < segments;
    const Point *const points = mesh.points;
    const uint32 urgent =
        segment ? shortness(squared_length(points[mesh.subsegments[root].from], points[mesh.subsegments[root].to]))
                : mesh.quality[root] & URGENCY_MASK;
    return cavity_key(epoch, segment, urgent, int32(i));
}

// Claims every triangle that the cavity would delete, once it is grown.
INLINE void claim_cavity(const Mesh &mesh, const Cavities &cavities, Index i, Index segments, uint32 epoch,
                         Outcome outcome) {
    const uint64 key = key_of(mesh, cavities, i, segments, epoch);
    cavities.keys[i] = key;
    if (outcome != UNDECIDED)
        return;
    const Cavity cavity = cavities.at(i);
    const int32 members = cavities.extents[i].members;
    for (int j = 0; j < members; ++j)
        atomic_max(&mesh.triangles[cavity.member(j)].owner, key);
}
