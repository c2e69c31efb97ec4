// Kernels of direction-optimising breadth-first search (breadth_first.cuh).
#include "graph/traversal/breadth_first.cuh"

INLINE BreadthFirst breadth_first(const Csr &graph, const Csr &incoming, const Distances &distances,
                                  const Traversal &frontier, const Levels &levels, TeamSpace *space) {
    return {graph, incoming, {distances.narrow, int32(distances.limit), graph}, frontier, levels, space};
}

// Initialises the search: only the source is reached, if there is a single one (otherwise set_sources
// and enter_first_level follow).
TEAM_KERNEL(begin_levels, Csr graph, Csr incoming, Distances distances, Traversal frontier, Levels levels,
            int64 sources, int64 source) {
    const BreadthFirst search = breadth_first(graph, incoming, distances, frontier, levels, nullptr);
    for (const Team team : launch.teams()) {
        const Index begin = team.number * BEGINNING, end = begin + BEGINNING;
        for (const Index v : Team::share({begin, end < graph.nodes ? end : graph.nodes})) {
            search.distances.values[v] = v == source ? 0 : search.distances.unreached();
            if (levels.parents != nullptr)
                levels.parents[v] = v == source ? -1 : NO_PARENT;
            if (ONE_MEMBER && v % WORD == 0)
                levels.seen[v / WORD] = source >= 0 && source / WORD == v / WORD ? bit_of(source) : 0;
        }
        if (team.number > 0)
            continue;
        if (Team::leads()) {
            begin_control(graph, frontier, sources, source, -1);
            frontier.totals[UNSEEN] = graph.nodes;
            frontier.totals[UNSEEN_EDGES] = graph.edges;
            search.end();
        }
    }
}

// Enters the sources, if there are several.
KERNEL(enter_first_level, const int32 *sources, Levels levels) {
    for (const Index i : launch) {
        if (ONE_MEMBER)
            add_together(levels.seen, sources[i]);
        if (levels.parents != nullptr)
            levels.parents[sources[i]] = -1;
    }
}

// Processes consecutive levels with few nodes by one team.
TEAM_KERNEL(single_block_levels, Csr graph, Csr incoming, Distances distances, Traversal frontier, Levels levels) {
    TEAM_SHARED(TeamSpace, space, 1);
    for ([[maybe_unused]] const Team team : launch.teams())
        run_alone(breadth_first(graph, incoming, distances, frontier, levels, space));
}

// One pass of a level.
TEAM_KERNEL(level_pass, Csr graph, Csr incoming, Distances distances, Traversal frontier, Levels levels, int64 pass) {
    TEAM_SHARED(TeamSpace, space, 1);
    const BreadthFirst search = breadth_first(graph, incoming, distances, frontier, levels, space);
    search.round(one_pass(pass, launch.teams()));
}

KERNEL(end_level, Csr graph, Csr incoming, Distances distances, Traversal frontier, Levels levels) {
    for ([[maybe_unused]] const Index once : launch)
        breadth_first(graph, incoming, distances, frontier, levels, nullptr).end();
}

// All levels in one launch.
HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(search_breadth_first, Csr graph, Csr incoming, Distances distances,
                                       Traversal frontier, Levels levels) {
    TEAM_SHARED(TeamSpace, space, 1);
    run_all(breadth_first(graph, incoming, distances, frontier, levels, space), launch.grid());
}
