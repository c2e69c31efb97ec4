// What is known of a triangle's quality, in one word.
#pragma once

#include "cavity.cuh"

constexpr uint32 BAD = 1u << 31;            // misses a bound, and is to be refined
constexpr uint32 GIVEN_UP = 1u << 30;       // the coordinates cannot resolve a point that would mend it
constexpr uint32 FORCED = 1u << 29;         // below the angle bound, but an input corner forces it: left as it is
constexpr uint32 LARGE = 1u << 28;          // its cavity needs a large record
// bits 22-0: shortness of its shortest edge

// To be refined, sooner or later.
INLINE bool to_refine(uint32 quality) { return (quality & (BAD | GIVEN_UP)) == BAD; }
