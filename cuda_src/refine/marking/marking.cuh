// The phases of marking, for one cavity.
#pragma once

#include "refine/cavity/cavity.cuh"
#include "mesh/mesh.cuh"

template <class Visit> INLINE bool for_cavity_and_ring(const Cavity &cavity, const Extent &extent, Visit visit) {
    for (int j = 0; j < extent.members; ++j)
        if (!visit(cavity.member(j)))
            return false;
    for (int j = 0; j < extent.edges; ++j)
        if (cavity.edge(j).across >= 0 && !visit(cavity.edge(j).across))
            return false;
    return true;
}

// Marks the triangles of grown cavities with their keys.
struct Marker {
    const Cavities &cavities;
    Triangle *triangles;

    template <class Visit> METHOD bool visit(Index i, Visit visit) const {
        return for_cavity_and_ring(cavities.at(i), cavities.extents[i], visit);
    }

    // Phase 1 of 3: each cavity writes its key with plain stores; the last one stays.
    METHOD void mark(Index i) const {
        visit(i, [&](int32 t) {
            racing_store(&triangles[t].owner, cavities.keys[i]);
            return true;
        });
    }

    // Phase 2 of 3: a cavity that finds no mark of higher priority on its triangles marks them all again, also with
    // plain stores. The others have lost and back off.
    METHOD void remark(Index i) const {
        const bool highest = visit(i, [&](int32 t) { return racing_load(&triangles[t].owner) <= cavities.keys[i]; });
        if (highest)
            mark(i);
    }

    // Phase 2 of 3 as printed (Algorithm 2, re-markCavity_kernel): a cavity overwrites every mark of lower priority,
    // even if it has found one of higher priority and cannot win. If a GPU's threads run in lockstep, these writes keep
    // whole clusters of cavities from having a winner.
    METHOD void remark_literally(Index i) const {
        visit(i, [&](int32 t) {
            if (racing_load(&triangles[t].owner) < cavities.keys[i])
                racing_store(&triangles[t].owner, cavities.keys[i]);
            return true;
        });
    }

    // Phases 1 and 2 in one, by atomic maximum: of any cavities that overlap the most urgent one wins.
    METHOD void mark_atomic(Index i) const {
        visit(i, [&](int32 t) {
            atomic_max(&triangles[t].owner, cavities.keys[i]);
            return true;
        });
    }

    // Phase 3 of 3: a cavity that owns all of its triangles and ring proceeds; the others stay unprocessed (UNDECIDED).
    METHOD void check(Index i, int32 *progress) const {
        cavities.won[i] = cavities.outcomes[i] == UNDECIDED &&
                          visit(i, [&](int32 t) { return racing_load(&triangles[t].owner) == cavities.keys[i]; });
        if (cavities.won[i]) {
            cavities.outcomes[i] = OWNER;
            if (progress != nullptr)
                racing_store(progress, 1);
        }
    }
};
