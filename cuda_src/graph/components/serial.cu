// Components by one thread of a CPU. The label of a component is its smallest node.
#include "graph/csr.cuh"

constexpr int32 UNSEEN = 0;            // of a node that the search has not reached
constexpr int32 FINISHED = 0x7fffffff; // of a node whose component is known: above all other numbers
constexpr Index NODES_PER_STOP = 4096; // steps between two STOP_POINTs

// Weak components by hooking the larger root to the smaller one, with path halving (Tarjan, van Leeuwen 1984).
KERNEL(unite_in_sequence, Csr graph, int32 *labels) {
    const auto root_of = [&](int32 node) {
        while (labels[node] != node)
            node = labels[node] = labels[labels[node]];
        return node;
    };
    for ([[maybe_unused]] const Index once : launch) {
        for (Index node = 0; node < graph.nodes; ++node)
            labels[node] = int32(node);
        for (Index node = 0; node < graph.nodes; ++node) {
            if (node % NODES_PER_STOP == 0)
                STOP_POINT();
            int32 root = root_of(int32(node));
            for (Index edge = graph.begin(node); edge < graph.end(node); ++edge) {
                if (labels[graph.targets[edge]] == root)
                    continue;
                const int32 other = root_of(graph.targets[edge]);
                const int32 low = root < other ? root : other;
                labels[root < other ? other : root] = low;
                root = low;
            }
        }
        for (Index node = 0; node < graph.nodes; ++node) // parents come before their children
            labels[node] = labels[labels[node]];
    }
}

// Strong components by depth-first search (Tarjan 1972), without recursion. Nodes that are FINISHED at the beginning,
// and their edges, are left out.
//
// numbers[v]: UNSEEN, the number of v in the order of the search, or FINISHED. `lows[v]` is the least number that v has
// found, kept while the search is below v; it may be the array of labels. `open` is the stack of nodes without a
// component; `path` and `edges` are the path of the search, and the next edge of each node on it.
KERNEL(search_in_sequence, Csr graph, int32 *numbers, int32 *labels, int32 *open, int32 *path, int64 *edges) {
    for ([[maybe_unused]] const Index once : launch) {
        int32 *const lows = labels;
        int32 reached = 0, node = 0, low = 0; // the node that is searched, and the least number found from it
        Index opened = 0, depth = 0, steps = 0, edge = 0, end = 0;
        const auto enter = [&](int32 next) {
            node = next;
            low = numbers[node] = ++reached;
            open[opened++] = node;
            edge = graph.begin(node);
            end = graph.end(node);
        };
        const auto unseen_target = [&]() -> int32 { // -1 if the node has no more
            while (edge < end) {
                const int32 target = graph.targets[edge++], number = numbers[target];
                if (number == UNSEEN)
                    return target;
                low = number < low ? number : low;
            }
            return -1;
        };
        const auto finish_component = [&] { // the top of the stack, down to the node
            Index first = opened;
            int32 least = node;
            do
                least = open[--first] < least ? open[first] : least;
            while (open[first] != node);
            for (Index place = first; place < opened; ++place) {
                labels[open[place]] = least;
                numbers[open[place]] = FINISHED;
            }
            opened = first;
        };
        for (Index root = 0; root < graph.nodes; ++root) {
            if (numbers[root] != UNSEEN)
                continue;
            for (enter(int32(root));;) { // ends: each step enters a node or leaves one
                if (++steps % NODES_PER_STOP == 0)
                    STOP_POINT();
                const int32 next = unseen_target();
                if (next >= 0) {
                    lows[node] = low;
                    path[depth] = node;
                    edges[depth++] = edge;
                    enter(next);
                    continue;
                }
                if (low == numbers[node]) {
                    finish_component();
                    low = FINISHED;
                }
                if (depth == 0)
                    break;
                node = path[--depth];
                edge = edges[depth];
                end = graph.end(node);
                low = lows[node] < low ? lows[node] : low;
            }
        }
    }
}
