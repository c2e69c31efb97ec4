// Counter-based random numbers: each depends on the seed, its purpose and its index alone, so that a graph is the same
// on every device and with every number of threads. The generator is SplitMix64 (Steele, Lea, Flood 2014: Fast
// splittable pseudorandom number generators), which allows random access.
#pragma once

#include "portable/portable.cuh"

constexpr uint64 GOLDEN = 0x9E3779B97F4A7C15u; // 2^64 over the golden ratio, odd: the generator's step

INLINE uint64 mixed(uint64 x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

enum Purpose { WEIGHTS, EDGES, NAMES };

// The sequence of numbers for one object, such as an edge or a node.
struct Random {
    uint64 state;

    METHOD uint64 next() { return mixed(state += GOLDEN); }

    // Uniform in [0, 1).
    METHOD float64 next_part() { return float64(int64(next() >> 11)) * (1.0 / 9007199254740992.0); }

    // Uniform integer in [0, end), with end < 2^32.
    METHOD uint64 next_below(uint64 end) {
        const uint64 x = next();
        return ((x >> 32) * end + ((x & 0xFFFFFFFFu) * end >> 32)) >> 32;
    }
};

INLINE Random random_of(uint64 seed, Purpose purpose, Index i) {
    return {mixed(mixed(seed + GOLDEN * (uint64(purpose) + 1)) + GOLDEN * (uint64(i) + 1))};
}
