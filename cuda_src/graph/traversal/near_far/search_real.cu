// A near-far search in one launch, for floating-point distances (REAL).
#include "graph/traversal/near_far/near_far.cuh"

HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(search_near_far_real, Csr graph, Distances distances, Traversal frontier,
                                       NearFar lists) {
    TEAM_SHARED(TeamSpace, space, 1);
    run_all(near_far_search<REAL>(graph, distances, frontier, lists, space), launch.grid());
}
