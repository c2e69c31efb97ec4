// The quality word of a triangle.
#pragma once

#include "mesh/owner.cuh"

constexpr uint32 BAD = 1u << 31;      // violates a bound, and is to be refined
constexpr uint32 GIVEN_UP = 1u << 30; // no point can improve it: the coordinates cannot resolve it,
constexpr uint32 HELD = 1u << 26;     // or a segment that is never split blocks it
constexpr uint32 WAITS = 1u << 25;    // or, for now, a frozen triangle does (close.cuh)
constexpr uint32 FORCED = 1u << 29;   // below the angle bound, but forced by an input corner: left as it is
constexpr uint32 LARGE = 1u << 28;    // its cavity needs a large record
constexpr uint32 LISTED = 1u << 27;   // its slot is in the list of bad triangles
// bits 22-0: urgency. Skinny triangles come before those that are only too large, and among them the one with the
// shortest edge comes first: this order keeps results small. Of the others the largest comes first, whatever its bound,
// so that the domain is divided evenly. Shortest edges first would creep through the domain from the smallest triangle
// on; the largest excess over the bound first would leave small triangles beside large ones, with skinny ones in
// between.
constexpr uint32 SKINNY = 1u << (URGENCY_BITS - 1);

// Whether a triangle is to be refined, sooner or later.
INLINE bool to_refine(uint32 quality) { return (quality & (BAD | GIVEN_UP)) == BAD; }
