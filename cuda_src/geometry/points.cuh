// A point of the plane.
#pragma once

#include "portable/portable.cuh"

struct alignas(16) Point {
    float64 x, y;
};

INLINE float64 squared_length(Point a, Point b) {
    const float64 dx = b.x - a.x, dy = b.y - a.y;
    return dx * dx + dy * dy;
}
