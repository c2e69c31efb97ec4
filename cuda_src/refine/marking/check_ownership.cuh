// Deterministic marking: whether a cavity owns all triangles that it claimed.
#pragma once

#include "refine/cavity/cavity.cuh"

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

// The same for a thread's share of the cavities.
template <class Share>
INLINE void check_owners(const Share &share, const Triangle *triangles, const Cavities &cavities) {
    for (const Index i : share) {
        prefetch_grown(cavities, i + 14, share.stop());
        prefetch_members(cavities, i + 6, share.stop(), triangles);
        check_cavity_ownership(triangles, cavities, i);
    }
}
