// Breadth-first searches from many sources at once, of which each has a bit (MS-BFS: Then et al. 2014, section 3.1).
// Searches that reach a node at the same distance follow its edges together.
//
//     follow_together   edges of the frontier   arriving[target] gets the searches that are fresh at the edge's source
//                                               and have not seen the target
//     arrive_together   the next frontier       these searches are fresh there, and have seen it
//
// Departures from the paper: the frontier is a list, so that a level with few nodes costs little; threads add bits
// atomically, and the thread that adds a node's first ones puts it on the list.
#include "graph/engine/engine.cuh"

constexpr int SEARCHES_AT_ONCE = 64;

KERNEL_STRUCT(Searches) {
    uint64 *seen;     // (nodes): a bit for each search that has reached the node in an earlier round
    uint64 *fresh;    // the same for the current round, at the nodes of the frontier
    uint64 *arriving; // the same for the next round; zero at all other nodes
    int64 limit;      // the largest distance
    using State = uint64;
    using Reduction = None;
    using Scope = WholeGraph;

    METHOD bool enter(Index u, State & searches, const Loop &loop) const {
        searches = fresh[u];
        return loop.round() < limit;
    }

    METHOD void edge(Index, State searches, Index edge, const Loop &loop) const {
        const Index target = loop.graph.targets[edge];
        const uint64 first = searches & ~seen[target];
        if ((first & ~racing_load(arriving + target)) != 0 && atomic_or(arriving + target, first) == 0)
            loop.push(target);
    }
};
static_assert(SEARCHES_AT_ONCE == 8 * sizeof(Searches::State), "a bit for each search");

ENGINE_KERNELS(follow_together, Searches)

// Makes each source the beginning of a search.
KERNEL(begin_together, const int32 *sources, uint64 *arriving) {
    for (const Index search : launch)
        atomic_or(arriving + sources[search], uint64(1) << search);
}

// distances[search * nodes + node] = the number of the round, for the searches that arrive at the frontier's nodes.
KERNEL(arrive_together, Frontier frontier, Searches searches, int64 nodes, int32 *distances) {
    const Nodes list = frontier.nodes();
    for (const Index i : launch) {
        const Index node = list[i];
        const uint64 fresh = searches.arriving[node];
        searches.arriving[node] = 0;
        searches.fresh[node] = fresh;
        searches.seen[node] |= fresh;
        for (uint64 rest = fresh; rest != 0; rest &= rest - 1)
            distances[trailing_zeros(rest) * nodes + node] = frontier.round();
    }
}
