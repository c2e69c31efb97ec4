// Kernels of breadth-first search in the order of a sequential queue (queue_search.cuh).
#include "graph/traversal/queue_search.cuh"

INLINE QueueSearch queue_search(const Csr &graph, const Distances &distances, const Traversal &frontier,
                                const Queue &queue, TeamSpace *space) {
    return {graph, {distances.narrow, int32(distances.limit), graph}, frontier, queue, space};
}

// Initialises the search without its sources.
TEAM_KERNEL(begin_queue, Csr graph, Distances distances, Traversal frontier, Queue queue) {
    const QueueSearch search = queue_search(graph, distances, frontier, queue, nullptr);
    for (const Team team : launch.teams()) {
        const Index begin = team.number * BEGINNING, end = begin + BEGINNING;
        for (const Index v : Team::share({begin, end < graph.nodes ? end : graph.nodes})) {
            distances.narrow[v] = search.distances.unreached();
            queue.parents[v] = -1;
            queue.claims[v] = UNCLAIMED;
            if (ONE_MEMBER && v % WORD == 0)
                queue.seen[v / WORD] = 0;
        }
    }
}

// Enters the sources, the first nodes of `list0`, in their order; one team.
TEAM_KERNEL(enter_queue, Csr graph, Distances distances, Traversal frontier, Queue queue, int64 sources) {
    const QueueSearch search = queue_search(graph, distances, frontier, queue, nullptr);
    for ([[maybe_unused]] const Team team : launch.teams()) {
        const Sums<2> found = Team::in_order(
            {0, sources}, Sums<2>{}, [&](Index i) { return Sums<2>{{1, int32(graph.degree(frontier.list0[i]))}}; },
            [&](Index i, const Sums<2> &before) {
                const int32 source = frontier.list0[i];
                search.append(source, -1, i, before.of[1], 0);
                queue.claims[source] = -1;
                if (ONE_MEMBER)
                    add_alone(queue.seen, source);
            });
        if (Team::leads()) {
            begin_control(graph, frontier, 0, -1, -1);
            search.enter_next(found);
            frontier.totals[UNSEEN] = graph.nodes;
            search.end();
        }
    }
}

// Processes consecutive levels with few nodes by one team.
TEAM_KERNEL(single_block_queue_levels, Csr graph, Distances distances, Traversal frontier, Queue queue) {
    TEAM_SHARED(TeamSpace, space, 1);
    for ([[maybe_unused]] const Team team : launch.teams())
        run_alone(queue_search(graph, distances, frontier, queue, space));
}

// One pass of a level.
TEAM_KERNEL(queue_pass, Csr graph, Distances distances, Traversal frontier, Queue queue, int64 pass) {
    const QueueSearch search = queue_search(graph, distances, frontier, queue, nullptr);
    search.round(one_pass(pass, launch.teams()));
}

KERNEL(end_queue_level, Csr graph, Distances distances, Traversal frontier, Queue queue) {
    for ([[maybe_unused]] const Index once : launch)
        queue_search(graph, distances, frontier, queue, nullptr).end();
}

// All levels in one launch.
HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(search_by_queue, Csr graph, Distances distances, Traversal frontier,
                                       Queue queue) {
    TEAM_SHARED(TeamSpace, space, 1);
    run_all(queue_search(graph, distances, frontier, queue, space), launch.grid());
}
