// Single-block rounds of a near-far search: one team processes those with few nodes, one after the other.
#include "graph/traversal/near_far/near_far.cuh"

TEAM_KERNEL(single_block_near_far, Csr graph, Distances distances, Traversal frontier, NearFar lists) {
    TEAM_SHARED(TeamSpace, space, 1);
    for ([[maybe_unused]] const Team team : launch.teams())
        near_far_by_kind(graph, distances, frontier, lists, space, [&](auto search) { run_alone(search); });
}
