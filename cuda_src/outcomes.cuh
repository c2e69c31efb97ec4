// What becomes of the cavities of a pass, when its last step is done.
#pragma once

#include "mesh.cuh"
#include "quality.cuh"

// Owners that did not win yielded, and what is still undecided lost.
INLINE Outcome final_outcome(int32 outcome) {
    if (outcome == OWNER)
        return YIELDED;
    return outcome == UNDECIDED || outcome == DAMAGED || outcome == DEAD ? LOST : Outcome(outcome);
}

// What cannot be resolved is not tried again: the triangle until it is rebuilt, the subsegment until all else is done. A
// triangle whose cavity has no room in an ordinary record waits for the pass with large ones.
INLINE void set_aside(const Mesh &mesh, int32 root, bool segment, Outcome outcome) {
    if (segment && outcome == PRECISION)
        mesh.wishes[root] = UNSPLITTABLE;
    else if (outcome == PRECISION)
        mesh.quality[root] |= GIVEN_UP;
    else if (outcome == BLOCKED)
        mesh.quality[root] |= GIVEN_UP | HELD;
    else if (!segment && outcome == OVERFLOWED)
        mesh.quality[root] |= LARGE;
}

INLINE void close_piece(Piece piece, const Mesh &mesh, const Cavities &cavities, Index segments, int64 *counts) {
    TEAM_SHARED(int32, tally, OUTCOMES + 1);
    TEAM_BARRIER();
    FOR_SHARE (outcome, 0, OUTCOMES + 1)
        tally[outcome] = 0;
    TEAM_BARRIER();
    FOR_SHARE (i, piece.begin, piece.end) {
        const Outcome outcome = final_outcome(cavities.outcomes[i]);
        cavities.outcomes[i] = outcome;
        set_aside(mesh, cavities.roots[i], i < segments, outcome);
        atomic_add(&tally[outcome], 1);
        if (outcome == INSERTED && i >= segments && cavities.off_center[i])
            atomic_add(&tally[OUTCOMES], 1);
    }
    TEAM_BARRIER();
    FOR_SHARE (outcome, 0, OUTCOMES + 1)
        if (tally[outcome])
            atomic_add(&counts[outcome], int64(tally[outcome]));
}
