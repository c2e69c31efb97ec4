// Control state of a scheme's rounds in device memory: launch sizes of the kernels of a round.
// The last kernel of a round decides whether another one follows.
#pragma once

#include "portable/portable.cuh"

enum RoundEntry : int32 {
    CHANGED,  // 1 if a distance was lowered in this round
    ROUNDS,   // number of completed rounds
    STOP,     // 1 if no further round follows
    DEFERRED, // nodes left to whole teams in this round
    ROUND_ENTRIES,
};

// 64-bit counters that are reset to 0 in every round.
enum RoundCursor : int32 {
    TAKEN,   // tasks handed out from the work queue
    TICKETS, // children requested
    ROUND_CURSORS,
};

INLINE void mark_changed(int32 *progress, bool changed) {
    if (changed)
        racing_store(progress + CHANGED, 1);
}
