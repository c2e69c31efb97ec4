// Single-block rounds, too small for many teams: one team runs them one after the other, without launches in between.
//
// The tail of a refinement is some hundred rounds of a few cavities each, and the beginning is the same for
// subsegments. Launch overhead dominates there. The steps are those of the other kernels, with the whole list as one
// piece.
#pragma once

#include "refine/rounds/team_steps.cuh"

// The largest round that one team takes.
KERNEL_STRUCT(SingleBlock) {
    int64 candidates;
    int64 listed;
    int64 subsegments;
};

// If only the most urgent window competes, few of the listed triangles do.
constexpr Index WINDOWED_SHARE = 4;

// Gathers candidates into the roots, and writes the round's first numbers to `progress`. Returns false if the round is
// too large for one team, or if no round is to begin.
INLINE bool begin_single_block_round(const Mesh &mesh, const BadList &list, const Capacity &capacity, const SingleBlock &single_block,
                              int32 small_mesh, int32 *roots, uint8 *flags, int32 *progress) {
    const int32 subsegments = progress[SUBSEGMENTS], listed = progress[BAD_LISTED], buffer = progress[BUFFER];
    const int32 choice = progress[CHOICE];
    const bool windows = has_windows(choice, progress[SLOTS], small_mesh);
    if (progress[STOP] != GO_ON || subsegments > single_block.subsegments)
        return false;
    const Piece of_subsegments = {0, subsegments}, of_bad = {0, listed};
    const int32 waiting = survey_subsegments(of_subsegments, mesh.split_states).of[0];
    const bool free_points = has_free_points(mesh, progress[VERTICES], subsegments);
    const bool alone = segments_alone(choice, waiting, progress[SLOTS], free_points);
    const int32 segments = taken(waiting, capacity);
    if (segments > single_block.candidates || (!alone && listed > (windows ? WINDOWED_SHARE : 1) * single_block.listed))
        return false;
    TEAM_BARRIER(); // all have read the progress
    Sums<SURVEYED> found = {{listed, 0, 0}};
    if (!alone)
        found = survey_bad(of_bad, list.buffer(buffer), mesh, choice, windows, flags);
    const int32 count = taken(Index(waiting) + found.of[CHOSEN], capacity), next_buffer = alone ? buffer : 1 - buffer;
    const bool fits = count <= single_block.candidates;
    const int32 most = fits && count <= capacity.candidates ? count : 0;
    TEAM_BARRIER(); // flags are set
    if (waiting)
        gather_subsegments(of_subsegments, Sums<1>{}, mesh.split_states, segments < most ? segments : most, roots);
    if (!alone)
        gather_bad(of_bad, Sums<2>{{0, segments}}, list.buffer(buffer), flags, mesh.quality, windows, found.of[WINDOW], most,
                   list.buffer(next_buffer), roots);
    FOR_LEADER {
        if (fits)
            begin_round(progress, count, segments, found.of[STAYING], next_buffer, capacity);
        if (!fits || progress[STOP] != GO_ON) { // the list was compacted all the same
            progress[BAD_LISTED] = found.of[STAYING];
            progress[BUFFER] = next_buffer;
        }
    }
    TEAM_BARRIER();
    return fits && progress[STOP] == GO_ON;
}

// Completes the round. Needs are counted and placed in one go, because the same team does both.
INLINE void finish_single_block_round(const Mesh &mesh, const Limits &limits, const Cavities &cavities, const BadList &list,
                               const Capacity &capacity, int32 *fresh, int32 *inherited, uint8 *flags, int64 *counts,
                               int64 *history, int32 *progress) {
    const Index segments = progress[SEGMENTS];
    const uint32 epoch = uint32(progress[EPOCH]);
    const Piece all = {0, progress[CANDIDATES]};
    FOR_SHARE (i, 0, all.end)
        claim_cavity(mesh, cavities, i, segments, epoch, grow_candidate(mesh, limits, cavities, i, segments, false));
    TEAM_BARRIER();
    FOR_SHARE (i, 0, all.end)
        check_cavity_ownership(mesh.triangles, cavities, i);
    TEAM_BARRIER();
    const Sums<NEEDS> needs = team_resolve_conflicts(all, mesh, cavities, segments, epoch);
    FOR_LEADER
        fit_winners(progress, needs, capacity);
    TEAM_BARRIER();
    if (progress[STOP] != GO_ON) { // the host adds capacity, and does the rest of this round
        TEAM_BARRIER();
        FOR_LEADER
            end_round(progress, 0, counts, capacity, history);
        TEAM_BARRIER();
        return;
    }
    const Sizes sizes = {progress[VERTICES], progress[SLOTS], progress[SUBSEGMENTS]};
    team_retriangulate(all, Sums<NEEDS>{}, mesh, cavities, segments, epoch, sizes, inherited, fresh);
    TEAM_BARRIER();
    FOR_SHARE (i, 0, all.end)
        link_cavity(mesh.triangles, cavities, i, epoch);
    const Piece new_ones = {0, progress[FRESH]};
    const int32 unlisted = team_check(new_ones, mesh, limits, fresh, flags).of[0];
    TEAM_BARRIER();
    append_fresh(new_ones, Sums<1>{{progress[NEXT_LISTED]}}, fresh, flags, list.buffer(progress[NEXT_BUFFER]));
    close_piece(all, mesh, cavities, segments, counts);
    TEAM_BARRIER();
    FOR_LEADER
        end_round(progress, unlisted, counts, capacity, history);
    TEAM_BARRIER();
}

// Runs rounds with one team as long as they are small and nothing needs the host. Leaves the ranges of a larger round
// that is to follow. Meanwhile the team's `progress` and `counts` are in its shared memory.
INLINE void run_single_block_rounds(const Mesh &mesh, const Limits &limits, const Cavities &cavities, const BadList &list,
                                    const Capacity &capacity, const SingleBlock &single_block, int32 small_mesh, int32 *roots, int32 *fresh,
                                    int32 *inherited, uint8 *flags, int64 *all_counts, int64 *history,
                                    int32 *all_progress) {
    TEAM_SHARED(int32, progress, PROGRESS_ENTRIES);
    TEAM_SHARED(int64, counts, OUTCOMES + 1);
    FOR_SHARE (entry, 0, PROGRESS_ENTRIES)
        progress[entry] = all_progress[entry];
    FOR_SHARE (outcome, 0, OUTCOMES + 1)
        counts[outcome] = all_counts[outcome];
    TEAM_BARRIER();
    while (begin_single_block_round(mesh, list, capacity, single_block, small_mesh, roots, flags, progress)) {
        STOP_POINT();
        finish_single_block_round(mesh, limits, cavities, list, capacity, fresh, inherited, flags, counts, history, progress);
    }
    TEAM_BARRIER();
    FOR_LEADER
        leave_rounds(progress, progress[STOP] == GO_ON);
    TEAM_BARRIER();
    FOR_SHARE (entry, 0, PROGRESS_ENTRIES)
        all_progress[entry] = progress[entry];
    FOR_SHARE (outcome, 0, OUTCOMES + 1)
        all_counts[outcome] = counts[outcome];
}
