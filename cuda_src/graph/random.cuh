// Random numbers by counter: each follows from the seed, what it is for and its place alone, so that a graph is the same
// on every device and for every number of threads. They are those of SplitMix64 (Steele, Lea, Flood 2014: Fast splittable
// pseudorandom number generators), which can be entered anywhere.
#pragma once

#include "portable.cuh"

constexpr uint64 GOLDEN = 0x9E3779B97F4A7C15u; // 2^64 over the golden ratio, odd: the generator's step

INLINE uint64 mixed(uint64 x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

enum Purpose { WEIGHTS, EDGES, NAMES };

// The numbers for one thing, an edge or a node, one after the other.
struct Random {
    uint64 state;

    METHOD uint64 next() { return mixed(state += GOLDEN); }

    // From 0 up to, but without, 1.
    METHOD float64 next_part() { return float64(int64(next() >> 11)) * (1.0 / 9007199254740992.0); }

    // From 0 up to, but without, `end`, which is below 2^32.
    METHOD uint64 next_below(uint64 end) {
        const uint64 x = next();
        return ((x >> 32) * end + ((x & 0xFFFFFFFFu) * end >> 32)) >> 32;
    }
};

INLINE Random random_of(uint64 seed, Purpose purpose, Index i) {
    return {mixed(mixed(seed + GOLDEN * (uint64(purpose) + 1)) + GOLDEN * (uint64(i) + 1))};
}
