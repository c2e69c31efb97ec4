// A near-far search in one launch, for 64-bit integer distances (WIDE).
#include "graph/traversal/near_far.cuh"

HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(search_near_far_wide, Csr graph, Distances distances, Traversal frontier, NearFar lists,
                         int64 teams) {
    TEAM_SHARED(TeamSpace, space, 1);
    traverse(near_far_rounds_of<WIDE>(graph, distances, frontier, lists, space), range_begin, range_end, teams);
}
