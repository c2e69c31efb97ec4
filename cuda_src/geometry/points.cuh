// A point of the plane.
#pragma once

#include "portable/portable.cuh"

struct alignas(16) Point {
    float64 x, y;
};

// The corners of a triangle are numbered 0, 1, 2, counter-clockwise.
// From tables of two bits per corner: for a comparison with 2 or 0, g++ may generate a branch that goes either way.
INLINE int next_corner(int k) { return (0b001001 >> (2 * k)) & 3; }
INLINE int previous_corner(int k) { return (0b010010 >> (2 * k)) & 3; }

// Element k of three that are already loaded. A GPU has them in registers, which cannot be indexed. A CPU indexes
// memory instead of a branch: where any of the three may be the one, it would guess wrong two times out of three.
template <class T> INLINE T one_of(const T (&three)[3], int k) {
    if (READS_WHOLE_RECORDS)
        return k == 0 ? three[0] : (k == 1 ? three[1] : three[2]);
    return three[k];
}

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
