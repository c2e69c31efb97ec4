// The list of bad triangles, and what appends new ones to it.
#pragma once

#include "refine/quality/quality.cuh"

// A double buffer: one side is read, the other written.
struct BadList {
    int32 *first, *second;
    METHOD int32 *buffer(Index which) const { return which ? second : first; }
};

// flags[i] = 1 if a new triangle is to be refined and its slot is not listed yet; marks the slot as listed.
INLINE Sums<1> survey_fresh(const Team &team, Piece piece, const int32 *fresh, uint32 *quality, uint8 *flags) {
    return team.sum(piece, [&](Index i) {
        if (i + 16 < piece.end)
            prefetch(&quality[fresh[i + 16]]);
        const uint32 q = quality[fresh[i]];
        const bool unlisted = (q & (BAD | GIVEN_UP | LISTED)) == BAD; // no branches: they would go either way
        flags[i] = unlisted;
        quality[fresh[i]] = q | ((0u - uint32(unlisted)) & LISTED);
        return Sums<1>{{unlisted}};
    });
}

// Appends the flagged triangles to the list, from place `before` on.
INLINE void append_fresh(const Team &team, Piece piece, Sums<1> before, const int32 *fresh, const uint8 *flags,
                         int32 *list) {
    team.in_order(
        piece, before, [&](Index i) { return Sums<1>{{flags[i]}}; },
        [&](Index i, Sums<1> place) {
            if (flags[i])
                list[place.of[0]] = fresh[i];
        });
}
