// When a point encroaches on a subsegment, and what follows for the subsegment.
#pragma once

#include "steiner.cuh"

// What a subsegment is waiting for: UNSPLITTABLE ones have no coordinate left between their ends, KEPT ones are never
// split because the user said so.
enum Wish : int32 { NO_WISH = 0, TO_BE_SPLIT = 1, UNSPLITTABLE = 2, KEPT = 3 };

// Whether p lies inside the diametral lens of ab: where it sees ab under more than the angle whose squared cosine is
// `lens`. 0 is the diametral circle (Ruppert); cos^2(180 - 2 bound) the lens that Chew's second algorithm and Triangle
// use, of two circular arcs through a and b that meet the segment at the bound (Shewchuk 2002, section 4).
INLINE bool encroaches(Point a, Point b, Point p, float64 lens) {
    const float64 ax = a.x - p.x, ay = a.y - p.y, bx = b.x - p.x, by = b.y - p.y;
    const float64 dot = ax * bx + ay * by;
    return dot < 0.0 && dot * dot >= lens * ((ax * ax + ay * ay) * (bx * bx + by * by));
}

// Asks for a subsegment to be split, however many do. Returns UNSPLITTABLE or KEPT where that is in vain.
INLINE int32 wish_split(int32 *wishes, int32 subsegment) {
    const int32 wish = racing_load(&wishes[subsegment]);
    if (wish == NO_WISH)
        racing_store(&wishes[subsegment], int32(TO_BE_SPLIT));
    return wish;
}
