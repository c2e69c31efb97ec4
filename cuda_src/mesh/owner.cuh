// The owner word of a triangle: the key of the last cavity, or flip, that claimed it.
//
// A key orders the cavities of a step. It also identifies the step and the cavity:
//
//     bits 63-56  epoch      the step's number, 1 to 255; earlier keys are smaller, so nothing is cleared
//     bit  55     segment    subsegments before triangles
//     bits 54-32  urgency    of the triangle (quality.cuh), or of the subsegment: shortest first
//     bits 31-0   cavity     its number, hashed by a bijection so that ties are broken at random; unique
#pragma once

#include "mesh/triangles.cuh"
#include "primitives/hash.cuh"

constexpr int32 LAST_EPOCH = 255; // last epoch: after it owner words are cleared, and epochs start again
constexpr int URGENCY_BITS = 23;
constexpr uint32 URGENCY_MASK = (1u << URGENCY_BITS) - 1;

// The exponent and the 12 leading mantissa bits of a positive number: monotonic in x.
INLINE uint32 magnitude_bits(float64 x) { return uint32(bits_of(x) >> 40) & URGENCY_MASK; }
INLINE uint32 shortness(float64 squared_length) { return URGENCY_MASK - magnitude_bits(squared_length); }

INLINE uint64 cavity_key(uint32 epoch, bool segment, uint32 urgency, int32 cavity) {
    return uint64(epoch) << 56 | uint64(segment) << 55 | uint64(urgency) << 32 | hash32(uint32(cavity));
}
INLINE uint32 epoch_of(uint64 key) { return uint32(key >> 56); }
INLINE int32 cavity_of(uint64 key) { return int32(unhash32(uint32(key))); }

// Owner word of a rebuilt slot: the epoch and cavity of its key, with segment and urgency bits that no key has (they
// would mean a squared length below 2^-1022). A concurrent call of owner_of returns the same owner.
constexpr uint64 REBUILT = uint64(0xffffff) << 32;

INLINE uint64 rebuilt_mark(uint64 key) { return key | REBUILT; }
INLINE bool was_rebuilt(const Triangle &t, uint32 epoch) {
    return epoch_of(t.owner) == epoch && (t.owner & REBUILT) == REBUILT;
}

// The cavity of this step that owns a triangle, or NOTHING.
INLINE int32 owner_of(const Triangle *triangles, int32 t, uint32 epoch) {
    const uint64 key = racing_load(&triangles[t].owner);
    return epoch_of(key) == epoch ? cavity_of(key) : NOTHING;
}
