// List ranking by Helman and JaJa: a recursive sparse ruling set (001-list-ranking).
//
// Some elements are splitters. From each splitter, and from the first element of each list, a walker follows the list
// up to the next splitter, and stores its number and its step count at every element. The walkers' sublists are the
// elements of a shorter list, with the lengths as weights, which is ranked in the same way. The rank of an element is
// the rank of its walker plus the step count.
//
// Departures from the slides: (1) The number of an element decides whether it is a splitter, so that nothing is marked,
// looked up or sorted: the elements are cut into blocks, and each block has one splitter, at its begin or at a position
// drawn by a hash, so that no naturally occurring list leads to uneven sublists. (2) Marks overwrite the successor: no
// other walker visits the element, its memory sector is in the cache, and no second array is needed. (3) A walker whose
// step count no longer fits beside its number begins a new sublist.
//
// A walk terminates, because an element has at most one predecessor (checking.cu), so no element is visited twice.
// Even if a list was changed since the check, a walk terminates and stays in range: the number of steps is limited to
// the number of elements, or the number of sublists to their capacity.
#include "lists/lists.cuh"

// Block b has the elements i with i * scale / 2^32 = b, rounded down.
KERNEL_STRUCT(Splitters) {
    int64 among; // the elements before this one are cut into blocks
    int64 blocks;
    uint64 scale; // 2^32 blocks / elements
    int64 hashed; // 0: at equal intervals
    uint64 salt;

    // The position of the splitter in its block, as a fraction of 2^32: the splitter is the last element that begins at
    // or before it, otherwise the block's first element.
    METHOD uint64 place_in(uint32 block) const {
        uint32 x = block + uint32(salt);
        x = (x ^ (x >> 16)) * 0x7FEB352Du; // (a mixer of C. Wellons)
        x = (x ^ (x >> 15)) * 0x846CA68Bu;
        return hashed ? x ^ (x >> 16) : 0;
    }

    METHOD bool has(uint32 element) const {
        const uint64 begin = element * scale, part = uint32(begin), place = place_in(uint32(begin >> 32));
        // Branch-free, because a branch would be unpredictable: the element covers `place`, or is the block's first
        // one.
        return (element < uint64(among)) & ((place - part < scale) | ((part < scale) & (place < part)));
    }

    // The block's splitter, or NOBODY if the last block has none.
    METHOD uint32 of(uint32 block) const {
        const uint64 place = (uint64(block) << 32) + place_in(block);
        uint64 element = place / scale;
        element += element * scale < uint64(block) << 32;
        return element < uint64(among) && element * scale >> 32 == block ? uint32(element) : NOBODY;
    }
};

// Concurrent walkers per thread: a CPU thread interleaves many walkers, each of which prefetches its next element
// before the others take their steps. A GPU has many threads instead.
constexpr int UNDER_WAY = PREFETCHES ? 24 : 1;
constexpr int TURNS_AT_ONCE = 1 << 10; // rounds over all walkers between two STOP_POINTs

// Runs the walkers `first`, first + stride, ... below `end`. begin(w, walker) starts walker w and returns whether it
// has anything to walk; step(walker) takes one step and returns whether the walker continues.
template <class Walker, class Begin, class Step>
INLINE void walk_all(Index first, Index end, Index stride, Begin begin, Step step) {
    Walker walkers[UNDER_WAY];
    int walking = 0;
    Index next = first;
    const auto started = [&](Walker &walker) {
        while (next < end) {
            const Index mine = next;
            next += stride;
            if (begin(mine, walker))
                return true;
        }
        return false;
    };
    while (walking < UNDER_WAY && started(walkers[walking]))
        ++walking;
    for (uint32 turn = 1; walking > 0; ++turn) {
        if (turn % TURNS_AT_ONCE == 0)
            STOP_POINT();
        for (int k = 0; k < walking;)
            if (step(walkers[k]) || started(walkers[k]))
                ++k;
            else
                walkers[k] = walkers[--walking];
    }
}

struct Walker {
    uint32 at, number, steps;
};

struct WeighedWalker : Walker { // counts weights instead of steps
    uint32 left;                // elements that it may still visit
};

// The first element of walker w, or NOBODY: splitters come first, then the heads of the lists; a head that is also a
// splitter is left to the splitter's walker. reduced_heads receives the walkers of the heads.
INLINE uint32 beginning(Index w, const Splitters &splitters, const int32 *heads, int32 *reduced_heads) {
    if (w < splitters.blocks)
        return splitters.of(uint32(w));
    const uint32 head = uint32(heads[w - splitters.blocks]);
    const bool twice = splitters.has(head);
    reduced_heads[w - splitters.blocks] = int32(twice ? head * splitters.scale >> 32 : w);
    return twice ? NOBODY : head;
}

// Whether a walker has a first element, whose word it then prefetches; without one, its walk is an empty list.
template <class Word> INLINE bool starts(const Walker &walker, const Word *words, uint64 *reduced) {
    if (walker.at == NOBODY)
        reduced[walker.number] = word_of(0, NOBODY);
    else
        prefetch(words + walker.at);
    return walker.at != NOBODY;
}

INLINE uint32 block_of(uint32 splitter, const Splitters &splitters) { return uint32(splitter * splitters.scale >> 32); }

// Walks a list of `count` successors; words become number << bits | steps. reduced[number] = word_of(length, next
// number). `added` counts the numbers assigned beyond those of `walkers`; there are `numbers` in total.
KERNEL(walk_successors, int32 *words, int64 count, Splitters splitters, const int32 *heads, int64 walkers, int64 stride,
       int32 bits, int64 numbers, uint64 *reduced, int32 *reduced_heads, int32 *added) {
    for (const Index first : launch)
        walk_all<Walker>(
            first, walkers, stride,
            [&](Index w, Walker &walker) {
                walker = {beginning(w, splitters, heads, reduced_heads), uint32(w), 0};
                return starts(walker, words, reduced);
            },
            [&](Walker &walker) {
                const int32 mark = int32(walker.number << bits | walker.steps);
                const uint32 next = uint32(replaced(words + walker.at, mark));
                ++walker.steps;
                if (ends_list(walker.at, int32(next))) {
                    reduced[walker.number] = word_of(walker.steps, NOBODY);
                    return false;
                }
                if (splitters.has(next)) {
                    reduced[walker.number] = word_of(walker.steps, block_of(next, splitters));
                    return false;
                }
                prefetch(words + next);
                if (walker.steps >> bits) { // the steps no longer fit
                    const Index fresh = walkers + atomic_add(added, 1);
                    if (fresh >= numbers) { // impossible for a valid list
                        reduced[walker.number] = word_of(walker.steps, NOBODY);
                        return false;
                    }
                    reduced[walker.number] = word_of(walker.steps, uint32(fresh));
                    walker.number = uint32(fresh);
                    walker.steps = 0;
                }
                // Stays in range in any case. (As a third exit above, this check would triple the time of the walk on a
                // GPU, because its threads would diverge.)
                walker.at = next < uint32(count) ? next : 0;
                return true;
            });
}

// Walks a list of `count` words (weight, successor), which become (steps, number); steps are weights here.
KERNEL(walk_words, uint64 *words, int64 count, Splitters splitters, const int32 *heads, int64 walkers, int64 stride,
       uint64 *reduced, int32 *reduced_heads) {
    for (const Index first : launch)
        walk_all<WeighedWalker>(
            first, walkers, stride,
            [&](Index w, WeighedWalker &walker) {
                walker = {{beginning(w, splitters, heads, reduced_heads), uint32(w), 0}, uint32(count)};
                return starts(walker, words, reduced);
            },
            [&](WeighedWalker &walker) {
                const uint64 word = replaced(words + walker.at, word_of(walker.steps, walker.number));
                const uint32 next = low_of(word);
                walker.steps += high_of(word);
                const bool last = next >= count || --walker.left == 0; // NOBODY is out of range
                if (last || splitters.has(next)) {
                    reduced[walker.number] = word_of(walker.steps, last ? NOBODY : block_of(next, splitters));
                    return false;
                }
                prefetch(words + next);
                walker.at = next;
                return true;
            });
}

constexpr Index STEPS_AT_ONCE = 1 << 13; // steps between two STOP_POINTs

// Ranks lists of `count` words (weight, successor), one thread per list; words become (rank, list). lengths[list] = its
// total weight, or -1 if it has no end.
KERNEL(walk_to_ends, uint64 *words, int64 count, const int32 *heads, int32 *lengths) {
    for (const Index list : launch) {
        uint32 at = uint32(heads[list]), rank = 0;
        for (Index steps = 0; at < count && steps < count; ++steps) {
            if (steps % STEPS_AT_ONCE == 0)
                STOP_POINT();
            const uint64 word = words[at];
            words[at] = word_of(rank, uint32(list));
            rank += high_of(word);
            at = low_of(word);
        }
        lengths[list] = at == NOBODY ? int32(rank) : -1;
    }
}

// Converts successors to words (weight, successor) of weight 1.
KERNEL(weigh_successors, const int32 *successors, uint64 *words) {
    for (const Index i : launch)
        words[i] = word_of(1, ends_list(i, successors[i]) ? NOBODY : uint32(successors[i]));
}

// Converts (steps, number) to (rank, list), using the ranks of the shorter list. Elements that no walker visited (those
// of cycles) may hold arbitrary numbers.
KERNEL(join_words, const uint64 *reduced, int64 reduced_count, uint64 *words) {
    for (const Index i : launch) {
        const uint64 word = words[i];
        if (low_of(word) < reduced_count) {
            const uint64 found = reduced[low_of(word)];
            words[i] = word_of(high_of(found) + high_of(word), low_of(found));
        }
    }
}

// Converts number << bits | steps to the rank, in place, and to the list if `lists` is not null.
KERNEL(join_ranks, const uint64 *reduced, int64 reduced_count, int32 bits, int32 *words, int32 *lists) {
    for (const Index i : launch) {
        const uint32 word = uint32(words[i]), number = word >> bits;
        if (number < reduced_count) {
            const uint64 found = reduced[number];
            words[i] = int32(high_of(found) + (word & ((1u << bits) - 1)));
            if (lists != nullptr)
                lists[i] = int32(low_of(found));
        }
    }
}

// Splits words (rank, list) into their halves.
KERNEL(split_words, const uint64 *words, int32 *ranks, int32 *lists) {
    for (const Index i : launch) {
        ranks[i] = int32(high_of(words[i]));
        if (lists != nullptr)
            lists[i] = int32(low_of(words[i]));
    }
}
