// Trimming: nodes without edges in one of the two directions are removed, and again as long as the removal leaves more
// such nodes (Slota, Rajamanickam, Madduri 2015, "Trimming"; McLendon et al. 2005). Such a node is a strong component
// of its own. Self loops do not count.
//
// Departure from the paper: its body tests the edges of u, and then pushes the targets of these edges, which are
// trimmed already. The edges of one direction must be tested, and the ends of the other ones pushed. Here a node is
// counted once, in the first round; later rounds subtract 1 from the counts of both kinds of neighbours of a trimmed
// node. So every edge is examined at most four times, however many rounds there are.
#include "graph/engine/engine.cuh"

// Counts the edges of each node to other nodes. If `trimmed` is given, nodes for which this count, or the `other` one
// of the other direction, is 0 are trimmed and pushed.
KERNEL_STRUCT(EdgeCounts) {
    int32 *counts;
    const int32 *other;
    int32 *trimmed;
    using State = int32;
    using Reduction = Sum;

    METHOD bool enter(Index, State &, const Loop &) const { return true; }
    METHOD uint64 edge(Index u, State, Index edge, const Loop &loop) const { return loop.graph.targets[edge] != u; }
    METHOD void leave(Index u, State, uint64 count, const Loop &loop) const {
        counts[u] = int32(count);
        if (trimmed != nullptr && (count == 0 || other[u] == 0)) {
            trimmed[u] = 1;
            loop.push(u);
        }
    }
};

// Subtracts the edges of trimmed nodes from the counts of their targets.
KERNEL_STRUCT(Trimming) {
    int32 *counts; // of the edges in the other direction
    int32 *trimmed;
    using State = int32;
    using Reduction = None;

    METHOD bool enter(Index, State &, const Loop &) const { return true; }
    METHOD void edge(Index u, State, Index edge, const Loop &loop) const {
        const Index target = loop.graph.targets[edge];
        if (target != u && atomic_add(counts + target, -1) == 1 && atomic_max(trimmed + target, 1) == 0)
            loop.push(target);
    }
};

ENGINE_KERNELS_WITH_LEAVE(count_edges, EdgeCounts)

ENGINE_KERNELS(trim, Trimming)

// Rounds of few nodes, by one team: along the edges of the graph, and along those of the transposed one.
TEAM_KERNEL(trim_alone, Csr graph, Csr incoming, Frontier frontier, Collapse how, Trimming along, Trimming against) {
    TEAM_SHARED(AloneSpace, space, 1);
    Index examined = 0;
    for ([[maybe_unused]] const Team team : launch.teams())
        examined += follow_both_alone(graph, incoming, frontier, how, along, against, space[0]);
    count_up(frontier.totals + 1, examined);
}
