// Who competes in a round: subsegments that are to be split, or else bad triangles.
//
// The list of bad triangles is gone through in order, in two steps with a barrier between them: what stays in it and who
// competes is flagged and counted by piece; then both are copied to where they go. It has two sides, one to copy from
// and one to copy to.
#pragma once

#include "mesh.cuh"
#include "quality.cuh"

struct BadList {
    int32 *even, *odd;
    METHOD int32 *side(Index which) const { return which ? odd : even; }
};

enum Choice : int32 {
    UNBEATEN = 0,    // bad triangles that no bad neighbour, nor a neighbour's, beats in urgency
    EVERYONE = 1,    // all bad triangles: what the thesis does
    LARGE_ONES = 2,  // those that wait for large records, and no others
};

// ---- Bad triangles ---------------------------------------------------------------------------------------------------

// How urgent a triangle is among its neighbours: 0 where it does not compete at all. The bit LISTED of a word may change
// at the same time, the others do not.
INLINE uint64 urgency(const uint32 *quality, int32 t) {
    const uint32 q = racing_load(&quality[t]);
    return to_refine(q) && !(q & LARGE) ? uint64(1) << 63 | uint64(q & URGENCY_MASK) << 32 | scatter(uint32(t)) : 0;
}

// A bad triangle competes only where no bad neighbour, and no bad neighbour of a neighbour, is more urgent: its cavity
// would most likely lose to theirs, and growing it would be wasted. Three of four that compete get their point in.
INLINE bool is_unbeaten(const Triangle *triangles, const uint32 *quality, int32 t) {
    const uint64 mine = urgency(quality, t);
    bool first = mine != 0;
    const Triangle here = triangles[t];
    for (int k = 0; k < 3; ++k)
        first = first && (here.link[k] < 0 || urgency(quality, here.link[k]) < mine);
    for (int k = 0; k < 3 && first; ++k) {
        if (here.link[k] < 0)
            continue;
        const Triangle around = triangles[here.link[k]];
        for (int l = 0; l < 3; ++l) {
            const int32 second = around.link[l];
            first = first && (second < 0 || second == t || urgency(quality, second) < mine);
        }
    }
    return first;
}

INLINE bool is_chosen(int32 choice, const Triangle *triangles, const uint32 *quality, int32 t, uint32 q) {
    if (choice == UNBEATEN)
        return is_unbeaten(triangles, quality, t);
    return ((q & LARGE) != 0) == (choice == LARGE_ONES);
}

// In small meshes only the most urgent candidates go on, up to a factor of two in length: the order in which points come
// decides the size of the result.
constexpr int WINDOW_SHIFT = 12; // leaves the bits of urgency that tell squared lengths, or areas, apart by a factor of 4

INLINE bool has_windows(int32 choice, Index slots, int32 small_mesh) {
    return choice == LARGE_ONES || (choice == UNBEATEN && slots <= small_mesh);
}

INLINE int32 window_of(uint32 quality) { return int32((quality & URGENCY_MASK) >> WINDOW_SHIFT); }

// What a survey of a piece of the list found: entries that stay, candidates, and in which window of urgency those are (in
// small meshes: of the most urgent window only; else all, under number 0).
enum Surveyed { STAYING, CHOSEN, WINDOW, SURVEYED };
enum SurveyFlag : uint8 { STAYS = 1, COMPETES = 2 };

// Flags the entries of a piece: flags[i] says which of the two hold. Those that leave the list are marked so.
INLINE Sums<SURVEYED> survey_bad(Piece piece, const int32 *listed, const Triangle *triangles, uint32 *quality,
                                 int32 choice, bool windows, uint8 *flags) {
    TEAM_SHARED(int32, most_urgent, 1);
    TEAM_BARRIER();
    FOR_LEADER
        most_urgent[0] = 0;
    TEAM_BARRIER();
    const Sums<2> found = team_sum<2>(piece.begin, piece.end, [&](Index i) {
        if (i + 16 < piece.end) {
            prefetch(&triangles[listed[i + 16]]);
            prefetch(&quality[listed[i + 16]]);
        }
        if (i + 8 < piece.end)
            for (int32 across : triangles[listed[i + 8]].link)
                if (across >= 0) {
                    prefetch(&triangles[across]);
                    prefetch(&quality[across]);
                }
        const int32 t = listed[i];
        const uint32 q = racing_load(&quality[t]);
        const bool stays = to_refine(q), competes = stays && is_chosen(choice, triangles, quality, t, q);
        flags[i] = uint8((stays ? STAYS : 0) | (competes ? COMPETES : 0));
        if (!stays)
            racing_store(&quality[t], q & ~LISTED);
        if (competes && windows)
            atomic_max(&most_urgent[0], window_of(q));
        return Sums<2>{{stays, competes}};
    });
    if (!windows)
        return {{found.of[0], found.of[1], 0}};
    TEAM_BARRIER();
    const int32 window = most_urgent[0];
    const Sums<1> within = team_sum<1>(piece.begin, piece.end, [&](Index i) {
        return Sums<1>{{(flags[i] & COMPETES) && window_of(quality[listed[i]]) == window}};
    });
    return {{found.of[0], within.of[0], window}};
}

// Copies what stays to the other side of the list, and the first `most` candidates of the window to the roots: from the
// places `before` on. No candidates where `most` is 0.
INLINE void gather_bad(Piece piece, Sums<2> before, const int32 *listed, const uint8 *flags, const uint32 *quality,
                       bool windows, int32 window, int32 most, int32 *copied, int32 *roots) {
    const auto competes = [&](Index i) {
        return (flags[i] & COMPETES) != 0 && (!windows || window_of(quality[listed[i]]) == window);
    };
    team_in_order<2>(
        piece.begin, piece.end, before,
        [&](Index i) {
            return Sums<2>{{(flags[i] & STAYS) != 0, competes(i)}};
        },
        [&](Index i, Sums<2> place) {
            if (flags[i] & STAYS)
                copied[place.of[0]] = listed[i];
            if (place.of[1] < most && competes(i))
                roots[place.of[1]] = listed[i];
        });
}

// ---- Subsegments -----------------------------------------------------------------------------------------------------

INLINE Sums<1> survey_subsegments(Piece piece, const int32 *wishes) {
    return team_sum<1>(piece.begin, piece.end, [&](Index s) { return Sums<1>{{wishes[s] == TO_BE_SPLIT}}; });
}

// As gather_bad.
INLINE void gather_subsegments(Piece piece, Sums<1> before, const int32 *wishes, int32 most, int32 *roots) {
    team_in_order<1>(
        piece.begin, piece.end, before, [&](Index s) { return Sums<1>{{wishes[s] == TO_BE_SPLIT}}; },
        [&](Index s, Sums<1> place) {
            if (wishes[s] == TO_BE_SPLIT && place.of[0] < most)
                roots[place.of[0]] = int32(s);
        });
}

// ---- New bad triangles -----------------------------------------------------------------------------------------------

// flags[i] = 1 where a new triangle is to be refined and its slot is in no list yet; from now on it is.
INLINE Sums<1> survey_fresh(Piece piece, const int32 *fresh, uint32 *quality, uint8 *flags) {
    return team_sum<1>(piece.begin, piece.end, [&](Index i) {
        const uint32 q = quality[fresh[i]];
        const bool unlisted = to_refine(q) && !(q & LISTED);
        flags[i] = unlisted;
        if (unlisted)
            quality[fresh[i]] = q | LISTED;
        return Sums<1>{{unlisted}};
    });
}

// Appends them to the list, from place `before` on.
INLINE void append_fresh(Piece piece, Sums<1> before, const int32 *fresh, const uint8 *flags, int32 *list) {
    team_in_order<1>(
        piece.begin, piece.end, before, [&](Index i) { return Sums<1>{{flags[i]}}; },
        [&](Index i, Sums<1> place) {
            if (flags[i])
                list[place.of[0]] = fresh[i];
        });
}
