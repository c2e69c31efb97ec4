// A bijective hash of 32-bit numbers, which breaks ties at random, and its inverse.
#pragma once

#include "portable/portable.cuh"

// A multiply-xorshift mixer: it separates consecutive numbers.
INLINE uint32 hash32(uint32 x) {
    x ^= x >> 16;
    x *= 0x21f0aaadu;
    x ^= x >> 15;
    x *= 0x735a2d97u;
    x ^= x >> 15;
    return x;
}

INLINE uint32 unhash32(uint32 x) {
    x ^= x >> 15 ^ x >> 30;
    x *= 0x97132227u; // inverse of 0x735a2d97 modulo 2^32
    x ^= x >> 15 ^ x >> 30;
    x *= 0x333c4925u; // inverse of 0x21f0aaad modulo 2^32
    x ^= x >> 16;
    return x;
}
