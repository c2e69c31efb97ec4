// Linked lists as arrays of successors, and as 64-bit words.
//
//     successors     element i is followed by successors[i]; the last one of a list by END, or by itself
//     words          the high half is a weight or a rank, the low half the number of an element or of a list; both must
//                    be read and written together (001-list-ranking: "rank and successor packed in 64 bits")
#pragma once

#include "portable/portable.cuh"

constexpr int32 END = -1;
constexpr uint32 NOBODY = 0xFFFFFFFFu; // END in a word

INLINE bool ends_list(Index element, int32 successor) { return successor < 0 || successor == element; }

INLINE uint64 word_of(uint32 high, uint32 low) { return uint64(high) << 32 | low; }
INLINE uint32 high_of(uint64 word) { return uint32(word >> 32); }
INLINE uint32 low_of(uint64 word) { return uint32(word); }
