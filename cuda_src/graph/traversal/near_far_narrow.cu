// A near-far search in one launch, for 32-bit integer distances (NARROW).
#include "graph/traversal/near_far.cuh"

HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(search_near_far_narrow, Csr graph, Distances distances, Traversal frontier, NearFar lists,
                         int64 teams) {
    TEAM_SHARED(TeamSpace, space, 1);
    traverse(near_far_rounds_of<NARROW>(graph, distances, frontier, lists, space), range_begin, range_end, teams);
}
