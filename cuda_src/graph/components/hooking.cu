// Weak components by hooking trees of nodes, in an order that allows most edges to be skipped (Afforest: Sutton,
// Ben-Nun and Barak 2018).
//
//     first neighbours     all nodes      SAMPLED edges of each node are hooked, and the paths are compressed
//     the largest tree     one team       the tree that most of SAMPLES nodes are in
//     remaining edges      edge blocks    only those that leave the largest tree need a search for roots
//
// parents[v] <= v, with equality at roots. Hooking makes the larger root a child of the smaller one, so that the root
// of a component's only tree is, in the end, its smallest node, whatever the order of the threads.
//
// Departures from the paper: roots are hooked by an atomic minimum instead of a compare and swap; if the node has got
// another parent meanwhile, the two parents remain to be united. As edges lead one way, the nodes of the largest tree
// can be left out only if the transposed graph is there (hook_other_nodes). Otherwise all edges are examined, and those
// within a tree cost two reads.
#include "graph/edge_blocks.cuh"

constexpr Index SAMPLED = 2;         // edges of each node that are hooked first
constexpr int SAMPLES = TEAM_SIZE;   // nodes that vote for the largest tree
constexpr uint64 STEP = 0x9e3779b9u; // between the voters; coprime to most numbers of nodes

// Returns the root of a node's tree, and makes the nodes on the way children of their grandparents. Racing stores are
// safe: they replace a node's ancestor by another one. Earlier values are ancestors, too, so that all threads may read
// the largest trees' roots from their multiprocessor's cache; `unite` notices when a node is no longer a root.
INLINE int32 root_of(int32 *parents, int32 node) {
    int32 parent = cached_load(parents + node);
    while (parent != node) { // ends: parents decrease
        const int32 above = cached_load(parents + parent);
        if (above != parent)
            racing_store(parents + node, above);
        node = parent;
        parent = above;
    }
    return node;
}

// Unites the trees of two nodes.
INLINE void unite(int32 *parents, int32 one, int32 other) {
    one = root_of(parents, one);
    other = root_of(parents, other);
    while (one != other) { // ends: the larger of the two decreases
        const int32 high = one > other ? one : other, low = one < other ? one : other;
        const int32 before = atomic_min(parents + high, low);
        if (before == high) // it was a root until now
            return;
        one = root_of(parents, before);
        other = root_of(parents, low);
    }
}

// The first parent of a node is its first neighbour, if that is smaller. No thread follows a path that others are still
// making longer, as with hooking, where a path of n nodes may take n steps.
KERNEL(begin_trees, Csr graph, int32 *parents) {
    for (const Index node : launch) {
        const Index begin = graph.begin(node);
        const int32 first = begin < graph.end(node) ? graph.targets[begin] : int32(node);
        parents[node] = first < node ? first : int32(node);
    }
}

KERNEL(hook_first_neighbours, Csr graph, int32 *parents) {
    for (const Index node : launch) {
        const Index begin = graph.begin(node), end = graph.end(node);
        for (Index edge = begin; edge < end && edge < begin + SAMPLED; ++edge) {
            const int32 target = graph.targets[edge];
            if (cached_load(parents + target) != cached_load(parents + node))
                unite(parents, int32(node), target);
        }
    }
}

KERNEL(compress_paths, int32 *parents) {
    for (const Index node : launch)
        racing_store(parents + node, root_of(parents, int32(node)));
}

// largest[0] = the root that most of the sampled nodes have; ties go to the smallest root.
TEAM_KERNEL(find_largest_tree, const int32 *parents, int64 nodes, int32 *largest) {
    TEAM_SHARED(int32, votes, SAMPLES);
    TEAM_SHARED(int32, counts, SAMPLES);
    for (const Team team : launch.teams()) {
        team.for_members([&](int member) { votes[member] = parents[uint64(member) * STEP % uint64(nodes)]; });
        team.for_members([&](int member) {
            int32 same = 0;
            for (int other = 0; other < SAMPLES; ++other)
                same += votes[other] == votes[member];
            counts[member] = same;
        });
        if (team.leads()) {
            int best = 0;
            for (int member = 1; member < SAMPLES; ++member)
                if (counts[member] > counts[best] || (counts[member] == counts[best] && votes[member] < votes[best]))
                    best = member;
            largest[0] = votes[best];
        }
        team.barrier();
    }
}

// Hooks the edges between trees.
KERNEL(hook_remaining_edges, Csr graph, int32 *parents) {
    for_rows_of_edge_blocks(graph, launch, [&](Index node, Index first, Index end) {
        for (Index edge = first; edge < end; ++edge) {
            const int32 target = graph.targets[edge];
            if (cached_load(parents + target) != cached_load(parents + node))
                unite(parents, int32(node), target);
        }
    });
}

// The same for the edges of the graph, or of the transposed graph, that leave nodes outside the largest tree. The test
// uses the parents before this pass, which `trees` holds.
KERNEL(hook_other_nodes, Csr graph, const int32 *trees, const int32 *largest, int32 *parents) {
    const int32 most = largest[0];
    for_rows_of_edge_blocks(graph, launch, [&](Index node, Index first, Index end) {
        if (trees[node] != most)
            for (Index edge = first; edge < end; ++edge)
                unite(parents, int32(node), graph.targets[edge]);
    });
}
