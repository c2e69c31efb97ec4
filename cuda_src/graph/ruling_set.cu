// List ranking by Helman and JaJa: a sparse ruling set, used again on the list that it gives (001-list-ranking).
//
// Some elements are splitters. From each of them, and from the first element of each list, a walker goes along the list
// up to the next splitter, and leaves at every element the walker's number and the steps so far. What the walkers passed
// are the elements of a shorter list, with lengths as weights, which is ranked in the same way. An element's rank is then
// its walker's rank and its steps.
//
// Departures from the slides. Which elements are splitters follows from their numbers, so that nothing is marked, looked
// up or sorted: the elements are cut into blocks, and each block has one, at its begin or at a place drawn by a hash, so
// that no list that somebody had at hand is uneven. Marks are left in the place of the successor: a walker is the only
// one that ever comes there, the memory's sector is at hand, and no other array is needed. And a walker whose steps no
// longer fit beside its number begins a new sublist.
//
// A walk ends: an element has one predecessor at most (list_checking.cu), so that nobody comes twice. Should a list have
// been changed since, a walk ends nevertheless, and stays among the elements: there are not more steps than elements, or
// not more numbers than places for them.
#include "lists.cuh"

// Block b has the elements i with i * scale / 2^32 = b, rounded down.
KERNEL_STRUCT(Splitters) {
    int64 among;  // the elements before this one are cut into blocks
    int64 blocks;
    uint64 scale; // 2^32 blocks / elements
    int64 hashed; // 0: at equal intervals
    uint64 salt;

    // Where in its block, as a part of 2^32, the splitter is: the last element that begins there or before, or else the
    // first one.
    METHOD uint64 place_in(uint32 block) const {
        uint32 x = block + uint32(salt);
        x = (x ^ (x >> 16)) * 0x7FEB352Du; // (a mixer of C. Wellons)
        x = (x ^ (x >> 15)) * 0x846CA68Bu;
        return hashed ? x ^ (x >> 16) : 0;
    }

    METHOD bool has(uint32 element) const {
        const uint64 begin = element * scale, part = uint32(begin), place = place_in(uint32(begin >> 32));
        // Without a branch, which nobody could foresee: it begins at `place` or before, or is the first one.
        return (element < uint64(among)) & ((place - part < scale) | ((part < scale) & (place < part)));
    }

    // The block's splitter, or NOBODY where the last block has none.
    METHOD uint32 of(uint32 block) const {
        const uint64 place = (uint64(block) << 32) + place_in(block);
        uint64 element = place / scale;
        element += element * scale < uint64(block) << 32;
        return element < uint64(among) && element * scale >> 32 == block ? uint32(element) : NOBODY;
    }
};

// Walkers of one thread: a CPU's thread has many under way, each of which asks for its next element before the others
// take their steps. A GPU has many threads.
constexpr int UNDER_WAY = PREFETCHES ? 24 : 1;
constexpr int TURNS_AT_ONCE = 1 << 10; // of all of them, between two STOP_POINTs

// Lets the walkers `first`, first + stride, ... below `end` go their ways. begin(w, walker) says whether walker w has a
// way at all, and step(walker) whether it goes on.
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

struct WeighedWalker : Walker { // whose steps are weights
    uint32 left; // elements that it may still come to
};

// Where walker w begins, or NOBODY: splitters first, then the heads of the lists; a head that is a splitter, too, is left
// to that. reduced_heads get the walkers of the heads.
INLINE uint32 beginning(Index w, const Splitters &splitters, const int32 *heads, int32 *reduced_heads) {
    if (w < splitters.blocks)
        return splitters.of(uint32(w));
    const uint32 head = uint32(heads[w - splitters.blocks]);
    const bool twice = splitters.has(head);
    reduced_heads[w - splitters.blocks] = int32(twice ? head * splitters.scale >> 32 : w);
    return twice ? NOBODY : head;
}

INLINE uint32 block_of(uint32 splitter, const Splitters &splitters) { return uint32(splitter * splitters.scale >> 32); }

// A list of `count` successors, whose words become number << bits | steps. reduced[number] = word_of(length, next number).
// `added` counts the numbers given after those of `walkers`; there are `numbers` in all.
KERNEL(walk_successors, int32 *words, int64 count, Splitters splitters, const int32 *heads, int64 walkers, int64 stride,
       int32 bits, int64 numbers, uint64 *reduced, int32 *reduced_heads, int32 *added) {
    FOR_RANGE (first)
        walk_all<Walker>(
            first, walkers, stride,
            [&](Index w, Walker &walker) {
                walker = {beginning(w, splitters, heads, reduced_heads), uint32(w), 0};
                if (walker.at == NOBODY)
                    reduced[w] = word_of(0, NOBODY);
                else
                    prefetch(words + walker.at);
                return walker.at != NOBODY;
            },
            [&](Walker &walker) {
                const uint32 next = uint32(words[walker.at]);
                words[walker.at] = int32(walker.number << bits | walker.steps);
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
                if (walker.steps >> bits) { // no more fit
                    const Index fresh = walkers + atomic_add(added, 1);
                    if (fresh >= numbers) { // no list takes so many
                        reduced[walker.number] = word_of(walker.steps, NOBODY);
                        return false;
                    }
                    reduced[walker.number] = word_of(walker.steps, uint32(fresh));
                    walker.number = uint32(fresh);
                    walker.steps = 0;
                }
                // Among the elements in any case. (Asked above, as a third way to end, it costs a GPU three times the time
                // of the walk: its threads no longer take their steps together.)
                walker.at = next < uint32(count) ? next : 0;
                return true;
            });
}

// A list of `count` words (weight, successor), which become (steps, number), where steps are weights.
KERNEL(walk_words, uint64 *words, int64 count, Splitters splitters, const int32 *heads, int64 walkers, int64 stride,
       uint64 *reduced, int32 *reduced_heads) {
    FOR_RANGE (first)
        walk_all<WeighedWalker>(
            first, walkers, stride,
            [&](Index w, WeighedWalker &walker) {
                walker = {{beginning(w, splitters, heads, reduced_heads), uint32(w), 0}, uint32(count)};
                if (walker.at == NOBODY)
                    reduced[w] = word_of(0, NOBODY);
                else
                    prefetch(words + walker.at);
                return walker.at != NOBODY;
            },
            [&](WeighedWalker &walker) {
                const uint64 word = words[walker.at];
                const uint32 next = low_of(word);
                words[walker.at] = word_of(walker.steps, walker.number);
                walker.steps += high_of(word);
                const bool last = next >= count || --walker.left == 0; // NOBODY is none of them
                if (last || splitters.has(next)) {
                    reduced[walker.number] = word_of(walker.steps, last ? NOBODY : block_of(next, splitters));
                    return false;
                }
                prefetch(words + next);
                walker.at = next;
                return true;
            });
}

constexpr Index STEPS_AT_ONCE = 1 << 13; // between two STOP_POINTs

// Lists of `count` words (weight, successor), each by one thread: they become (rank, list). lengths[list] = its weight, or
// -1 where it has no end.
KERNEL(walk_to_ends, uint64 *words, int64 count, const int32 *heads, int32 *lengths) {
    FOR_RANGE (list) {
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

// words (weight, successor) of a list of successors.
KERNEL(weigh_successors, const int32 *successors, uint64 *words) {
    FOR_RANGE (i)
        words[i] = word_of(1, ends_list(i, successors[i]) ? NOBODY : uint32(successors[i]));
}

// From (steps, number) to (rank, list), by what the shorter list gave. What nobody walked over (a cycle's elements) may
// hold any number.
KERNEL(join_words, const uint64 *reduced, int64 reduced_count, uint64 *words) {
    FOR_RANGE (i) {
        const uint64 word = words[i];
        if (low_of(word) < reduced_count) {
            const uint64 found = reduced[low_of(word)];
            words[i] = word_of(high_of(found) + high_of(word), low_of(found));
        }
    }
}

// From number << bits | steps to the rank, in place; and to the list, where there is an array for it.
KERNEL(join_ranks, const uint64 *reduced, int64 reduced_count, int32 bits, int32 *words, int32 *lists) {
    FOR_RANGE (i) {
        const uint32 word = uint32(words[i]), number = word >> bits;
        if (number < reduced_count) {
            const uint64 found = reduced[number];
            words[i] = int32(high_of(found) + (word & ((1u << bits) - 1)));
            if (lists != nullptr)
                lists[i] = int32(low_of(found));
        }
    }
}

// The halves of words (rank, list).
KERNEL(split_words, const uint64 *words, int32 *ranks, int32 *lists) {
    FOR_RANGE (i) {
        ranks[i] = int32(high_of(words[i]));
        if (lists != nullptr)
            lists[i] = int32(low_of(words[i]));
    }
}
