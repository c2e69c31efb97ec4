// Final outcomes of the cavities of a pass, after its last step.
#pragma once

#include "mesh/mesh.cuh"
#include "refine/cavity/cavity.cuh"
#include "refine/quality/quality.cuh"

// Owners that did not win have yielded, and undecided cavities have lost.
INLINE Outcome final_outcome(int32 outcome) {
    if (outcome == OWNER)
        return YIELDED;
    return outcome == UNDECIDED || outcome == DAMAGED || outcome == DEAD ? LOST : Outcome(outcome);
}

// Excludes what cannot be resolved from further attempts: a triangle until it is rebuilt, a subsegment until all other
// work is done. A triangle whose cavity does not fit an ordinary record waits for the pass with large ones. What waits
// for another tile is tried again when all other work is done (dmr/refinement/rounds/retries.py).
INLINE void set_aside(const Mesh &mesh, int32 root, bool segment, Outcome outcome) {
    if (segment && outcome == PRECISION)
        mesh.split_states[root] = UNSPLITTABLE;
    else if (segment && outcome == WAITING)
        mesh.split_states[root] = SPLIT_WAITS;
    else if (outcome == PRECISION)
        mesh.quality[root] |= GIVEN_UP;
    else if (outcome == BLOCKED)
        mesh.quality[root] |= GIVEN_UP | HELD;
    else if (outcome == WAITING)
        mesh.quality[root] |= GIVEN_UP | WAITS;
    else if (!segment && outcome == OVERFLOWED)
        mesh.quality[root] |= LARGE;
}

// Sets and counts the final outcomes of a piece: counts[outcome], and counts[OUTCOMES] for inserted off-centers.
INLINE void close_cavities(const Team &team, Piece piece, const Mesh &mesh, const Cavities &cavities, Index segments,
                           int64 *counts) {
    TEAM_SHARED(int32, tally, OUTCOMES + 1);
    team.barrier();
    for (const Index outcome : team.share({0, OUTCOMES + 1}))
        tally[outcome] = 0;
    team.barrier();
    for (const Index i : team.share(piece)) {
        const Outcome outcome = final_outcome(cavities.outcomes[i]);
        cavities.outcomes[i] = outcome;
        set_aside(mesh, cavities.roots[i], i < segments, outcome);
        atomic_add(&tally[outcome], 1);
        if (outcome == INSERTED && i >= segments && cavities.off_center[i])
            atomic_add(&tally[OUTCOMES], 1);
    }
    team.barrier();
    for (const Index outcome : team.share({0, OUTCOMES + 1}))
        if (tally[outcome])
            atomic_add(&counts[outcome], int64(tally[outcome]));
}
