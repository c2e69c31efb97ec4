// Initialisation of a near-far search, and the end of each round (near_far.cuh). The kernels are in several files,
// because nvcc compiles each of them slowly.
#include "graph/traversal/near_far.cuh"

// Initialises the search: only the source is reached, if there is a single one (otherwise set_sources follows). Sources
// need no epoch, because their distances never fall.
TEAM_KERNEL(begin_near_far, Csr graph, Distances distances, Traversal frontier, NearFar lists, int64 sources,
            int64 source) {
    near_far_rounds(graph, distances, frontier, lists, nullptr, [&](auto rounds) {
        FOR_TEAMS (team) {
            const Index begin = team * BEGINNING, end = begin + BEGINNING;
            FOR_SHARE (v, begin, end < graph.nodes ? end : graph.nodes) {
                rounds.distances.values[v] = v == source ? 0 : rounds.distances.unreached();
                lists.epochs[v] = lists.is_far[v] = 0;
            }
            if (team > 0)
                continue;
            FOR_LEADER {
                begin_numbers(graph, frontier, sources, source, 1);
                frontier.totals[WIDTH] = 1;
                frontier.totals[BAND_ROUND] = 1;
                frontier.totals[NEAR] = rounds.bound_above(0);
                rounds.end();
            }
        }
    });
}

KERNEL(end_near_far, Csr graph, Distances distances, Traversal frontier, NearFar lists) {
    near_far_rounds(graph, distances, frontier, lists, nullptr, [&](auto rounds) {
        FOR_RANGE (once)
            rounds.end();
    });
}
