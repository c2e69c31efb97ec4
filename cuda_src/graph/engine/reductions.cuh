// Reductions over the edges of a node: associative and commutative operations on 64-bit integers, so that the result
// does not depend on the order in which a team, or several teams, combine the edges.
//
// Partial results are kept in a stored form, in which 0 is the identity: memory of zeros is ready for any reduction.
#pragma once

#include "portable/portable.cuh"

struct None {
    struct Value {}; // of an edge
    static constexpr bool REDUCES = false;

    METHOD static Value combine(Value, Value) { return {}; }
    METHOD static void into(uint64 *, Value) {}
};

struct Sum { // modulo 2^64
    using Value = uint64;
    static constexpr bool REDUCES = true;

    METHOD static uint64 stored(uint64 value) { return value; }
    METHOD static uint64 result(uint64 stored) { return stored; }
    METHOD static uint64 combine(uint64 a, uint64 b) { return a + b; }
    METHOD static void into(uint64 *place, uint64 stored) { atomic_add(place, stored); }
};

struct Maximum { // 0 without edges; the "or" of flags
    using Value = uint64;
    static constexpr bool REDUCES = true;

    METHOD static uint64 stored(uint64 value) { return value; }
    METHOD static uint64 result(uint64 stored) { return stored; }
    METHOD static uint64 combine(uint64 a, uint64 b) { return a < b ? b : a; }
    METHOD static void into(uint64 *place, uint64 stored) { atomic_max(place, stored); }
};

struct Minimum : Maximum { // 2^64 - 1 without edges; the "and" of flags. The maximum of the complements
    METHOD static uint64 stored(uint64 value) { return ~value; }
    METHOD static uint64 result(uint64 stored) { return ~stored; }
};
