// What the rounds of a refinement go by, kept in the device's memory: so that they follow each other without the host.
//
// Every kernel of a round is launched over a range, and with numbers, that stand in `progress` (Count, portable.cuh); one
// member of a team works them out here (Entry, Stop and Line of dmr/pipeline/progress.py). Where something needs the
// host - more room, large records, the end - STOP says what, the ranges of whatever still comes in this round are
// empty, and no round follows.
#pragma once

#include "candidates.cuh"
#include "retriangulation.cuh"

enum ProgressEntry : int32 {
    VERTICES,             // of the mesh
    SLOTS,                // its triangles
    SUBSEGMENTS,
    BAD_LISTED,           // entries of the list of bad triangles
    SIDE,                 // the side of the list where they are
    STAMP,                // of the last step
    ROUNDS,               // that have ended
    STOP,                 // a StopReason
    BEGINS,               // 1 where a round for many teams is to be begun
    SURVEYED_SUBSEGMENTS, // the same as SUBSEGMENTS and BAD_LISTED then, else 0
    SURVEYED_LISTED,
    NEXT_LISTED,          // the list after candidates were taken from it, and its side
    NEXT_SIDE,
    CANDIDATES,
    SEGMENTS,             // the first so many of them are subsegments
    APPLIED,              // cavities that are judged and applied: all, or none where there is no room
    FRESH,                // new triangles
    NEW_VERTICES,
    NEW_SLOTS,
    NEW_SEGMENTS,
    CHOICE,               // which bad triangles compete: a Choice
    OVERFLOWS,            // cavities that did not fit their record, so far
    PROGRESS_ENTRIES,
};

enum StopReason : int32 { GO_ON, NO_CANDIDATE, CANDIDATE_ROOM, WINNER_ROOM, LARGE_CAVITIES, ENOUGH_ROUNDS, STAMPS_USED };

// The room that the host has made.
KERNEL_STRUCT(Room) {
    int64 candidates;  // records
    int64 most;        // candidates that a round may take, the first ones
    int64 vertices;
    int64 slots;
    int64 subsegments;
    int64 bad;
    int64 rounds;      // after which to stop
};

// After the candidates are counted, `segments` of them subsegments: whether there are any, and a record for each; the
// stamp of the step. The list has `staying` entries then, on `side`.
INLINE void begin_round(int32 *progress, int32 count, int32 segments, int32 staying, int32 side, const Room &room) {
    progress[NEXT_LISTED] = staying;
    progress[NEXT_SIDE] = side;
    if (count == 0)
        progress[STOP] = NO_CANDIDATE;
    else if (count > room.candidates)
        progress[STOP] = CANDIDATE_ROOM;
    else if (progress[STAMP] == LAST_STAMP)
        progress[STOP] = STAMPS_USED;
    const bool go = progress[STOP] == GO_ON;
    progress[CANDIDATES] = go ? count : 0;
    progress[SEGMENTS] = go ? segments : 0;
    progress[STAMP] += go;
    progress[APPLIED] = progress[FRESH] = 0;
}

// How many of so many candidates a round takes.
INLINE int32 taken(Index candidates, const Room &room) { return int32(candidates < room.most ? candidates : room.most); }

// Whether the arrays have room for the winners.
INLINE bool fits(const int32 *progress, const Sums<NEEDS> &needs, const Room &room) {
    return needs.of[NEW_VERTEX] <= room.vertices - progress[VERTICES] &&
           needs.of[EXTRA_SLOTS] <= room.slots - progress[SLOTS] &&
           needs.of[NEW_SUBSEGMENT] <= room.subsegments - progress[SUBSEGMENTS] &&
           needs.of[NEW_TRIANGLES] <= room.bad - progress[NEXT_LISTED];
}

// After the winners are known.
INLINE void fit_winners(int32 *progress, const Sums<NEEDS> &needs, const Room &room) {
    progress[NEW_VERTICES] = needs.of[NEW_VERTEX];
    progress[NEW_SLOTS] = needs.of[EXTRA_SLOTS];
    progress[NEW_SEGMENTS] = needs.of[NEW_SUBSEGMENT];
    progress[FRESH] = needs.of[NEW_TRIANGLES];
    const bool enough = fits(progress, needs, room);
    progress[APPLIED] = enough ? progress[CANDIDATES] : 0;
    if (!enough) {
        progress[STOP] = WINNER_ROOM;
        progress[FRESH] = 0;
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

// After the round's new triangles are listed, `appended` of them, and its outcomes counted. `counts` are those of the
// whole run.
INLINE void end_round(int32 *progress, int32 appended, const int64 *counts, const Room &room, int64 *history) {
    progress[BAD_LISTED] = progress[NEXT_LISTED] + appended;
    progress[SIDE] = progress[NEXT_SIDE];
    if (!progress[APPLIED])
        return;
    progress[CHOICE] = next_choice(progress[CHOICE], progress[APPLIED], progress[NEW_VERTICES]);
    progress[CANDIDATES] = progress[SEGMENTS] = 0; // nothing is left to do for kernels that still come
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
    else if (progress[ROUNDS] >= room.rounds)
        progress[STOP] = ENOUGH_ROUNDS;
    progress[OVERFLOWS] = int32(counts[OVERFLOWED]);
}
