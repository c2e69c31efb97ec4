// Interpolation of sizes, in a fixed order of operations.
#pragma once

#include "geometry/points.cuh"

INLINE void lower(float64 &size, float64 other) {
    if (other < size)
        size = other;
}

// An interval between two lines of a grid, and a relative position in it, from 0 to 1.
struct Interval {
    Index number;
    float64 position;
};

// A position, limited to the range from 0 to 1.
INLINE float64 limited(float64 position) { return position > 0.0 ? position < 1.0 ? position : 1.0 : 0.0; }

// The interval between increasing lines that contains x, or is nearest to it; the upper one of two on a line.
INLINE Interval interval_of(const float64 *lines, Index count, float64 x) {
    Index below = 0, above = count - 1;
    while (above - below > 1) {
        const Index middle = below + (above - below) / 2;
        if (lines[middle] <= x)
            below = middle;
        else
            above = middle;
    }
    return {below, limited((x - lines[below]) / (lines[below + 1] - lines[below]))};
}

// A size times its weight; without a weight, infinity does not count.
INLINE float64 weighted(float64 weight, float64 size) { return weight > 0.0 ? weight * size : 0.0; }

// The size at a relative position in a rectangle, from those at its corners: row by row, from below.
INLINE float64 bilinear(float64 right, float64 up, const float64 corners[4]) {
    const float64 left = 1.0 - right, down = 1.0 - up;
    float64 size = weighted(left * down, corners[0]);
    size += weighted(right * down, corners[1]);
    size += weighted(left * up, corners[2]);
    size += weighted(right * up, corners[3]);
    return size;
}
