// Gathers the candidates of a round after the survey, and copies the list of bad triangles without those that leave.
#pragma once

#include "refine/candidates/bad_list.cuh"
#include "refine/candidates/survey.cuh"

// The candidates of a round, from the sums of the surveyed pieces.
struct Competition {
    bool alone;     // subsegments compete alone, and the list of bad triangles stays as it is
    int32 segments; // candidates that are subsegments
    int32 count;    // all candidates
    int32 stride;   // of the competing triangles, in the order of the list, every stride-th is a candidate
    int32 staying;  // entries that stay in the list
    int32 window;   // urgency window of the triangles that compete
};

// The sums of the surveyed pieces [from, to): entries that stay, and candidates in the given window.
INLINE Sums<2> sum_of_surveyed(const Team &team, const int32 *surveyed, int32 window, Index from, Index to) {
    return team.sum({from, to}, [&](Index piece) {
        const int32 *const found = surveyed + piece * SURVEYED;
        return Sums<2>{{found[STAYING], found[WINDOW] == window ? found[CHOSEN] : 0}};
    });
}

// The survey of the whole list, from those of its pieces: only the most urgent window competes.
INLINE Sums<SURVEYED> combine_surveys(const Team &team, const int32 *surveyed, Index pieces) {
    TEAM_SHARED(int32, most_urgent, 1);
    team.barrier();
    if (team.leads())
        most_urgent[0] = 0;
    team.barrier();
    for (const Index piece : team.share({0, pieces}))
        atomic_max(&most_urgent[0], surveyed[piece * SURVEYED + WINDOW]);
    team.barrier();
    const int32 window = most_urgent[0];
    const Sums<2> all = sum_of_surveyed(team, surveyed, window, 0, pieces);
    return {{all.of[0], all.of[1], window}};
}

// The number of candidates that a round takes, of those that compete. It takes at most `most`.
INLINE int32 taken(Index competing, Index most) { return int32(competing < most ? competing : most); }

// The candidates of a round that takes at most `most`: `waiting` subsegments, and what the survey has found. If more
// triangles compete, those that are taken lie at equal distances in the list: beside each other in the list they lie
// beside each other in the mesh, too, and most of their cavities would overlap.
INLINE Competition competition_with(const Sums<SURVEYED> &survey, Index waiting, Index most) {
    const int32 segments = taken(waiting, most), competing = survey.of[CHOSEN];
    const int32 places = taken(competing, most - segments);
    const int32 stride = places > 0 ? (competing + places - 1) / places : 1;
    const int32 triangles = places > 0 ? (competing + stride - 1) / stride : 0;
    return {false, segments, segments + triangles, stride, survey.of[STAYING], survey.of[WINDOW]};
}

// The candidates if subsegments compete alone; the list of bad triangles has `listed` entries.
INLINE Competition competition_alone(Index listed, Index waiting, Index most) {
    return {true, taken(waiting, most), taken(waiting, most), 1, int32(listed), 0};
}

// Copies the candidates of a piece of the list to the roots, and the entries that stay to the other side of the list.
// `before` are the sums of the pieces before this one. Candidates end at place `most`; there are none if it is 0.
INLINE void gather_bad(const Team &team, Piece piece, Sums<2> before, const Competition &found, int32 most,
                       const BadList &list, int32 buffer, const uint8 *flags, const uint32 *quality, bool windows,
                       int32 *roots) {
    const int32 *const listed = list.buffer(buffer);
    int32 *const copied = list.buffer(1 - buffer);
    const auto competes = [&](Index i) {
        return (flags[i] & COMPETES) != 0 && (!windows || window_of(quality[listed[i]]) == found.window);
    };
    const auto gather = [&](Piece part, Sums<2> from) {
        return team.in_order(
            part, from, [&](Index i) { return Sums<2>{{(flags[i] & STAYS) != 0, competes(i)}}; },
            [&](Index i, Sums<2> place) {
                store_if((flags[i] & STAYS) != 0, &copied[place.of[0]], listed[i]);
                if (competes(i) && place.of[1] % found.stride == 0) {
                    const int32 candidate = found.segments + place.of[1] / found.stride;
                    if (candidate < most)
                        roots[candidate] = listed[i];
                }
            });
    };
    if (!ONE_MEMBER) {
        gather(piece, before);
        return;
    }
    // Where few compete, most entries wait: a single member copies blocks in which all do by vector instructions.
    constexpr Index BLOCK = 16;
    for (Piece block = piece; !block.empty(); block = {block.end, piece.end}) {
        const bool whole = block.begin + BLOCK <= block.end;
        if (whole)
            block.end = block.begin + BLOCK;
        bool all_wait = whole;
        for (Index n = 0; whole && n < BLOCK; ++n)
            all_wait &= flags[block.begin + n] == STAYS;
        if (all_wait) {
            for (Index n = 0; n < BLOCK; ++n)
                copied[before.of[0] + n] = listed[block.begin + n];
            before.of[0] += int32(BLOCK);
        } else {
            before = gather(block, before);
        }
    }
}

// The same for a piece of the subsegments, which are the first candidates.
INLINE void gather_subsegments(const Team &team, Piece piece, Sums<1> before, const Competition &found, int32 most,
                               const int32 *split_states, int32 *roots) {
    const int32 last = found.segments < most ? found.segments : most;
    const auto waits = [&](Index s) { return split_states[s] == TO_BE_SPLIT; };
    // A single member passes over blocks in which none waits, as most of them in late rounds, by vector instructions.
    constexpr Index BLOCK = 64;
    for (Piece block = piece; !block.empty(); block = {block.end, piece.end}) {
        if (ONE_MEMBER && block.begin + BLOCK < block.end)
            block.end = block.begin + BLOCK;
        if (ONE_MEMBER && survey_subsegments(team, block, split_states).of[0] == 0)
            continue;
        before = team.in_order(
            block, before, [&](Index s) { return Sums<1>{{waits(s)}}; },
            [&](Index s, Sums<1> place) {
                if (waits(s) && place.of[0] < last)
                    roots[place.of[0]] = int32(s);
            });
    }
}
