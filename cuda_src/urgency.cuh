// How urgent a skinny triangle is: by its shortest edge, the shortest first.
//
// Bad triangles compete where no bad neighbour is more urgent (candidates.cuh). Where edges grow shorter all the way along
// a channel or a sliver, only its end competes, one or two points a round, for tens of thousands of rounds. There the order
// is `grouped`: lengths of one power of the square root of 2 are told apart by a hash of the grid cell that the edge lies
// in, some 32 edges wide, and only within a cell by the rest of the length. Fronts begin in many cells at once, and each of
// them goes through its cell in the strict order, which keeps results small.
#pragma once

#include "quality.cuh"

constexpr int CELL_SHIFT = 5;  // a cell is as wide as 2^5 edges
constexpr int GROUP_BITS = 5;  // of the hash
constexpr int FINE_BITS = 11;  // bits of an urgency below the exponent
constexpr int EXPONENT_BIAS = 1023, MANTISSA_BITS = 52;

INLINE int exponent_of(float64 x) { return int(bits_of(x) >> MANTISSA_BITS & 2047); }

// The bits of x without those that count less than 2^(exponent - EXPONENT_BIAS); 0 where none is left.
INLINE uint64 cell_of(float64 x, int exponent) {
    const int below = exponent - exponent_of(x) + MANTISSA_BITS;
    return below > MANTISSA_BITS ? 0 : below <= 0 ? bits_of(x) : bits_of(x) >> below;
}

INLINE uint32 grouped_urgency(uint32 strict, float64 squared_length, Point end) {
    const int exponent = exponent_of(squared_length);
    const int of_cell = (exponent - EXPONENT_BIAS) / 2 + EXPONENT_BIAS + CELL_SHIFT;
    const uint64 x = cell_of(end.x, of_cell), y = cell_of(end.y, of_cell);
    // Odd constants, and 32 bits of each coordinate after the other: every bit of the cell moves those of the hash.
    uint32 hash = scatter(uint32(x) ^ scatter(uint32(x >> 32) + uint32(exponent)));
    hash = scatter(hash ^ uint32(y)) + uint32(y >> 32);
    const uint32 group = scatter(hash) >> (32 - GROUP_BITS), fine = strict & ((1u << FINE_BITS) - 1);
    return (strict ^ fine) | group << (FINE_BITS - GROUP_BITS) | fine >> GROUP_BITS;
}

// Of a triangle whose shortest edge has this squared length, and ends at `end`: a number below SKINNY.
INLINE uint32 urgency_of_edge(float64 squared_length, Point end, bool grouped) {
    const uint32 halved = shortness(squared_length) >> 1;
    const uint32 strict = halved < SKINNY ? halved : SKINNY - 1;
    return grouped ? grouped_urgency(strict, squared_length, end) : strict;
}
