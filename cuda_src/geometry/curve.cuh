// A Hilbert curve through the plane: points that are close on it are close in the plane.
#pragma once

#include "portable/portable.cuh"

constexpr int CURVE_LEVELS = 16; // of the order of a mesh: two bits of the key per level

// Position along the curve of cell (x, y) of a grid of 2^levels by 2^levels: from the coarsest level down, takes the
// quadrant's number along the curve, then turns the quadrant into standard position. Two bits per level.
//
// Of N cells at a time, which g++ computes in vectors. The levels below `rest` are left out: x and y are then the
// turned cells, with which another call continues the position.
template <int N, class Key>
INLINE void hilbert_indices(uint32 (&x)[N], uint32 (&y)[N], int levels, int rest, Key (&index)[N]) {
    for (int k = 0; k < N; ++k)
        index[k] = 0;
    const uint32 stop = (1u << rest) >> 1;
    for (uint32 side = 1u << (levels - 1); side > stop; side >>= 1)
        for (int k = 0; k < N; ++k) {
            const uint32 right = (x[k] & side) != 0, upper = (y[k] & side) != 0;
            index[k] = index[k] << 2 | ((right << 1 | right) ^ upper);
            // Lower quadrants are mirrored; the right one is turned around first. Masks are used because a branch would
            // be unpredictable.
            const uint32 lower = upper - 1, around = lower & (0 - right);
            x[k] ^= around;
            y[k] ^= around;
            const uint32 swapped = (x[k] ^ y[k]) & lower;
            x[k] ^= swapped;
            y[k] ^= swapped;
        }
}

template <class Key> INLINE Key hilbert_index(uint32 x, uint32 y, int levels) {
    uint32 xs[] = {x}, ys[] = {y};
    Key index[1];
    hilbert_indices(xs, ys, levels, 0, index);
    return index[0];
}

// The cell of a coordinate; `scale` maps the extent of the plane to the number of cells.
INLINE uint32 curve_cell(float64 x, float64 low, float64 scale, int levels) {
    const float64 place = (x - low) * scale, last = float64((uint64(1) << levels) - 1);
    return place >= last ? uint32(last) : (place > 0.0 ? uint32(place) : 0u);
}

constexpr int KEYED = ONE_MEMBER ? 16 : 1; // cells whose positions are computed together

// Calls cell_of(i, x, y), which sets x and y, for each index of a launch, and store(first, count, x, y) with the cells
// of indices that follow each other, up to KEYED at a time.
template <class CellOf, class Store>
INLINE void for_groups_of_cells(const Launch &launch, CellOf cell_of, Store store) {
    uint32 x[KEYED], y[KEYED];
    int count = 0;
    for (const Index i : launch) {
        cell_of(i, x[count], y[count]);
        if (++count < KEYED && i + 1 < launch.stop())
            continue;
        for (int k = count; k < KEYED; ++k)
            x[k] = y[k] = 0;
        store(i + 1 - count, count, x, y);
        count = 0;
    }
}
