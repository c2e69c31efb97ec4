// Breadth-first search and shortest paths on a frontier, by the expansions of collapse.cuh.
#include "graph/schemes/collapse.cuh"
#include "graph/traversal/distances.cuh"

// The loop body for both searches. A node is pushed once per round: in breadth-first search by the thread that reaches
// it first; with weights, by the first thread that sets its epoch to the round.
template <class Of> struct Relaxation {
    using State = typename Of::Value;

    Of of;
    int32 *epochs; // (nodes): the last round that pushed each node, counted from 1; or null
    int32 round;

    METHOD bool enter(Index node, State &distance) const {
        distance = of.at(node);
        return of.goes_on(distance);
    }

    METHOD void visit(Index, State distance, Index edge, const TeamQueue &queue) const {
        if (!of.relax(edge, distance, true))
            return;
        const Index target = of.graph.targets[edge];
        if (Of::kind == HOPS || (racing_load(epochs + target) < round && atomic_max(epochs + target, round) < round))
            queue.push(target);
    }
};

TEAM_KERNEL(expand_batches, Csr graph, Distances distances, Frontier frontier, Collapse how, int32 *epochs,
            int64 *relaxed) {
    TEAM_SHARED(int32, places, QUEUE_CAPACITY);
    TEAM_SHARED(int32, filled, 2);
    TEAM_SHARED(int32, nodes, TEAM_SIZE);
    TEAM_SHARED(int64, states, TEAM_SIZE);
    TEAM_SHARED(int64, begins, TEAM_SIZE);
    TEAM_SHARED(int64, sums, TEAM_SIZE);
    TEAM_SHARED(int64, scratch, TEAM_SIZE);
    TEAM_SHARED(int32, large, TEAM_SIZE);
    TEAM_SHARED(int32, medium, TEAM_SIZE);
    TEAM_SHARED(int32, counts, 2);
    const TeamQueue queue{frontier, how.shared_queue ? places : nullptr, filled, how.team_primitives != 0};
    const Batch batch{nodes, states, begins, sums, scratch, large, medium, counts};
    by_kind(distances, graph, [&](auto of) {
        Relaxation<decltype(of)> body{of, epochs, frontier.round() + 1};
        Index looked_at = 0;
        for (const Team team : launch.teams())
            looked_at += expand_batch(team.number, graph, body, queue, batch, how);
        count_up(relaxed, looked_at);
    });
}

// The degrees of the frontier's nodes, for a scan, with 32 or 64 bits.
KERNEL(frontier_degrees, Csr graph, Distances distances, Frontier frontier, int32 *degrees32, int64 *degrees64) {
    by_kind(distances, graph, [&](auto of) {
        for (const Index i : launch) {
            const Index node = frontier.nodes()[i];
            const Index degree = of.goes_on(of.at(node)) ? graph.degree(node) : 0;
            if (degrees32 != nullptr)
                degrees32[i] = int32(degree);
            else
                degrees64[i] = degree;
        }
    });
}

// Computes the number of tiles into which the edges of the frontier are cut.
KERNEL(cut_tiles, Frontier frontier, const int32 *sums32, const int64 *sums64) {
    for ([[maybe_unused]] const Index once : launch) {
        const Index all = Rows{sums32, sums64}[frontier.progress[FRONTIER]];
        frontier.progress[TILES] = int32((all + TILE_EDGES - 1) / TILE_EDGES);
    }
}

TEAM_KERNEL(expand_tiles, Csr graph, Distances distances, Frontier frontier, Collapse how, const int32 *sums32,
            const int64 *sums64, int32 *epochs, int64 *relaxed) {
    TEAM_SHARED(int32, places, QUEUE_CAPACITY);
    TEAM_SHARED(int32, filled, 2);
    TEAM_SHARED(int64, local, TILE_ROWS + 1);
    TEAM_SHARED(int64, ends, 2);
    const TeamQueue queue{frontier, how.shared_queue ? places : nullptr, filled, how.team_primitives != 0};
    by_kind(distances, graph, [&](auto of) {
        Relaxation<decltype(of)> body{of, epochs, frontier.round() + 1};
        Index looked_at = 0;
        for (const Team team : launch.teams())
            looked_at += expand_tile(team.number, graph, body, queue, Rows{sums32, sums64}, local, ends, how);
        count_up(relaxed, looked_at);
    });
}

// The next list becomes the frontier.
KERNEL(end_expansion, Frontier frontier) {
    for ([[maybe_unused]] const Index once : launch) {
        int32 *const progress = frontier.progress;
        const int32 count = progress[NEXT];
        progress[FRONTIER] = count;
        progress[BATCHES] = (count + TEAM_SIZE - 1) / TEAM_SIZE;
        progress[SCAN_TILES] = (count + SCAN_TILE - 1) / SCAN_TILE;
        progress[NEXT] = progress[TILES] = 0;
        progress[FRONTIER_ROUNDS] += 1;
        progress[FRONTIER_STOP] = count == 0;
    }
}
