// Steps of a round that the members of a team take together, for one piece of a list. They are for rounds that one
// team, or several that wait for each other, run without launches between the steps (single_block_rounds.cu,
// persistent_rounds.cu).
#pragma once

#include "refine/cavity/growth.cuh"
#include "refine/cavity/outcomes.cuh"
#include "refine/marking/ownership.cuh"
#include "refine/rounds/progress.cuh"
#include "refine/quality/quality_check.cuh"

// The candidates of a round, from the sums of the surveyed pieces.
struct Competition {
    bool alone;       // subsegments compete alone, and the list of bad triangles stays as it is
    int32 segments;   // candidates that are subsegments
    int32 count;      // all candidates
    int32 staying;    // entries that stay in the list
    int32 window;     // urgency window of the triangles that compete
};

// The sums of the surveyed pieces [from, to): entries that stay, and candidates in the given window.
INLINE Sums<2> sum_of_surveyed(const int32 *surveyed, int32 window, Index from, Index to) {
    return team_sum<2>(from, to, [&](Index piece) {
        const int32 *const found = surveyed + piece * SURVEYED;
        return Sums<2>{{found[STAYING], found[WINDOW] == window ? found[CHOSEN] : 0}};
    });
}

// Stores what a team found in its piece, for the other teams.
INLINE void enter_survey(Index team, const Sums<SURVEYED> &found, int32 *surveyed) {
    FOR_LEADER
        for (int what = 0; what < SURVEYED; ++what)
            surveyed[team * SURVEYED + what] = found.of[what];
}

// Computes the competition after the survey. `waiting` subsegments are to be split.
INLINE Competition competition_of(const int32 *surveyed, Index pieces, Index listed, Index waiting, bool alone,
                                  const Capacity &capacity) {
    TEAM_SHARED(int32, most_urgent, 1);
    Competition found = {alone, taken(waiting, capacity), taken(waiting, capacity), int32(listed), 0};
    if (alone)
        return found;
    TEAM_BARRIER();
    FOR_LEADER
        most_urgent[0] = 0;
    TEAM_BARRIER();
    FOR_SHARE (piece, 0, pieces)
        atomic_max(&most_urgent[0], surveyed[piece * SURVEYED + WINDOW]);
    TEAM_BARRIER();
    found.window = most_urgent[0];
    const Sums<2> all = sum_of_surveyed(surveyed, found.window, 0, pieces);
    found.staying = all.of[0];
    found.count = taken(waiting + all.of[1], capacity);
    return found;
}

// Copies the candidates of a team's pieces of the subsegments and of the list to `roots`, if all candidates fit, and
// the entries that stay to the other side of the list.
INLINE void gather_pieces(Index team, Piece piece, Piece of_bad, const Competition &found, const Mesh &mesh,
                          const int32 *requested, const BadList &list, Index buffer, bool windows, const uint8 *flags,
                          const int32 *surveyed, const Capacity &capacity, int32 *roots) {
    const bool fits = found.count <= capacity.candidates;
    if (piece.begin < piece.end && found.segments && fits)
        gather_subsegments(piece, sum_of_pieces<1>(requested, 0, team), mesh.split_states, found.segments, roots);
    if (of_bad.begin < of_bad.end && !found.alone) {
        Sums<2> before = sum_of_surveyed(surveyed, found.window, 0, team);
        before.of[1] += found.segments;
        gather_bad(of_bad, before, list.buffer(buffer), flags, mesh.quality, windows, found.window, fits ? found.count : 0,
                   list.buffer(1 - buffer), roots);
    }
}

INLINE void begin_round(int32 *progress, const Competition &found, int32 buffer, const Capacity &capacity) {
    begin_round(progress, found.count, found.segments, found.staying, found.alone ? buffer : 1 - buffer, capacity);
}

// Resolves conflicts among the owners of a piece, and sums up the winners' needs. A barrier separates it from the
// ownership checks.
INLINE Sums<NEEDS> team_resolve_conflicts(Piece piece, const Mesh &mesh, const Cavities &cavities, Index segments, uint32 epoch) {
    FOR_SHARE (i, piece.begin, piece.end)
        cavities.won[i] = cavities.outcomes[i] == OWNER;
    TEAM_BARRIER();
    FOR_TILES (i, piece.begin, piece.end) {
        const Cavity cavity = cavities.at(i);
        FOR_TILE_SHARE (j, cavities.outcomes[i] == OWNER ? cavities.extents[i].edges : 0)
            if (!passes_edge<EXACT>(mesh, cavities, i, cavity, j, epoch))
                racing_store(&cavities.won[i], 0);
    }
    TEAM_BARRIER();
    return team_sum<NEEDS>(piece.begin, piece.end,
                           [&](Index i) { return needs_of(cavities, i, segments, cavities.won[i] != 0); });
}

// Inserts the winners of a piece; `before` are the needs of the winners before it.
INLINE void team_retriangulate(Piece piece, const Sums<NEEDS> &before, const Mesh &mesh, const Cavities &cavities,
                                   Index segments, uint32 epoch, const Sizes &sizes, int32 *inherited, int32 *fresh) {
    team_in_order<NEEDS>(
        piece.begin, piece.end, before, [&](Index i) { return needs_of(cavities, i, segments, cavities.won[i] != 0); },
        [&](Index i, const Sums<NEEDS> &place) {
            if (!cavities.won[i])
                return;
            inherit_cavity(mesh, cavities, i, sizes, place, inherited);
            enter_fan(mesh, cavities, i, segments, sizes, place);
        });
    TEAM_BARRIER();
    make_fans(piece, mesh, cavities, segments, epoch, sizes, fresh);
}

// Checks the new triangles of a piece; returns how many of them are to be listed.
INLINE Sums<1> team_check(Piece piece, const Mesh &mesh, const Limits &limits, const int32 *fresh, uint8 *flags) {
    const QualityCheck of_triangle = {mesh, limits, nullptr, nullptr};
    FOR_SHARE (i, piece.begin, piece.end)
        of_triangle.check(fresh[i], i);
    TEAM_BARRIER();
    return survey_fresh(piece, fresh, mesh.quality, flags);
}

// Leaves rounds without launches: a round for many teams follows, or nothing in this iteration.
INLINE void leave_rounds(int32 *progress, bool to_many) {
    progress[BEGINS] = to_many;
    progress[SURVEYED_SUBSEGMENTS] = to_many ? progress[SUBSEGMENTS] : 0;
    progress[SURVEYED_LISTED] = to_many ? progress[BAD_LISTED] : 0;
    progress[APPLIED] = progress[FRESH] = 0; // of this round, so far
}
