// Conversion of edges sorted by source to compressed sparse rows.
#include "portable/portable.cuh"

constexpr int NODES_AT_A_TIME = 16; // per index of find_rows

// The first position from `begin` on whose key is not below `node`, by exponential and binary search; the cost is
// logarithmic in the distance.
INLINE Index first_not_below(const uint32 *keys, Index begin, Index count, uint32 node) {
    Index step = 1, end = begin;
    while (end < count && keys[end] < node) {
        begin = end + 1;
        end += step;
        step *= 2;
    }
    end = end < count ? end : count;
    while (begin < end) {
        const Index middle = begin + (end - begin) / 2;
        if (keys[middle] < node)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// offsets[v] = the number of sorted keys below v, for v from 0 to `nodes`. Each index finds NODES_AT_A_TIME offsets.
KERNEL(find_rows, const uint32 *keys, int64 count, int64 nodes, int32 *offsets) {
    for (const Index group : launch) {
        Index place = 0;
        if (group > 0) { // a binary search over all keys; later positions are near
            Index end = count;
            while (place < end) {
                const Index middle = place + (end - place) / 2;
                if (keys[middle] < uint32(group * NODES_AT_A_TIME))
                    place = middle + 1;
                else
                    end = middle;
            }
        }
        for (Index v = group * NODES_AT_A_TIME; v < (group + 1) * NODES_AT_A_TIME && v <= nodes; ++v) {
            place = first_not_below(keys, place, count, uint32(v));
            offsets[v] = int32(place);
        }
    }
}

// Swaps sources and targets.
KERNEL(swap_ends, const uint32 *sources, const int32 *targets, uint32 *new_sources, int32 *new_targets) {
    for (const Index i : launch) {
        new_sources[i] = uint32(targets[i]);
        new_targets[i] = int32(sources[i]);
    }
}

// flags[i] = 1 if an edge of the sorted edges differs from the one before.
KERNEL(flag_new_edges, const uint32 *sources, const int32 *targets, int32 *flags) {
    for (const Index i : launch)
        flags[i] = i == 0 || sources[i] != sources[i - 1] || targets[i] != targets[i - 1];
}

// Keeps the edges whose flag is 1; offsets is the exclusive scan of flags.
KERNEL(keep_flagged_edges, const uint32 *sources, const int32 *targets, const int32 *flags, const int32 *offsets,
       uint32 *kept_sources, int32 *kept_targets) {
    for (const Index i : launch)
        if (flags[i]) {
            kept_sources[offsets[i]] = sources[i];
            kept_targets[offsets[i]] = targets[i];
        }
}
