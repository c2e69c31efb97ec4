// The survey of a round: flags, and counts by piece, the subsegments and the bad triangles that compete.
//
// The list of bad triangles is processed in order, in two steps with a barrier between them. The survey flags, and
// counts by piece, the entries that stay in the list and those that compete; gather.cuh copies both to their places.
#pragma once

#include "refine/candidates/competing.cuh"

// The number of subsegments of a piece that wait to be split.
INLINE Sums<1> survey_subsegments(const Team &team, Piece piece, const int32 *split_states) {
    return team.sum(piece, [&](Index s) { return Sums<1>{{split_states[s] == TO_BE_SPLIT}}; });
}

// Result of the survey of a piece of the list: the number of entries that stay, the number of candidates, and the
// urgency window of these (in small meshes only the most urgent window is counted; otherwise all candidates are, as
// window 0).
enum Surveyed { STAYING, CHOSEN, WINDOW, SURVEYED };
enum SurveyFlag : uint8 { STAYS = 1, COMPETES = 2 };

// Prefetching for the survey: the words of listed triangles, then those of their rivals, and the records of triangles
// without a rival.
INLINE void prefetch_neighbourhoods(const int32 *listed, Index i, Index end, const Mesh &mesh) {
    if (!PREFETCHES)
        return;
    if (i + 24 < end) {
        prefetch(&mesh.quality[listed[i + 24]]);
        prefetch(&mesh.rivals[listed[i + 24]]);
    }
    if (i + 16 < end) {
        const int32 last = mesh.rivals[listed[i + 16]] - 1;
        if (last == NOTHING)
            prefetch(&mesh.triangles[listed[i + 16]]);
        else
            prefetch(&mesh.quality[last]);
    }
    if (i + 8 < end && mesh.rivals[listed[i + 8]] == 0)
        for (int32 across : mesh.triangles[listed[i + 8]].link)
            if (across >= 0) {
                prefetch(&mesh.triangles[across]);
                prefetch(&mesh.quality[across]);
            }
}

// Flags the entries of a piece: flags[i] says whether entry i stays, and whether it competes. Clears LISTED in the
// words of entries that leave the list. With windows no rival is remembered: the comparisons then depend on the piece,
// and must leave no trace.
INLINE Sums<SURVEYED> survey_bad(const Team &team, Piece piece, const int32 *listed, const Mesh &mesh, int32 choice,
                                 bool windows, uint8 *flags) {
    uint32 *const quality = mesh.quality;
    TEAM_SHARED(int32, most_urgent, 1);
    team.barrier();
    if (team.leads())
        most_urgent[0] = 0;
    team.barrier();
    if (windows) { // no triangle beats the most urgent one of all, which determines the window
        for (const Index i : team.share(piece)) {
            const uint32 q = racing_load(&quality[listed[i]]);
            if (is_eligible(choice, q))
                atomic_max(&most_urgent[0], window_of(q));
        }
        team.barrier();
    }
    const int32 window = most_urgent[0];
    const Sums<2> found = team.sum(piece, [&](Index i) {
        if (!windows)
            prefetch_neighbourhoods(listed, i, piece.end, mesh);
        const int32 t = listed[i];
        const uint32 q = racing_load(&quality[t]);
        const bool stays = to_refine(q);
        const bool competes = (!windows || window_of(q) == window) && is_chosen(choice, mesh, t, q, !windows);
        flags[i] = uint8((stays ? STAYS : 0) | (competes ? COMPETES : 0));
        if (!stays)
            racing_store(&quality[t], q & ~LISTED);
        return Sums<2>{{stays, competes}};
    });
    return {{found.of[0], found.of[1], window}};
}
