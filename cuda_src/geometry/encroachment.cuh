// Encroachment of points on subsegments, and split requests.
#pragma once

#include "geometry/steiner.cuh"

// Split state of a subsegment. UNSPLITTABLE: no coordinates are left between its ends. KEPT: never split, because the
// user said so.
enum SplitState : int32 { NO_REQUEST = 0, TO_BE_SPLIT = 1, UNSPLITTABLE = 2, KEPT = 3 };

// Whether p lies inside the diametral lens of ab, that is, sees ab under more than the angle whose squared cosine is
// `lens`. 0 is the diametral circle (Ruppert); cos^2(180 - 2 bound) is the lens that Chew's second algorithm and
// Triangle use, of two circular arcs through a and b that meet the segment at the bound (Shewchuk 2002, section 4).
INLINE bool encroaches(Point a, Point b, Point p, float64 lens) {
    const float64 ax = a.x - p.x, ay = a.y - p.y, bx = b.x - p.x, by = b.y - p.y;
    const float64 dot = ax * bx + ay * by;
    return dot < 0.0 && dot * dot >= lens * ((ax * ax + ay * ay) * (bx * bx + by * by));
}

// Requests the split of a subsegment; any number of threads may do so. Returns UNSPLITTABLE or KEPT if it cannot be
// split.
INLINE int32 request_split(int32 *split_states, int32 subsegment) {
    const int32 state = racing_load(&split_states[subsegment]);
    if (state == NO_REQUEST)
        racing_store(&split_states[subsegment], int32(TO_BE_SPLIT));
    return state;
}
