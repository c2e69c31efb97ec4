// Which bad triangles compete in a round.
#include "cavity.cuh"
#include "quality.cuh"

// How urgent a triangle is among its neighbours: 0 where it does not compete at all.
INLINE uint64 urgency(const uint32 *quality, int32 t) {
    const uint32 q = quality[t];
    return to_refine(q) && !(q & LARGE) ? uint64(1) << 63 | uint64(q & URGENCY_MASK) << 32 | scatter(uint32(t)) : 0;
}

// A bad triangle competes only where no bad neighbour, and no bad neighbour of a neighbour, is more urgent: its cavity
// would most likely lose to theirs, and growing it would be wasted. Three of four that compete get their point in.
KERNEL(select_candidates, const int32 *bad, const Triangle *triangles, const uint32 *quality, int32 *flags) {
    FOR_RANGE (i) {
        if (i + 16 < range_end)
            prefetch(&triangles[bad[i + 16]]);
        if (i + 8 < range_end)
            for (int k = 0; k < 3; ++k)
                if (triangles[bad[i + 8]].link[k] >= 0) {
                    prefetch(&triangles[triangles[bad[i + 8]].link[k]]);
                    prefetch(&quality[triangles[bad[i + 8]].link[k]]);
                }
        const int32 t = bad[i];
        const uint64 mine = urgency(quality, t);
        bool first = true;
        int32 around[3];
        for (int k = 0; k < 3; ++k) {
            around[k] = triangles[t].link[k];
            first = first && (around[k] < 0 || urgency(quality, around[k]) < mine);
        }
        for (int k = 0; k < 3 && first; ++k) {
            if (around[k] < 0)
                continue;
            for (int l = 0; l < 3; ++l) {
                const int32 second = triangles[around[k]].link[l];
                first = first && (second < 0 || second == t || urgency(quality, second) < mine);
            }
        }
        flags[i] = first && mine != 0;
    }
}

// All bad triangles compete, whatever their neighbours are: what the thesis does.
KERNEL(select_all, const int32 *bad, const uint32 *quality, int32 *flags) {
    FOR_RANGE (i)
        flags[i] = to_refine(quality[bad[i]]) && !(quality[bad[i]] & LARGE);
}

// In small meshes only the most urgent candidates go on, up to a factor of two in length: the order in which points come
// decides the size of the result.
constexpr int WINDOW_SHIFT = 12; // leaves the bits of urgency that tell squared lengths, or areas, apart by a factor of 4

KERNEL(find_most_urgent, const int32 *bad, const uint32 *quality, const int32 *flags, int32 *most) {
    FOR_RANGE (i)
        if (flags[i])
            atomic_max(most, int32((quality[bad[i]] & URGENCY_MASK) >> WINDOW_SHIFT));
}

KERNEL(keep_most_urgent, const int32 *bad, const uint32 *quality, const int32 *most, int32 *flags) {
    FOR_RANGE (i)
        flags[i] = flags[i] && int32((quality[bad[i]] & URGENCY_MASK) >> WINDOW_SHIFT) == *most;
}

// The bad triangles that wait for large records.
KERNEL(select_large, const int32 *bad, const uint32 *quality, int32 *flags) {
    FOR_RANGE (i)
        flags[i] = to_refine(quality[bad[i]]) && (quality[bad[i]] & LARGE);
}

// flags[s] = 1 where subsegment s waits to be split.
KERNEL(flag_wished, const int32 *wishes, int32 *flags) {
    FOR_RANGE (s)
        flags[s] = wishes[s] == TO_BE_SPLIT;
}
