// Fixed-point arithmetic of PageRank. Sums of integers do not depend on their order, so that atomics, blocks of edges
// and any number of threads give the same bits.
//
// A score is a multiple of 2^-62, and all scores of a graph sum to 2^62 units: to 1, apart from rounding. A ratio, such
// as 1 / out-degree, is a multiple of 2^-63 from 0 to 1. The sum of |changes| of an iteration is at most 2, or 2^63
// units, which needs all 64 bits. `part_of` is the only place where an iteration rounds: docs/internals/pagerank.md
// derives the error bound from it.
#pragma once

#include "portable/portable.cuh"

constexpr int SCORE_BITS = 62, RATIO_BITS = 63;
constexpr uint64 ONE_SCORE = uint64(1) << SCORE_BITS;
constexpr uint64 ONE_RATIO = uint64(1) << RATIO_BITS;

// amount * ratio, rounded to nearest; at most `amount`.
INLINE uint64 part_of(uint64 amount, uint64 ratio) {
    return uint64((static_cast<unsigned __int128>(amount) * ratio + (ONE_RATIO >> 1)) >> RATIO_BITS);
}

// weight / sum as a ratio, for 0 <= weight <= sum and 0 < sum: one IEEE division, whose result is rounded to nearest.
INLINE uint64 ratio_of(float64 weight, float64 sum) {
    const float64 scaled = weight / sum * float64(ONE_RATIO);           // a multiplication by a power of two is exact
    return uint64(scaled < float64(1ll << 52) ? scaled + 0.5 : scaled); // from 2^52 on, it is an integer already
}

// A share as it is stored for the edges of a node: all of its bits, or the 24 of a float32. Either is an integer number
// of units again when it is read.
INLINE uint64 units_of(uint64 stored) { return stored; }
INLINE uint64 units_of(float32 stored) { return uint64(int64(stored)); }
INLINE void store_share(uint64 *place, uint64 units) { *place = units; }
INLINE void store_share(float32 *place, uint64 units) { *place = float32(int64(units)); }
