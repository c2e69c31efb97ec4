// Needs of the winners of a step: new vertices, slots and subsegments.
//
// The k slots of a cavity are reused. The one or two more that a fan needs are numbered by prefix sums over the winners
// in their order. The arrays therefore never hold garbage, and the place of each triangle does not depend on thread
// timing.
#pragma once

#include "refine/cavity/cavity.cuh"

// The winners' needs: vertices, slots beyond those of their members, places in the list of new triangles, subsegments.
// Prefix sums of them give the first of each that a winner gets.
enum Need { NEW_VERTEX, EXTRA_SLOTS, NEW_TRIANGLES, NEW_SUBSEGMENT, NEEDS };

INLINE Sums<NEEDS> needs_of(const Cavities &cavities, Index i, Index segments, bool won) {
    const Extent extent = cavities.extents[i];
    return won ? Sums<NEEDS>{{1, extent.edges - extent.members, extent.edges, i < segments}} : Sums<NEEDS>{};
}

// The sum of the needs of a piece's winners.
INLINE Sums<NEEDS> sum_needs(const Team &team, Piece piece, const Cavities &cavities, Index segments) {
    return team.sum(piece, [&](Index i) { return needs_of(cavities, i, segments, cavities.won[i] != 0); });
}

// Processes a piece of the cavities in order: visit(i, place) gets the first place of each need of cavity i, from
// `before` on. Returns the places at the end of the piece.
template <class Visit>
INLINE Sums<NEEDS> in_their_places(const Team &team, Piece piece, const Sums<NEEDS> &before, const Cavities &cavities,
                                   Index segments, Visit visit) {
    return team.in_order(
        piece, before, [&](Index i) { return needs_of(cavities, i, segments, cavities.won[i] != 0); }, visit);
}

// The sizes of a mesh before a step.
struct Sizes {
    int32 vertices, slots, subsegments;
};

// The slots of a fan's triangles: first those of the cavity's members, then one or two that were claimed for it.
INLINE int32 fan_slot(const Cavity &cavity, const Extent &extent, int32 claimed, int j) {
    return j < extent.members ? cavity.member(j) : claimed + (j - extent.members);
}

// Appends the claimed slots to the members, and after the last one the first again: member(j) and member(j + 1) are
// then the slots at the boundary edges j and j + 1, without a branch. A record that has room for its boundary has room
// for them.
INLINE void add_slots(const Cavity &cavity, const Extent &extent, int32 claimed) {
    const int last = extent.edges - 1;
    cavity.member(extent.members) = claimed;
    cavity.member(last) = claimed + (last - extent.members); // the same one, or the second
    cavity.member(extent.edges) = cavity.member(0);
}
