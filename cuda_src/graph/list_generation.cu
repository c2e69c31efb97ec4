// Lists and trees to measure with.
#include "lists.cuh"
#include "random.cuh"

// An order as lists: the elements follow each other, in `lists` lists whose lengths differ by one at most.
KERNEL(link_in_order, const int32 *order, int64 size, int64 lists, int32 *successors) {
    FOR_RANGE (k) {
        const Index next = k + 1, list = (next * lists + size - 1) / size; // list l begins at place l * size / lists
        successors[order[k]] = list * size / lists == next ? END : order[next];
    }
}

KERNEL(flag_multiples, const int32 *order, int64 interval, int32 *flags) {
    FOR_RANGE (k)
        flags[k] = order[k] % interval == 0;
}

KERNEL(turn_flags, int32 *flags) {
    FOR_RANGE (k)
        flags[k] = 1 - flags[k];
}

// The next of the multiples where the place is flagged, else the next of the others; before[k] places up to k are flagged.
KERNEL(merge_orders, const int32 *before, const int32 *multiples, const int32 *others, int32 *order) {
    FOR_RANGE (k)
        order[k] = before[k + 1] > before[k] ? multiples[before[k]] : others[k - before[k]];
}

constexpr Index NODES_AT_ONCE = 1 << 12; // between two STOP_POINTs

// A binary tree that grows by a node at a time, below any node that has no two children, each free place as likely as
// the others: the shape of a random search tree. `places` has room for size + 1.
KERNEL(grow_binary_tree, uint64 seed, int64 size, int32 *places, int32 *parents) {
    FOR_RANGE (once) {
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

// Nodes by other names.
KERNEL(rename_nodes, const int32 *parents, const int32 *names, int32 *renamed) {
    FOR_RANGE (v)
        renamed[names[v]] = parents[v] < 0 ? END : names[parents[v]];
}
