// One pass of a round of a near-far search.
#include "graph/traversal/near_far/near_far.cuh"

TEAM_KERNEL(near_far_pass, Csr graph, Distances distances, Traversal frontier, NearFar lists, int64 pass) {
    TEAM_SHARED(TeamSpace, space, 1);
    near_far_by_kind(graph, distances, frontier, lists, space,
                     [&](auto search) { search.round(one_pass(pass, launch.teams())); });
}
