// Pointer jumping (001-list-ranking): Wyllie's algorithm and its variants, and root finding in forests.
//
// A word is (distance, successor): the number of elements, or the weight, from the element to the one that it points
// to. A jump adds the distances and points where the successor pointed. The last element of a list points to itself; an
// element that points to it is finished. Words are written whole, so that concurrent readers always see a consistent
// pair.
//
// Departure from the slides: there each thread jumps until its element is finished; here a thread takes at most JUMPS
// jumps per launch, and the host launches again. Distances grow at least (JUMPS + 1)-fold, so that the number of
// launches is small and bounded in advance. A thread that starts before all others does not walk along the whole list.
#include "lists/lists.cuh"

constexpr int JUMPS = 3;             // per launch
constexpr uint32 DONE = 0x80000000u; // for on-demand: the successor is the last element
constexpr int SHORT_BITS = 16;       // half of a short word, for lists of fewer than 2^16 elements
constexpr uint32 SHORT_MASK = (1u << SHORT_BITS) - 1;

struct Long { // two 32-bit numbers in 64 bits
    using Word = uint64;
    static METHOD Word pair(uint32 distance, uint32 successor) { return word_of(distance, successor); }
    static METHOD uint32 distance(Word word) { return high_of(word); }
    static METHOD uint32 successor(Word word) { return low_of(word); }
};

struct Short { // two 16-bit numbers in 32 bits
    using Word = uint32;
    static METHOD Word pair(uint32 distance, uint32 successor) { return distance << SHORT_BITS | successor; }
    static METHOD uint32 distance(Word word) { return word >> SHORT_BITS; }
    static METHOD uint32 successor(Word word) { return word & SHORT_MASK; }
};

// The word after one jump; unchanged if the element is finished.
template <class Pair> INLINE typename Pair::Word jumped(typename Pair::Word word, const typename Pair::Word *words) {
    const uint32 next = Pair::successor(word);
    const typename Pair::Word other = racing_load(words + next);
    return Pair::successor(other) == next
               ? word
               : Pair::pair(Pair::distance(word) + Pair::distance(other), Pair::successor(other));
}

template <class Pair> INLINE void jump_some_times(Index i, typename Pair::Word *words, int32 *unfinished) {
    const typename Pair::Word before = racing_load(words + i);
    typename Pair::Word word = before;
    bool moved = true;
    for (int jump = 0; jump < JUMPS && moved; ++jump) {
        const typename Pair::Word after = jumped<Pair>(word, words);
        moved = after != word;
        word = after;
    }
    if (word != before)
        racing_store(words + i, word);
    if (moved)
        racing_store(unfinished, 1);
}

KERNEL(link_words, const int32 *successors, uint64 *words) {
    for (const Index i : launch) {
        const bool last = ends_list(i, successors[i]);
        words[i] = Long::pair(!last, last ? uint32(i) : uint32(successors[i]));
    }
}

KERNEL(link_short_words, const int32 *successors, uint32 *words) {
    for (const Index i : launch) {
        const bool last = ends_list(i, successors[i]);
        words[i] = Short::pair(!last, last ? uint32(i) : uint32(successors[i]));
    }
}

// The same for on-demand; finished elements are marked DONE.
KERNEL(link_marked_words, const int32 *successors, uint64 *words) {
    for (const Index i : launch) {
        const bool last = ends_list(i, successors[i]);
        words[i] = word_of(!last, last ? uint32(i) | DONE : uint32(successors[i]));
    }
}

// The same for a list of `count` words (weight, successor) of the ruling set; the last element's weight is ignored.
// NOBODY is out of range.
KERNEL(link_weighed_words, const uint64 *weighed, int64 count, uint64 *words) {
    for (const Index i : launch) {
        const bool last = low_of(weighed[i]) >= count;
        words[i] = last ? word_of(0, uint32(i)) : weighed[i];
    }
}

// Wyllie: some jumps in place.
KERNEL(jump_words, uint64 *words, int32 *unfinished) {
    for (const Index i : launch)
        jump_some_times<Long>(i, words, unfinished);
}

KERNEL(jump_short_words, uint32 *words, int32 *unfinished) {
    for (const Index i : launch)
        jump_some_times<Short>(i, words, unfinished);
}

// Lock-step: one jump of all elements, from one array to another.
KERNEL(jump_once, const uint64 *words, uint64 *after, int32 *unfinished) {
    for (const Index i : launch) {
        after[i] = jumped<Long>(words[i], words);
        if (after[i] != words[i])
            racing_store(unfinished, 1);
    }
}

// On demand: a block first loads its own words; after a barrier, unfinished elements load their successors' words.
TEAM_KERNEL(jump_on_demand, int64 count, uint64 *words, int32 *unfinished) {
    TEAM_SHARED(uint64, mine, TEAM_SIZE);
    for (const Team team : launch.teams()) {
        const Index first = team.number * TEAM_SIZE;
        team.for_members([&](int member) {
            mine[member] = first + member < count ? racing_load(words + first + member) : uint64(DONE);
        });
        team.for_members([&](int member) {
            if (low_of(mine[member]) & DONE)
                return;
            const uint64 other = racing_load(words + low_of(mine[member]));
            racing_store(words + first + member, word_of(high_of(mine[member]) + high_of(other), low_of(other)));
            if (!(low_of(other) & DONE))
                racing_store(unfinished, 1);
        });
    }
}

KERNEL(unmark_words, uint64 *words) {
    for (const Index i : launch)
        words[i] = word_of(high_of(words[i]), low_of(words[i]) & ~DONE);
}

KERNEL(widen_words, const uint32 *words, uint64 *wide) {
    for (const Index i : launch)
        wide[i] = word_of(Short::distance(words[i]), Short::successor(words[i]));
}

// Records the number and length of each list at its last element; `numbers` stays -1 at all other elements. `weighed`
// are the words before the jumps, or null if each element has weight 1.
KERNEL(number_tails, const uint64 *words, const int32 *heads, const uint64 *weighed, int32 *numbers, int32 *spans,
       int32 *lengths) {
    for (const Index list : launch) {
        const uint64 word = words[heads[list]];
        const uint32 tail = low_of(word);
        numbers[tail] = int32(list);
        spans[list] = int32(high_of(word));
        lengths[list] = int32(high_of(word) + (weighed != nullptr ? high_of(weighed[tail]) : 1));
    }
}

// Converts (distance to the last element, last element) to (rank, list).
KERNEL(rank_words, const int32 *numbers, const int32 *spans, uint64 *words) {
    for (const Index i : launch) {
        const int32 list = numbers[low_of(words[i])];
        if (list >= 0) // otherwise on a cycle, or unused
            words[i] = word_of(uint32(spans[list]) - high_of(words[i]), uint32(list));
    }
}

// Root finding in a forest (slides, Algorithm 2): a pointer is -1 - root when the root is found, otherwise a node.
KERNEL(point_to_parents, const int32 *parents, int32 *pointers) {
    for (const Index i : launch)
        pointers[i] = ends_list(i, parents[i]) ? -1 - int32(i) : parents[i];
}

KERNEL(jump_to_roots, int32 *pointers, int32 *unfinished) {
    for (const Index i : launch) {
        int32 at = racing_load(pointers + i);
        if (at < 0)
            continue;
        for (int jump = 0; jump < JUMPS && at >= 0; ++jump)
            at = racing_load(pointers + at);
        racing_store(pointers + i, at);
        if (at >= 0)
            racing_store(unfinished, 1);
    }
}

KERNEL(read_roots, int32 *pointers) {
    for (const Index i : launch)
        pointers[i] = -1 - pointers[i];
}
