// What is known of a triangle's quality, in one word.
#pragma once

#include "cavity.cuh"

constexpr uint32 BAD = 1u << 31;            // misses a bound, and is to be refined
constexpr uint32 GIVEN_UP = 1u << 30;       // no point can be inserted that would mend it: the coordinates cannot resolve it,
constexpr uint32 HELD = 1u << 26;           // or a segment that is never split is in the way
constexpr uint32 FORCED = 1u << 29;         // below the angle bound, but an input corner forces it: left as it is
constexpr uint32 LARGE = 1u << 28;          // its cavity needs a large record
constexpr uint32 LISTED = 1u << 27;         // its slot is in the list of bad triangles
// bits 22-0: how urgent it is. A skinny triangle is before one that is only too large, and the one with the shortest edge
// first: this order keeps results small. Of the others the largest is first, whatever its bound: the domain is cut
// up evenly; shortest edges first would creep through it from the smallest triangle on, and what exceeds its bound most
// first would leave small triangles beside large ones, and skinny ones in between.
constexpr uint32 SKINNY = 1u << (URGENCY_BITS - 1);

// To be refined, sooner or later.
INLINE bool to_refine(uint32 quality) { return (quality & (BAD | GIVEN_UP)) == BAD; }
