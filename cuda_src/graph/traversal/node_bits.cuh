// A set of nodes as bits, in words.
#pragma once

#include "portable/portable.cuh"

constexpr int WORD = 32; // nodes per word

INLINE Index words_of(Index nodes) { return (nodes + WORD - 1) / WORD; }
INLINE uint32 bit_of(Index node) { return uint32(1) << (node % WORD); }
INLINE bool contains(const uint32 *set, Index node) { return racing_load(set + node / WORD) & bit_of(node); }

// Adds a node while others may add some, too; returns whether the set did not contain it.
INLINE bool add_together(uint32 *set, Index node) {
    return (atomic_or(set + node / WORD, bit_of(node)) & bit_of(node)) == 0;
}

// The same while nobody else does.
INLINE bool add_alone(uint32 *set, Index node) {
    const bool is_new = !contains(set, node);
    set[node / WORD] |= bit_of(node);
    return is_new;
}
