// Generation of lists and trees for benchmarks.
#include "lists/lists.cuh"
#include "primitives/random.cuh"

// Links elements in the given order to `lists` lists whose lengths differ by at most one.
KERNEL(link_in_order, const int32 *order, int64 size, int64 lists, int32 *successors) {
    for (const Index k : launch) {
        const Index next = k + 1, list = (next * lists + size - 1) / size; // list l begins at position l * size / lists
        successors[order[k]] = list * size / lists == next ? END : order[next];
    }
}

KERNEL(flag_multiples, const int32 *order, int64 interval, int32 *flags) {
    for (const Index k : launch)
        flags[k] = order[k] % interval == 0;
}

KERNEL(invert_flags, int32 *flags) {
    for (const Index k : launch)
        flags[k] = 1 - flags[k];
}

// Merges two orders: flagged positions get the next multiple, others the next of `others`. before[k] = number of
// flagged positions before k.
KERNEL(merge_orders, const int32 *before, const int32 *multiples, const int32 *others, int32 *order) {
    for (const Index k : launch)
        order[k] = before[k + 1] > before[k] ? multiples[before[k]] : others[k - before[k]];
}

constexpr Index NODES_AT_ONCE = 1 << 12; // nodes between two STOP_POINTs

// Grows a binary tree one node at a time, at a free child place chosen uniformly: the shape of a random search tree.
// `places` has size + 1 entries.
KERNEL(grow_binary_tree, uint64 seed, int64 size, int32 *places, int32 *parents) {
    for ([[maybe_unused]] const Index once : launch) {
        parents[0] = END;
        places[0] = places[1] = 0;
        for (Index node = 1; node < size; ++node) {
            if (node % NODES_AT_ONCE == 0)
                STOP_POINT();
            const uint64 place = random_of(seed, EDGES, node).next_below(uint64(node) + 1);
            parents[node] = places[place];
            places[place] = places[node + 1] = int32(node);
        }
    }
}

// Renumbers the nodes.
KERNEL(rename_nodes, const int32 *parents, const int32 *names, int32 *renamed) {
    for (const Index v : launch)
        renamed[names[v]] = parents[v] < 0 ? END : names[parents[v]];
}
