// What the rounds of a scheme go by, in the device's memory (Entry and Cursor of static_graph/schemes/rounds.py): the
// kernels of a round are launched over numbers that stand there, and the last one says whether another round follows.
#pragma once

#include "portable.cuh"

enum RoundEntry : int32 {
    CHANGED,  // 1 where a distance was lowered in this round
    ROUNDS,   // that have ended
    STOP,     // 1 where no further round is to come
    DEFERRED, // nodes left to whole teams in this round
    ROUND_ENTRIES,
};

// Numbers of 64 bits that begin at 0 in every round.
enum RoundCursor : int32 {
    TAKEN,   // tasks handed out from the work queue
    TICKETS, // children that were asked for
    ROUND_CURSORS,
};

INLINE void mark_changed(int32 *progress, bool changed) {
    if (changed)
        racing_store(progress + CHANGED, 1);
}
