// What the rounds of a refinement go by, kept in the device's memory: so that they follow each other without the host.
//
// Every kernel of a round is launched over a range, and with numbers, that stand in `progress` (Count, portable.cuh). The
// kernels here work them out, with one thread each: what the host does where it drives the rounds (dmr/refinement.py).
// Where something needs the host - more room, large records, the end - `STOP` says what, the ranges of whatever
// still comes in this round become empty, and no round follows.
#include "quality.cuh"

enum ProgressEntry : int32 {
    VERTICES,      // of the mesh
    SLOTS,         // its triangles
    SUBSEGMENTS,
    BAD_LISTED,    // entries of the list of bad triangles
    STAMP,         // of the step
    ROUNDS,        // that have ended
    STOP,          // a StopReason
    PRUNABLE,      // entries of the list that may be good by now: none while a subsegment waits to be split
    SELECTABLE,    // bad triangles that may compete: none while a subsegment waits to be split
    WINDOW,        // the same in a small mesh, where only the most urgent ones do; else none
    SCATTERED_BAD, // ranges from which the candidates are taken
    SCATTERED_SUBSEGMENTS,
    CANDIDATES,
    SEGMENTS,      // the first so many of them are subsegments
    TO_CLEAR,      // triangles whose owner is cleared, when the stamps start again
    APPLIED,       // cavities that are judged and applied: all, or none where there is no room
    FRESH,         // new triangles
    NEW_VERTICES,
    NEW_SLOTS,
    NEW_SEGMENTS,
    OVERFLOWS,     // cavities that did not fit their record, so far
};

enum StopReason : int32 { GO_ON, NO_CANDIDATE, CANDIDATE_ROOM, WINNER_ROOM, LARGE_CAVITIES, ENOUGH_ROUNDS };

// After the wishes were counted: segments first.
KERNEL(count_wishes, const int32 *wish_offsets, int32 *progress) {
    FOR_RANGE (once) {
        progress[SEGMENTS] = wish_offsets[progress[SUBSEGMENTS]];
        progress[PRUNABLE] = progress[SEGMENTS] ? 0 : progress[BAD_LISTED];
    }
}

// After the list of bad triangles was pruned: which of them may compete.
KERNEL(choose_kind, const int32 *kept_offsets, int32 small_mesh, int32 *most_urgent, int32 *progress) {
    FOR_RANGE (once) {
        if (progress[PRUNABLE])
            progress[BAD_LISTED] = kept_offsets[progress[PRUNABLE]];
        progress[SELECTABLE] = progress[SEGMENTS] ? 0 : progress[BAD_LISTED];
        progress[WINDOW] = progress[SLOTS] <= small_mesh ? progress[SELECTABLE] : 0;
        most_urgent[once] = 0;
    }
}

// After they were selected: how many candidates there are, if there is a record for each, and the stamp of the step.
KERNEL(begin_round, const int32 *candidate_offsets, int32 most_candidates, int32 *progress) {
    FOR_RANGE (once) {
        const int32 wished = progress[SEGMENTS], count = wished + candidate_offsets[progress[SELECTABLE]];
        if (progress[STOP] == GO_ON && (count == 0 || count > most_candidates))
            progress[STOP] = count == 0 ? NO_CANDIDATE : CANDIDATE_ROOM;
        const bool go = progress[STOP] == GO_ON;
        progress[SCATTERED_BAD] = go ? progress[SELECTABLE] : 0;
        progress[SCATTERED_SUBSEGMENTS] = go && wished ? progress[SUBSEGMENTS] : 0;
        progress[CANDIDATES] = go ? count : 0;
        progress[SEGMENTS] = go ? wished : 0;
        const bool again = go && progress[STAMP] == LAST_STAMP;
        progress[TO_CLEAR] = again ? progress[SLOTS] : 0;
        progress[STAMP] = again ? 1 : progress[STAMP] + go;
    }
}

// After the winners are known: whether the arrays have room for them.
KERNEL(fit_winners, const int32 *vertex_offsets, const int32 *slot_offsets, const int32 *fresh_offsets,
       int32 most_vertices, int32 most_slots, int32 most_subsegments, int32 most_bad, int32 *progress) {
    FOR_RANGE (once) {
        const int32 count = progress[CANDIDATES];
        progress[NEW_VERTICES] = vertex_offsets[count];
        progress[NEW_SLOTS] = slot_offsets[count];
        progress[NEW_SEGMENTS] = vertex_offsets[progress[SEGMENTS]];
        progress[FRESH] = fresh_offsets[count];
        const bool room = progress[NEW_VERTICES] <= most_vertices - progress[VERTICES] &&
                          progress[NEW_SLOTS] <= most_slots - progress[SLOTS] &&
                          progress[NEW_SEGMENTS] <= most_subsegments - progress[SUBSEGMENTS] &&
                          progress[FRESH] <= most_bad - progress[BAD_LISTED];
        if (!room) {
            progress[STOP] = WINNER_ROOM;
            progress[FRESH] = 0;
        }
        progress[APPLIED] = room ? count : 0;
    }
}

// One line of the history of a run: the totals after each round.
enum HistoryEntry : int32 {
    GROWN,
    VERTICES_AFTER,
    LOST_CONFLICTS,
    BAD_AFTER,
    TRIANGLES_AFTER,
    NANOSECONDS,
    HISTORY_ENTRIES,
};

// After the round's new triangles are listed and its outcomes counted. `counts` are those of the whole run.
KERNEL(end_round, const int32 *list_offsets, const int64 *counts, int32 most_rounds, int64 *history, int32 *progress) {
    FOR_RANGE (once)
        if (progress[APPLIED]) {
            progress[BAD_LISTED] += list_offsets[progress[FRESH]];
            progress[VERTICES] += progress[NEW_VERTICES];
            progress[SLOTS] += progress[NEW_SLOTS];
            progress[SUBSEGMENTS] += progress[NEW_SEGMENTS];
            int64 grown = 0;
            for (int outcome = 0; outcome < OUTCOMES; ++outcome)
                grown += counts[outcome];
            int64 *const line = history + Index(progress[ROUNDS]) * HISTORY_ENTRIES;
            line[GROWN] = grown;
            line[VERTICES_AFTER] = progress[VERTICES];
            line[LOST_CONFLICTS] = counts[LOST] + counts[YIELDED];
            line[BAD_AFTER] = progress[BAD_LISTED];
            line[TRIANGLES_AFTER] = progress[SLOTS];
            line[NANOSECONDS] = nanoseconds();
            progress[ROUNDS] += 1;
            if (counts[OVERFLOWED] > progress[OVERFLOWS])
                progress[STOP] = LARGE_CAVITIES;
            else if (progress[ROUNDS] >= most_rounds)
                progress[STOP] = ENOUGH_ROUNDS;
            progress[OVERFLOWS] = int32(counts[OVERFLOWED]);
        }
}

// Entries appended to a list: kept[start + offsets[i]] = values[i] where flags[i] is 1.
KERNEL(append_flagged, const int32 *values, const int32 *flags, const int32 *offsets, Count start, int32 *kept) {
    FOR_RANGE (i)
        if (flags[i])
            kept[start + offsets[i]] = values[i];
}

KERNEL(copy_int32, const int32 *values, int32 *copy) {
    FOR_RANGE (i)
        copy[i] = values[i];
}
