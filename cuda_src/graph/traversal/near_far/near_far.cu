// Initialisation of a near-far search, and the end of each round (near_far.cuh).
#include "graph/traversal/near_far/near_far.cuh"

// Initialises the search: only the source is reached, if there is a single one (otherwise set_sources follows). Sources
// need no epoch, because their distances never fall.
TEAM_KERNEL(begin_near_far, Csr graph, Distances distances, Traversal frontier, NearFar lists, int64 sources,
            int64 source) {
    near_far_by_kind(graph, distances, frontier, lists, nullptr, [&](auto search) {
        for (const Team team : launch.teams()) {
            const Index begin = team.number * BEGINNING, end = begin + BEGINNING;
            for (const Index v : Team::share({begin, end < graph.nodes ? end : graph.nodes})) {
                search.distances.values[v] = v == source ? 0 : search.distances.unreached();
                lists.epochs[v] = lists.is_far[v] = 0;
            }
            if (team.number > 0)
                continue;
            if (Team::leads()) {
                begin_control(graph, frontier, sources, source, 1);
                frontier.totals[WIDTH] = 1;
                frontier.totals[BAND_ROUND] = 1;
                frontier.totals[NEAR] = search.bound_above(0);
                search.end();
            }
        }
    });
}

KERNEL(end_near_far, Csr graph, Distances distances, Traversal frontier, NearFar lists) {
    near_far_by_kind(graph, distances, frontier, lists, nullptr, [&](auto search) {
        for ([[maybe_unused]] const Index once : launch)
            search.end();
    });
}
