// Rounds of a near-far search that one team does alone.
#include "graph/traversal/near_far.cuh"

TEAM_KERNEL(few_near_far, Csr graph, Distances distances, Traversal frontier, NearFar lists) {
    TEAM_SHARED(TeamSpace, space, 1);
    FOR_TEAMS (team)
        near_far_rounds(graph, distances, frontier, lists, space, [&](auto rounds) { run_few(rounds); });
}
