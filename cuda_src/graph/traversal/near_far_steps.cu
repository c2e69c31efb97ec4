// The steps of a round of a near-far search, one launch per step.
#include "graph/traversal/near_far.cuh"

TEAM_KERNEL(relax_tiles, Csr graph, Distances distances, Traversal frontier, NearFar lists) {
    TEAM_SHARED(TeamSpace, space, 1);
    near_far_rounds(graph, distances, frontier, lists, space, [&](auto rounds) {
        FOR_TEAMS (tile)
            rounds.tile(tile);
    });
}

TEAM_KERNEL(relax_chunks, Csr graph, Distances distances, Traversal frontier, NearFar lists) {
    TEAM_SHARED(TeamSpace, space, 1);
    near_far_rounds(graph, distances, frontier, lists, space, [&](auto rounds) {
        FOR_TEAMS (chunk)
            rounds.chunk(chunk);
    });
}

TEAM_KERNEL(split_far, Csr graph, Distances distances, Traversal frontier, NearFar lists) {
    TEAM_SHARED(TeamSpace, space, 1);
    near_far_rounds(graph, distances, frontier, lists, space, [&](auto rounds) {
        FOR_TEAMS (tile)
            rounds.last(tile);
    });
}
