// The state of a refinement between rounds, kept in device memory so that rounds follow each other without the host.
//
// Every kernel of a round takes its range and its numbers from `progress` (Count, portable.cuh); one member of a team
// computes them here (Entry, Stop and HistoryColumn of dmr/refinement/state/progress.py). If something needs the host -
// more capacity, large records, the end - STOP gives the reason, the ranges of the remaining kernels of the round are
// empty, and no round follows.
#pragma once

#include "refine/candidates/gather.cuh"
#include "refine/cavity/cavity.cuh"
#include "refine/retriangulation/needs.cuh"

enum ProgressEntry : int32 {
    VERTICES, // of the mesh
    SLOTS,    // its triangles
    SUBSEGMENTS,
    BAD_LISTED,           // entries of the list of bad triangles
    BUFFER,               // the side of the list (a double buffer) where they are
    EPOCH,                // epoch of the last step
    ROUNDS,               // rounds completed
    MOST_ROUNDS,          // number of rounds after which to stop
    STOP,                 // a StopReason
    BEGINS,               // 1 if a round for many teams is to begin
    SURVEYED_SUBSEGMENTS, // equal to SUBSEGMENTS and BAD_LISTED in that case, else 0
    SURVEYED_LISTED,
    NEXT_LISTED, // length of the list after candidates were taken from it, and its side
    NEXT_BUFFER,
    CANDIDATES,
    SEGMENTS, // how many of them, the first ones, are subsegments
    APPLIED,  // cavities that are checked and applied: all, or none if capacity is short
    FRESH,    // new triangles
    NEW_VERTICES,
    NEW_SLOTS,
    NEW_SEGMENTS,
    CHOICE,        // which bad triangles compete: a Choice
    OVERFLOWS,     // cavities so far that did not fit their record
    LEFT,          // cavities of a pass that lacks capacity for its winners, which the host inserts
    LEFT_SEGMENTS, // how many of them, the first ones, are around subsegments
    LARGE_WAITING, // 1 if cavities wait for large records
    LARGE_LEVELS,  // levels of large records that the device has
    LARGE_STEPS,   // the lowest of them, whose passes many teams can run, too
    LARGE_LEVEL,   // level of the pass with large records that the round continues with, or 0
    LARGE_MOST_1,  // by level: the most cavities that the next pass takes, or 0 if there was none yet
    LARGE_MOST_2,
    LARGE_MOST_3,
    LARGE_MOST_4,
    LARGE_MOST_5,
    PROGRESS_ENTRIES,
};

enum StopReason : int32 {
    GO_ON,
    NO_CANDIDATE,
    CANDIDATE_CAPACITY,
    WINNER_CAPACITY,
    LARGE_CAVITIES, // the next pass needs larger records than the device has
    ENOUGH_ROUNDS,
    EPOCHS_USED,
    LARGE_PASS, // a pass with large records is too large for one launch, and the loop does not have its steps
};

// The capacity of the arrays, as allocated by the host, and limits of the run.
KERNEL_STRUCT(Capacity) {
    int64 candidates; // records
    int64 most;       // candidates that a round may take (spread over the list)
    int64 vertices;
    int64 slots;
    int64 subsegments;
    int64 bad;
};

// ---- Passes with large records ------------------------------------------------------------------------------------
//
// Cavities that overflow an ordinary record wait for a pass with large ones. A round continues with such passes as long
// as any cavity waits: a record of level n has 4^n times the ordinary capacity, and the next level follows if a cavity
// overflows again.

// Large cavities are costly to grow, and most overlap. So a pass with large records takes this number of competitors
// for each point inserted by the last pass of its level, and at least FEWEST_LARGE.
constexpr int32 COMPETITORS = 8, FEWEST_LARGE = 16;

INLINE int32 &large_most(int32 *progress, int32 level) { return progress[LARGE_MOST_1 + level - 1]; }

// The most cavities that a pass takes; `level` is 0 for ordinary records.
INLINE Index most_of_pass(int32 *progress, int32 level, Index most) {
    const Index large = level ? large_most(progress, level) : 0;
    return large && large < most ? large : most;
}

// Notes how many points a pass with records of a level above 0 has inserted.
INLINE void enter_large_pass(int32 *progress, int32 level, int32 inserted) {
    large_most(progress, level) = COMPETITORS * inserted > FEWEST_LARGE ? COMPETITORS * inserted : FEWEST_LARGE;
}

// Continues the round with a pass with records of this level.
INLINE void continue_round(int32 *progress, int32 level) {
    progress[LARGE_LEVEL] = level;
    if (level > progress[LARGE_LEVELS])
        progress[STOP] = LARGE_CAVITIES;
}

// Ends the round after its last pass.
INLINE void complete_round(int32 *progress) {
    progress[LARGE_LEVEL] = 0;
    if (progress[ROUNDS] >= progress[MOST_ROUNDS])
        progress[STOP] = ENOUGH_ROUNDS;
}

// ---- One pass -----------------------------------------------------------------------------------------------------

// Begins a pass once its candidates are counted: checks that there are any, and a record for each, and takes the next
// epoch. The list of bad triangles was on side `buffer`; `level` is that of the records. What other teams may be
// reading meanwhile, such as the level, does not change.
INLINE void begin_pass(int32 *progress, int32 level, const Competition &found, int32 buffer, const Capacity &capacity) {
    progress[NEXT_LISTED] = found.staying;
    progress[NEXT_BUFFER] = found.alone ? buffer : 1 - buffer;
    if (found.count == 0) {
        if (!level) // else `end_large_passes` follows
            progress[STOP] = NO_CANDIDATE;
    } else if (found.count > capacity.candidates)
        progress[STOP] = CANDIDATE_CAPACITY;
    else if (progress[EPOCH] == LAST_EPOCH)
        progress[STOP] = EPOCHS_USED;
    const bool go = found.count > 0 && progress[STOP] == GO_ON;
    progress[CANDIDATES] = go ? found.count : 0;
    progress[SEGMENTS] = go ? found.segments : 0;
    progress[EPOCH] += go;
    progress[APPLIED] = progress[FRESH] = 0;
}

// Whether the arrays have capacity for the winners.
INLINE bool fits(const int32 *progress, const Sums<NEEDS> &needs, const Capacity &capacity) {
    return needs.of[NEW_VERTEX] <= capacity.vertices - progress[VERTICES] &&
           needs.of[EXTRA_SLOTS] <= capacity.slots - progress[SLOTS] &&
           needs.of[NEW_SUBSEGMENT] <= capacity.subsegments - progress[SUBSEGMENTS] &&
           needs.of[NEW_TRIANGLES] <= capacity.bad - progress[NEXT_LISTED];
}

// Stores the winners' needs, and stops if capacity is short.
INLINE void fit_winners(int32 *progress, const Sums<NEEDS> &needs, const Capacity &capacity) {
    progress[NEW_VERTICES] = needs.of[NEW_VERTEX];
    progress[NEW_SLOTS] = needs.of[EXTRA_SLOTS];
    progress[NEW_SEGMENTS] = needs.of[NEW_SUBSEGMENT];
    progress[FRESH] = needs.of[NEW_TRIANGLES];
    const bool enough = fits(progress, needs, capacity);
    progress[APPLIED] = enough ? progress[CANDIDATES] : 0;
    if (!enough) {
        progress[STOP] = WINNER_CAPACITY;
        progress[FRESH] = 0;
        progress[LEFT] = progress[CANDIDATES];
        progress[LEFT_SEGMENTS] = progress[SEGMENTS];
    }
}

// Columns of the history of a run, which has a row of totals per round.
enum HistoryEntry : int32 {
    GROWN,
    VERTICES_AFTER,
    LOST_CONFLICTS,
    BAD_AFTER,
    TRIANGLES_AFTER,
    NANOSECONDS,
    HISTORY_ENTRIES,
};

// The line of the last round; a round has one line, whatever the number of its passes.
INLINE int64 *last_line(const int32 *progress, int64 *history) {
    return history + Index(progress[ROUNDS] - 1) * HISTORY_ENTRIES;
}

// Turns to the copy of the list of bad triangles if no pass begins after all.
INLINE void turn_list(int32 *progress, const Competition &found, int32 buffer) {
    progress[BAD_LISTED] = found.staying;
    progress[BUFFER] = found.alone ? buffer : 1 - buffer;
}

// Completes a round if a pass with records of a level above 0 has found no candidate: what waited has been refined or
// deleted. The line of the round counts the triangles that stay in the list.
INLINE void end_large_passes(int32 *progress, int32 level, int64 *history) {
    progress[LARGE_WAITING] = 0;
    enter_large_pass(progress, level, 0);
    last_line(progress, history)[BAD_AFTER] = progress[BAD_LISTED];
    complete_round(progress);
}

// Ends a pass once its new triangles are listed, `appended` of them, and its outcomes counted. `counts` are those of
// the whole run.
INLINE void end_pass(int32 *progress, int32 level, int32 appended, const int64 *counts, int64 *history) {
    progress[BAD_LISTED] = progress[NEXT_LISTED] + appended;
    progress[BUFFER] = progress[NEXT_BUFFER];
    if (!progress[APPLIED])
        return;
    if (level)
        enter_large_pass(progress, level, progress[NEW_VERTICES]);
    else
        progress[CHOICE] = next_choice(progress[CHOICE], progress[APPLIED], progress[NEW_VERTICES]);
    progress[CANDIDATES] = progress[SEGMENTS] = 0; // kernels still to come in this round have nothing to do
    progress[VERTICES] += progress[NEW_VERTICES];
    progress[SLOTS] += progress[NEW_SLOTS];
    progress[SUBSEGMENTS] += progress[NEW_SEGMENTS];
    progress[ROUNDS] += level == 0;
    int64 grown = 0;
    for (int outcome = 0; outcome < OUTCOMES; ++outcome)
        grown += counts[outcome];
    int64 *const line = last_line(progress, history);
    line[GROWN] = grown;
    line[VERTICES_AFTER] = progress[VERTICES];
    line[LOST_CONFLICTS] = counts[LOST] + counts[YIELDED];
    line[BAD_AFTER] = progress[BAD_LISTED];
    line[TRIANGLES_AFTER] = progress[SLOTS];
    line[NANOSECONDS] = nanoseconds();
    const bool overflowed = counts[OVERFLOWED] > progress[OVERFLOWS];
    progress[OVERFLOWS] = int32(counts[OVERFLOWED]);
    progress[LARGE_WAITING] |= int32(overflowed);
    if (level ? overflowed : progress[LARGE_WAITING] != 0)
        continue_round(progress, level + 1);
    else
        complete_round(progress);
}

// Leaves rounds without launches: a round that is too large for them follows, or nothing in
// this iteration.
INLINE void leave_rounds(int32 *progress, bool too_large) {
    progress[BEGINS] = too_large;
    progress[SURVEYED_SUBSEGMENTS] = too_large ? progress[SUBSEGMENTS] : 0;
    progress[SURVEYED_LISTED] = too_large ? progress[BAD_LISTED] : 0;
    progress[CANDIDATES] = progress[SEGMENTS] = progress[APPLIED] = progress[FRESH] = 0; // of this round, so far
}
