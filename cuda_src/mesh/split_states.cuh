// Split states of subsegments, and split requests.
#pragma once

#include "portable/portable.cuh"

// Split state of a subsegment. UNSPLITTABLE: no coordinates are left between its ends. KEPT: never split, because the
// user said so.
enum SplitState : int32 { NO_REQUEST = 0, TO_BE_SPLIT = 1, UNSPLITTABLE = 2, KEPT = 3 };

// Requests the split of a subsegment; any number of threads may do so. Returns UNSPLITTABLE or KEPT if it cannot be
// split.
INLINE int32 request_split(int32 *split_states, int32 subsegment) {
    const int32 state = racing_load(&split_states[subsegment]);
    if (state == NO_REQUEST)
        racing_store(&split_states[subsegment], int32(TO_BE_SPLIT));
    return state;
}
