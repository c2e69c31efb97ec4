// Interpolation of sizes, in a fixed order of operations.
#pragma once

#include "geometry/points.cuh"
#include "geometry/predicates.cuh"

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

// The sum of sizes times their weights, whose sum is 1. Without a weight, infinity does not count. Rounding must not
// leave the range of the sizes: equal ones give themselves.
template <int COUNT> INLINE float64 weighted_mean(const float64 (&weights)[COUNT], const float64 (&sizes)[COUNT]) {
    float64 mean = 0.0, least = INFINITE, most = 0.0;
    for (int k = 0; k < COUNT; ++k)
        if (weights[k] > 0.0) {
            mean += weights[k] * sizes[k];
            least = sizes[k] < least ? sizes[k] : least;
            most = sizes[k] > most ? sizes[k] : most;
        }
    return mean < least ? least : mean > most ? most : mean;
}

// The size at a relative position in a rectangle, from those at its corners: row by row, from below.
INLINE float64 bilinear(float64 right, float64 up, const float64 (&corners)[4]) {
    const float64 left = 1.0 - right, down = 1.0 - up;
    const float64 weights[4] = {left * down, right * down, left * up, right * up};
    return weighted_mean(weights, corners);
}
