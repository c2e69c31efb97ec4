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

// The first step of survey_by_blocks, for the entries of a block; `end` is that of the list's piece. Flags the entries
// that stay and counts them in `staying`. Stores the places in the block of those that search their neighbourhood, and
// returns their number. A separate function, because g++ keeps its variables in registers only then. No branches on
// what an entry is: they would go either way.
OUTLINE int find_searching(Piece block, Index end, const int32 *listed, const Mesh &mesh, uint8 *flags,
                           int32 *searching, int32 &staying) {
    constexpr Index FAR = 24, NEAR = 12;
    uint32 *const quality = mesh.quality;
    const int32 *const rivals = mesh.rivals;
    int32 stay = 0;
    int count = 0;
    for (Index i = block.begin; i < block.end; ++i) {
        if (i + FAR < end) {
            prefetch(&quality[listed[i + FAR]]);
            prefetch(&rivals[listed[i + FAR]]);
        }
        if (i + NEAR < end)
            prefetch(&quality[perhaps_across(rivals[listed[i + NEAR]] - 1)]);
        const int32 t = listed[i];
        const uint32 q = racing_load(&quality[t]);
        const bool stays = to_refine(q);
        flags[i] = stays ? STAYS : 0;
        stay += stays;
        store_if(!stays, &quality[t], q & ~LISTED);
        searching[count] = int32(i - block.begin); // the next one is stored in its place, unless it searches
        count += int(urgency(q) != 0) & int(!last_rival_beats(quality, rivals, t, q));
    }
    staying += stay;
    return count;
}

// A CPU's survey of a piece of the list, if rivals are remembered: the flags and sums of survey_bad. Triangles that
// search their neighbourhood have to wait for memory. Those of a block of entries are gathered first, and each search
// finds what it reads prefetched by the ones before it.
INLINE Sums<2> survey_by_blocks(Piece piece, const int32 *listed, const Mesh &mesh, int32 choice, uint8 *flags) {
    constexpr Index BLOCK = 1024;
    constexpr int ROOTS = 32, RECORDS = 20, WORDS = 10; // searches ahead
    const bool far = choice == UNBEATEN_FAR;
    const uint32 *const quality = mesh.quality;
    const Triangle *const triangles = mesh.triangles;
    int32 searching[BLOCK];
    Sums<2> found = {};
    for (Index begin = piece.begin; begin < piece.end; begin += BLOCK) {
        const Index end = begin + BLOCK < piece.end ? begin + BLOCK : piece.end;
        const int count = find_searching({begin, end}, piece.end, listed, mesh, flags, searching, found.of[STAYING]);
        const auto entry = [&](int k) { return listed[begin + searching[k]]; };
        const auto prefetch_across = [&](int32 link, bool record) {
            prefetch(&quality[perhaps_across(link)]);
            if (record)
                prefetch(&triangles[perhaps_across(link)]);
        };
        for (int k = 0; k < count; ++k) {
            if (k + ROOTS < count)
                prefetch(&triangles[entry(k + ROOTS)]);
            if (k + RECORDS < count)
                for (int32 link : triangles[entry(k + RECORDS)].link)
                    prefetch_across(link, true);
            if (k + WORDS < count && compares_far(racing_load(&quality[entry(k + WORDS)]), far))
                for (int32 link : triangles[entry(k + WORDS)].link)
                    for (int32 next : triangles[perhaps_across(link)].link)
                        prefetch_across(next, far);
            const Index i = begin + searching[k];
            const int32 t = entry(k), rival = rival_around(mesh, t, racing_load(&quality[t]), far);
            mesh.rivals[t] = rival + 1;
            const bool competes = rival == NOTHING;
            flags[i] |= uint8(COMPETES * int(competes));
            found.of[CHOSEN] += int(competes);
        }
    }
    return found;
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
    if (ONE_MEMBER && is_unbeaten_choice(choice) && !windows) {
        const Sums<2> found = survey_by_blocks(piece, listed, mesh, choice, flags);
        return {{found.of[STAYING], found.of[CHOSEN], window}};
    }
    const Sums<2> found = team.sum(piece, [&](Index i) {
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
