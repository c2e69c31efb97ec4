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

// The squared distance from p to the nearest point between a and b.
INLINE float64 squared_distance(Point p, Point a, Point b) {
    const float64 dot = (p.x - a.x) * (b.x - a.x) + (p.y - a.y) * (b.y - a.y), whole = squared_length(a, b);
    if (dot <= 0.0 || dot >= whole)
        return squared_length(p, dot <= 0.0 ? a : b);
    const float64 cross = (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
    return cross * cross / whole;
}
