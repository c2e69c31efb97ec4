// A near-far search in one launch, for 32-bit integer distances (NARROW).
#include "graph/traversal/near_far/near_far.cuh"

HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(search_near_far_narrow, Csr graph, Distances distances, Traversal frontier,
                                       NearFar lists) {
    TEAM_SHARED(TeamSpace, space, 1);
    run_all(near_far_search<NARROW>(graph, distances, frontier, lists, space), launch.grid());
}
