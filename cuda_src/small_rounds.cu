// Rounds that are too small for many teams: one team goes through them, one after the other, without a launch between.
//
// The tail of a refinement is some hundred rounds of a few cavities each, and the beginning is the same for subsegments.
// What takes time there is not the work but to start it. The steps are those of the other kernels, with the whole list as
// one piece.
#include "growth.cuh"
#include "outcomes.cuh"
#include "ownership.cuh"
#include "progress.cuh"
#include "quality_check.cuh"

// What one team may take on.
KERNEL_STRUCT(Small) {
    int64 candidates;
    int64 listed;
    int64 subsegments;
};

// Where only the most urgent window competes, few of those that are listed do.
constexpr Index WINDOWED_SHARE = 4;

// Candidates into the roots, and the first numbers of the round into `progress`; false where the round is too large for
// one team, or none is to be begun.
INLINE bool begin_small_round(const Mesh &mesh, const BadList &list, const Room &room, const Small &small,
                              int32 small_mesh, int32 *roots, uint8 *flags, int32 *progress) {
    const int32 subsegments = progress[SUBSEGMENTS], listed = progress[BAD_LISTED], side = progress[SIDE];
    const bool windows = has_windows(UNBEATEN, progress[SLOTS], small_mesh);
    if (progress[STOP] != GO_ON || subsegments > small.subsegments)
        return false;
    const Piece of_subsegments = {0, subsegments}, of_bad = {0, listed};
    const int32 waiting = survey_subsegments(of_subsegments, mesh.wishes).of[0];
    const bool alone = segments_alone(UNBEATEN, waiting, listed, has_free_points(mesh, progress[VERTICES], subsegments));
    const int32 segments = taken(waiting, room);
    if (segments > small.candidates || (!alone && listed > (windows ? WINDOWED_SHARE : 1) * small.listed))
        return false;
    TEAM_BARRIER(); // all have read the progress
    Sums<SURVEYED> found = {{listed, 0, 0}};
    if (!alone)
        found = survey_bad(of_bad, list.side(side), mesh, UNBEATEN, windows, flags);
    const int32 count = taken(Index(waiting) + found.of[CHOSEN], room), next_side = alone ? side : 1 - side;
    const bool fits = count <= small.candidates;
    const int32 most = fits && count <= room.candidates ? count : 0;
    TEAM_BARRIER(); // flags are set
    if (waiting)
        gather_subsegments(of_subsegments, Sums<1>{}, mesh.wishes, segments < most ? segments : most, roots);
    if (!alone)
        gather_bad(of_bad, Sums<2>{{0, segments}}, list.side(side), flags, mesh.quality, windows, found.of[WINDOW], most,
                   list.side(next_side), roots);
    FOR_LEADER {
        if (fits)
            begin_round(progress, count, segments, found.of[STAYING], next_side, room);
        if (!fits || progress[STOP] != GO_ON) { // the list was gone through all the same
            progress[BAD_LISTED] = found.of[STAYING];
            progress[SIDE] = next_side;
        }
    }
    TEAM_BARRIER();
    return fits && progress[STOP] == GO_ON;
}

// The rest of the round. Needs are counted and placed in one go, for the same team does both.
INLINE void finish_small_round(const Mesh &mesh, const Limits &limits, const Cavities &cavities, const BadList &list,
                               const Room &room, int32 *fresh, int32 *inherited, uint8 *flags, int64 *counts,
                               int64 *history, int32 *progress) {
    const Index segments = progress[SEGMENTS];
    const uint32 stamp = uint32(progress[STAMP]);
    const Piece all = {0, progress[CANDIDATES]};
    FOR_SHARE (i, 0, all.end)
        claim_cavity(mesh, cavities, i, segments, stamp, grow_candidate(mesh, limits, cavities, i, segments, false));
    TEAM_BARRIER();
    FOR_SHARE (i, 0, all.end) {
        judge_cavity(mesh.triangles, cavities, i);
        cavities.won[i] = cavities.outcomes[i] == OWNER;
    }
    TEAM_BARRIER();
    FOR_SQUADS (i, 0, all.end) {
        const Cavity cavity = cavities.at(i);
        FOR_SQUAD_SHARE (j, cavities.outcomes[i] == OWNER ? cavities.extents[i].edges : 0)
            if (!passes_edge<AT_ONCE>(mesh, cavities, i, cavity, j, stamp))
                racing_store(&cavities.won[i], 0);
    }
    TEAM_BARRIER();
    const auto needs_of_one = [&](Index i) { return needs_of(cavities, i, segments, cavities.won[i] != 0); };
    const Sums<NEEDS> needs = team_sum<NEEDS>(0, all.end, needs_of_one);
    FOR_LEADER
        fit_winners(progress, needs, room);
    TEAM_BARRIER();
    if (progress[STOP] != GO_ON) { // the host makes room, and does the rest of this round
        TEAM_BARRIER();
        FOR_LEADER
            end_round(progress, 0, counts, room, history);
        TEAM_BARRIER();
        return;
    }
    const Sizes sizes = {progress[VERTICES], progress[SLOTS], progress[SUBSEGMENTS]};
    team_in_order<NEEDS>(0, all.end, Sums<NEEDS>{}, needs_of_one, [&](Index i, const Sums<NEEDS> &place) {
        if (cavities.won[i]) {
            carry_cavity(mesh, cavities, i, sizes, place, inherited);
            begin_fan(mesh, cavities, i, fan_at(mesh, cavities, i, segments, sizes, place));
            cavities.apexes[i] = sizes.vertices + place.of[NEW_VERTEX];
            cavities.fresh_places[i] = place.of[NEW_TRIANGLES];
            cavities.shared[i] = 0;
        }
    });
    TEAM_BARRIER();
    FOR_SQUADS (i, 0, all.end) {
        if (!cavities.won[i])
            continue;
        const Fan fan = fan_of(mesh, cavities, i, segments, sizes, cavities.apexes[i], cavities.extra_places[i],
                               cavities.fresh_places[i]);
        FOR_SQUAD_SHARE (j, fan.extent.edges)
            if (make_fan_triangle(mesh, cavities, i, fan, j, stamp, fresh))
                atomic_or(&cavities.shared[i], shared_bit(j));
    }
    TEAM_BARRIER();
    FOR_SHARE (i, 0, all.end)
        link_cavity(mesh.triangles, cavities, i, stamp);
    const QualityCheck of_triangle = {mesh, limits, nullptr, nullptr};
    const Piece new_ones = {0, progress[FRESH]};
    FOR_SHARE (i, 0, new_ones.end)
        of_triangle.check(fresh[i], i);
    TEAM_BARRIER();
    const int32 unlisted = survey_fresh(new_ones, fresh, mesh.quality, flags).of[0];
    TEAM_BARRIER();
    append_fresh(new_ones, Sums<1>{{progress[NEXT_LISTED]}}, fresh, flags, list.side(progress[NEXT_SIDE]));
    close_piece(all, mesh, cavities, segments, counts);
    TEAM_BARRIER();
    FOR_LEADER
        end_round(progress, unlisted, counts, room, history);
    TEAM_BARRIER();
}

// One team, while rounds are small and nothing needs the host. Leaves the ranges of a larger round, that is to follow.
// The numbers that the team goes by are in its own memory meanwhile.
TEAM_KERNEL(small_rounds, Mesh mesh, Limits limits, Cavities cavities, Room room, Small small, int32 small_mesh,
            int32 *even, int32 *odd, int32 *roots, int32 *fresh, int32 *inherited, uint8 *flags, int64 *all_counts,
            int64 *history, int32 *all_progress) {
    TEAM_SHARED(int32, progress, PROGRESS_ENTRIES);
    TEAM_SHARED(int64, counts, OUTCOMES + 1);
    const BadList list = {even, odd};
    FOR_TEAMS (team) {
        FOR_SHARE (entry, 0, PROGRESS_ENTRIES)
            progress[entry] = all_progress[entry];
        FOR_SHARE (outcome, 0, OUTCOMES + 1)
            counts[outcome] = all_counts[outcome];
        TEAM_BARRIER();
        while (begin_small_round(mesh, list, room, small, small_mesh, roots, flags, progress))
            finish_small_round(mesh, limits, cavities, list, room, fresh, inherited, flags, counts, history, progress);
        TEAM_BARRIER();
        FOR_LEADER {
            const bool go = progress[STOP] == GO_ON;
            progress[BEGINS] = go;
            progress[SURVEYED_SUBSEGMENTS] = go ? progress[SUBSEGMENTS] : 0;
            progress[SURVEYED_LISTED] = go ? progress[BAD_LISTED] : 0;
            progress[APPLIED] = progress[FRESH] = 0; // of this round, so far
        }
        TEAM_BARRIER();
        FOR_SHARE (entry, 0, PROGRESS_ENTRIES)
            all_progress[entry] = progress[entry];
        FOR_SHARE (outcome, 0, OUTCOMES + 1)
            all_counts[outcome] = counts[outcome];
    }
}
