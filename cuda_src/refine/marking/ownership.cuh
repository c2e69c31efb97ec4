// Deterministic marking: ownership of the cavity alone, by atomic maximum of a unique key.
#pragma once

#include "mesh/mesh.cuh"
#include "refine/quality/quality.cuh"

// The key of a cavity in a step (cavity.cuh).
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

// Checks ownership, after all cavities have claimed: whether this one owns all of its triangles.
INLINE void check_cavity_ownership(const Triangle *triangles, const Cavities &cavities, Index i) {
    if (cavities.outcomes[i] != UNDECIDED)
        return;
    const Cavity cavity = cavities.at(i);
    const int32 members = cavities.extents[i].members;
    bool all = true;
    for (int j = 0; j < members && all; ++j)
        all = triangles[cavity.member(j)].owner == cavities.keys[i];
    cavities.outcomes[i] = all ? OWNER : LOST;
}

// Resolves conflicts, after all ownership checks. Two owners that share a boundary edge (u, v) and have the new points
// p and q both proceed if q is not strictly inside the circle (u, v, p): then the edge between the two new triangles is
// Delaunay, too, and the two insertions commute. Otherwise the owner of lower priority yields, even to an owner that
// yields itself: one pass, independent of order. Outcomes are only read here, so that every thread sees the same ones.
// Returns 1 if cavity i, an owner, need not yield to the cavity across its j-th edge, 0 if it must, or UNSURE.
template <Arithmetic arithmetic>
INLINE int passes_owner(const Mesh &mesh, const Cavities &cavities, Index i, const Cavity &cavity, int j, int32 other) {
    if (other == NOTHING || other == i || cavities.outcomes[other] != OWNER || cavities.keys[other] < cavities.keys[i])
        return 1;
    const int inside = incircle_with<arithmetic>(mesh.points[cavity.edge(j).vertex], mesh.points[cavity.edge(j + 1).vertex],
                                           cavities.steiner[i], cavities.steiner[other]);
    return inside == UNSURE ? UNSURE : inside <= 0;
}

// The cavity that owns the neighbour across the j-th edge, or NOTHING.
INLINE int32 owner_across(const Mesh &mesh, const Cavity &cavity, int j, uint32 epoch) {
    const int32 across = cavity.edge(j).across;
    return across < 0 ? NOTHING : owner_of(mesh.triangles, across, epoch);
}

template <Arithmetic arithmetic>
INLINE int passes_edge(const Mesh &mesh, const Cavities &cavities, Index i, const Cavity &cavity, int j, uint32 epoch) {
    return passes_owner<arithmetic>(mesh, cavities, i, cavity, j, owner_across(mesh, cavity, j, epoch));
}

// Whether cavity i proceeds: 1, 0 or UNSURE. A GPU looks up several owners at a time.
template <Arithmetic arithmetic> INLINE int goes_ahead(const Mesh &mesh, const Cavities &cavities, Index i, uint32 epoch) {
    if (cavities.outcomes[i] != OWNER)
        return 0;
    const Cavity cavity = cavities.at(i);
    const int32 edges = cavities.extents[i].edges;
    int answer = 1;
    for (int j = 0; j < edges; j += SIDE_BY_SIDE) {
        int32 others[SIDE_BY_SIDE];
        for (int n = 0; n < SIDE_BY_SIDE; ++n)
            others[n] = j + n < edges ? owner_across(mesh, cavity, j + n, epoch) : NOTHING;
        for (int n = 0; n < SIDE_BY_SIDE; ++n) {
            const int passes = passes_owner<arithmetic>(mesh, cavities, i, cavity, j + n, others[n]);
            if (passes == 0)
                return 0;
            if (passes == UNSURE)
                answer = UNSURE;
        }
    }
    return answer;
}
