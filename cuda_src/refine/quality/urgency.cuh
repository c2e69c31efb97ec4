// Urgency of a skinny triangle: by its shortest edge, the shortest first.
//
// Bad triangles compete if no bad neighbour is more urgent (competing.cuh). If edges grow shorter all the way along a
// channel or a sliver, only its end competes: one or two points per round, for tens of thousands of rounds. There the
// order is `grouped`: lengths within one power of the square root of 2 are ordered by a hash of the grid cell that
// contains the edge, some 32 edges wide, and only within a cell by the rest of the length. Fronts begin in many cells
// at once, and each of them proceeds through its cell in the strict order, which keeps results small.
#pragma once

#include "refine/quality/quality.cuh"

constexpr int CELL_SHIFT = 5; // a cell is 2^5 edges wide
constexpr int GROUP_BITS = 5; // bits of the hash
constexpr int FINE_BITS = 11; // bits of an urgency below the exponent
constexpr int EXPONENT_BIAS = 1023, MANTISSA_BITS = 52;

INLINE int exponent_of(float64 x) { return int(bits_of(x) >> MANTISSA_BITS & 2047); }

// The bits of x that weigh at least 2^(exponent - EXPONENT_BIAS); 0 if none is left.
INLINE uint64 cell_of(float64 x, int exponent) {
    const int below = exponent - exponent_of(x) + MANTISSA_BITS;
    return below > MANTISSA_BITS ? 0 : below <= 0 ? bits_of(x) : bits_of(x) >> below;
}

INLINE uint32 grouped_urgency(uint32 strict, float64 squared_length, Point end) {
    const int exponent = exponent_of(squared_length);
    const int of_cell = (exponent - EXPONENT_BIAS) / 2 + EXPONENT_BIAS + CELL_SHIFT;
    const uint64 x = cell_of(end.x, of_cell), y = cell_of(end.y, of_cell);
    // Mixes in 32 bits of each coordinate at a time, with odd constants: every bit of the cell affects the hash.
    uint32 hash = hash32(uint32(x) ^ hash32(uint32(x >> 32) + uint32(exponent)));
    hash = hash32(hash ^ uint32(y)) + uint32(y >> 32);
    const uint32 group = hash32(hash) >> (32 - GROUP_BITS), fine = strict & ((1u << FINE_BITS) - 1);
    return (strict ^ fine) | group << (FINE_BITS - GROUP_BITS) | fine >> GROUP_BITS;
}

// The urgency, below SKINNY, of a triangle whose shortest edge has this squared length and ends at `end`.
INLINE uint32 urgency_of_edge(float64 squared_length, Point end, bool grouped) {
    const uint32 halved = shortness(squared_length) >> 1;
    const uint32 strict = halved < SKINNY ? halved : SKINNY - 1;
    return grouped ? grouped_urgency(strict, squared_length, end) : strict;
}
