// A point of the plane.
#pragma once

#include "portable/portable.cuh"

struct alignas(16) Point {
    float64 x, y;
};

INLINE bool same_place(Point a, Point b) { return a.x == b.x && a.y == b.y; }

// Whether p, on the line through a and b, lies strictly between them.
INLINE bool strictly_between(Point a, Point b, Point p) {
    return a.x != b.x ? (a.x < p.x) == (p.x < b.x) && p.x != a.x && p.x != b.x
                      : (a.y < p.y) == (p.y < b.y) && p.y != a.y && p.y != b.y;
}

INLINE float64 squared_length(Point a, Point b) {
    const float64 dx = b.x - a.x, dy = b.y - a.y;
    return dx * dx + dy * dy;
}
