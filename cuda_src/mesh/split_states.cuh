// Split states of subsegments, and split requests.
#pragma once

#include "portable/portable.cuh"

// Split state of a subsegment. Those from FIRST_WAITING on wait: their tile cannot split them
// (docs/internals/tiles.md).
enum SplitState : int32 {
    NO_REQUEST = 0,
    TO_BE_SPLIT = 1,
    UNSPLITTABLE = 2,     // no coordinates are left between its ends
    KEPT = 3,             // never split, because the user said so
    BESIDE_CUT = 4,       // the triangle on one of its sides is frozen, or in another tile
    WANTED_ELSEWHERE = 5, // the same, and a split has been requested
    SPLIT_WAITS = 6,      // its split point lies in the circle of a frozen triangle
};
constexpr int32 FIRST_WAITING = 4;

// Requests the split of a subsegment; any number of threads may do so. Returns its state before: UNSPLITTABLE, KEPT, or
// one of those that wait, if it is not split now.
INLINE int32 request_split(int32 *split_states, int32 subsegment) {
    const int32 state = racing_load(&split_states[subsegment]);
    if (state == NO_REQUEST)
        racing_store(&split_states[subsegment], int32(TO_BE_SPLIT));
    else if (state == BESIDE_CUT)
        racing_store(&split_states[subsegment], int32(WANTED_ELSEWHERE));
    return state;
}
