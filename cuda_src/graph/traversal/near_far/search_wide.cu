// A near-far search in one launch, for 64-bit integer distances (WIDE).
#include "graph/traversal/near_far/near_far.cuh"

HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(search_near_far_wide, Csr graph, Distances distances, Traversal frontier,
                                       NearFar lists) {
    TEAM_SHARED(TeamSpace, space, 1);
    run_all(near_far_search<WIDE>(graph, distances, frontier, lists, space), launch.grid());
}
