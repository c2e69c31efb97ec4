// The smallest angle of a triangle, without functions of the C library.
#pragma once

#include "geometry/points.cuh"

// The smallest angle as a direction: its tangent is cross / dot. It lies opposite the shortest edge; the dot product
// there is at least a sixth of the sum of the squared edges, so that no digits cancel.
struct SmallestAngle {
    float64 cross; // twice the area
    float64 dot;
    float64 longest; // squared length of the longest edge

    METHOD float64 cotangent() const { return dot / cross; }
};

// For a counter-clockwise triangle with edges of these squared lengths.
INLINE SmallestAngle smallest_angle(float64 ab, float64 bc, float64 ca, float64 cross) {
    const float64 low = ab < bc ? ab : bc, high = ab < bc ? bc : ab;
    const float64 shortest = ca < low ? ca : low, longest = ca > high ? ca : high;
    return {cross, 0.5 * (ab + bc + ca) - shortest, longest};
}

INLINE SmallestAngle smallest_angle_of(Point a, Point b, Point c) {
    const float64 cross = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    return smallest_angle(squared_length(a, b), squared_length(b, c), squared_length(c, a), cross);
}

// The angle in degrees. Two halvings reduce it to at most 15 degrees, where the series of the arc tangent converges by
// a factor of 14 per term.
INLINE float64 degrees_of(SmallestAngle angle) {
    const float64 hypotenuse = square_root(angle.dot * angle.dot + angle.cross * angle.cross);
    const float64 half = angle.cross / (angle.dot + hypotenuse);
    const float64 quarter = half / (1.0 + square_root(1.0 + half * half)), squared = quarter * quarter;
    float64 series = 0.0;
    for (int term = 12; term >= 0; --term)
        series = 1.0 / (2 * term + 1) - squared * series;
    return 4.0 * 57.295779513082321 * quarter * series;
}
