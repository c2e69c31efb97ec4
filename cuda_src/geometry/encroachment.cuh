// Encroachment of a point on a segment.
#pragma once

#include "geometry/points.cuh"

// Whether p lies inside the diametral lens of ab, that is, sees ab under more than the angle whose squared cosine is
// `lens`. 0 is the diametral circle (Ruppert); cos^2(180 - 2 bound) is the lens that Chew's second algorithm and
// Triangle use, of two circular arcs through a and b that meet the segment at the bound (Shewchuk 2002, section 4).
INLINE bool encroaches(Point a, Point b, Point p, float64 lens) {
    const float64 ax = a.x - p.x, ay = a.y - p.y, bx = b.x - p.x, by = b.y - p.y;
    const float64 dot = ax * bx + ay * by;
    return dot < 0.0 && dot * dot >= lens * ((ax * ax + ay * ay) * (bx * bx + by * by));
}
