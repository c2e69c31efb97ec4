// A Hilbert curve through the plane: points that are close on it are close in the plane.
#pragma once

#include "portable/portable.cuh"

constexpr int CURVE_LEVELS = 16; // of the order of a mesh: two bits of the key per level

// Position along the curve of cell (x, y) of a grid of 2^levels by 2^levels: from the coarsest level down, takes the
// quadrant's number along the curve, then turns the quadrant into standard position. Two bits per level.
template <class Key> INLINE Key hilbert_index(uint32 x, uint32 y, int levels) {
    Key index = 0;
    for (uint32 side = 1u << (levels - 1); side > 0; side >>= 1) {
        const uint32 right = (x & side) != 0, upper = (y & side) != 0;
        index = index << 2 | ((3 * right) ^ upper);
        // Lower quadrants are mirrored; the right one is turned around first. Masks are used because a branch would be
        // unpredictable.
        const uint32 lower = upper - 1, around = lower & (0 - right);
        x ^= around;
        y ^= around;
        const uint32 swapped = (x ^ y) & lower;
        x ^= swapped;
        y ^= swapped;
    }
    return index;
}

// The cell of a coordinate; `scale` maps the extent of the plane to the number of cells.
INLINE uint32 curve_cell(float64 x, float64 low, float64 scale, int levels) {
    const float64 place = (x - low) * scale, last = float64((uint64(1) << levels) - 1);
    return place >= last ? uint32(last) : (place > 0.0 ? uint32(place) : 0u);
}
