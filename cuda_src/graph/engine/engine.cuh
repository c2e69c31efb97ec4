// The triply nested loop of graph algorithms as one engine (Slota, Rajamanickam, Madduri: High Performance Graph
// Analytics on Manycore Processors, 2015; lecture, "Abstracting graph algorithms"):
//
//     for each round i
//         for each node u of the frontier S_i        enter(u)
//             for each edge of u                     edge(u, edge): reads and writes its target, may push it to S_i+1
//                                                    leave(u, the reduction of the values of its edges)
//
// An algorithm is a Body, which the engine's strategies expand:
//
//     KERNEL_STRUCT(Body) {
//         ...                                    arrays and numbers: a kernel argument
//         using State = ...;                     data of a node that its edges need: a number
//         using Reduction = ...;                 None, or a reduction over its edges (reductions.cuh)
//         using Scope = WholeGraph;              optional: its frontiers have no masks
//         bool enter(u, State &, loop)           reads the state; false if u is skipped
//         Value edge(u, state, edge, loop)       visits an edge of loop.graph; void if Reduction is None
//         void leave(u, state, value, loop)      once per entered node; only with a reduction
//     };
//     ENGINE_KERNELS(name, Body)                 or ENGINE_KERNELS_WITH_LEAVE, ENGINE_KERNELS_WITH_ALONE
//
// `loop` (loop.cuh) has the graph, which may be a transposed one, the number of the round, and push(v). A body pushes a
// node at most once per round. `enter` may be called several times for a node and must answer alike within a round. The
// order of the edges, and of the nodes in a frontier, is arbitrary: results must not depend on it. A mask restricts the
// loop to a subgraph: neither its other nodes nor the edges to them are visited.
//
// To add an algorithm: a `.cu` file with these lines (graph/engine/trimming.cu is an example), its name among the GPU
// modules of its caller, and a Python function that packs the Body and calls run_rounds (static_graph/engine/loop.py).
//
// BASELINE assigns all edges of a node to one thread. HIERARCHICAL assigns a node of large degree to the whole team, of
// medium degree to a warp, and others to one thread each. LOCAL ("Manhattan collapse") merges the loops over a batch of
// nodes and over their edges into one, by prefix sums of the degrees in shared memory and a search there for the node
// of each edge. GLOBAL does the same for the whole frontier: all teams have the same number of edges.
//
// The paper adds three options one after another: coalesced (members read neighbouring edges), a shared queue
// (loop.cuh), team primitives (sums by shuffles; lanes that reserve positions, or combine values, together).
#pragma once

#include "graph/engine/batches.cuh"
#include "graph/engine/tiles.cuh"

constexpr int32 ROUNDS_ALONE = 1 << 14;     // most rounds that one team follows alone in a launch
constexpr int32 ROUNDS_PER_STOP_POINT = 64; // of these, between two STOP_POINTs
constexpr int32 EDGES_ALONE = 1 << 13;      // most edges of such a round on a GPU

INLINE Loop team_loop(const Csr &graph, const Frontier &frontier, const Collapse &how, QueueSpace &queue) {
    return {graph, frontier, how.shared_queue ? queue.places : nullptr, queue.filled, how.team_primitives != 0};
}

// Calls use(body). A struct of kernel arguments that stands for several bodies has an overload that chooses one.
template <class Body, class Use> INLINE void with_body(const Body &body, const Loop &, Use use) { use(body); }

template <class Body, class Space>
INLINE void expand_batches(const Launch &launch, const Body &body, const Loop &loop, Space &space,
                           const Collapse &how) {
    with_body(body, loop, [&](const auto &one) {
        Index examined = 0;
        for (const Team team : launch.teams())
            examined += expand_batch(team.number, one, loop, space, how);
        count_up(loop.frontier.totals + 1, examined);
    });
}

template <class Body>
INLINE void expand_tiles(const Launch &launch, const Body &body, const Loop &loop, const DegreeSums &sums,
                         uint64 *values, TileSpace &space, const Collapse &how) {
    with_body(body, loop, [&](const auto &one) {
        Index examined = 0;
        for (const Team team : launch.teams())
            examined += expand_tile(team.number, one, loop, sums, values, space, how);
        count_up(loop.frontier.totals + 1, examined);
    });
}

// The degrees of the frontier's nodes, with 32 or 64 bits; 0 for nodes whose edges are skipped.
template <class Body>
INLINE void list_degrees(const Launch &launch, const Body &body, const Loop &loop, int32 *degrees32, int64 *degrees64) {
    with_body(body, loop, [&](const auto &one) {
        const Nodes nodes = loop.frontier.nodes();
        for (const Index i : launch) {
            typename std::decay_t<decltype(one)>::State state;
            const Index degree = enters(one, nodes[i], state, loop) ? loop.graph.degree(nodes[i]) : 0;
            if (degrees32 != nullptr)
                degrees32[i] = int32(degree);
            else
                degrees64[i] = degree;
        }
    });
}

// Whether few edges leave the nodes of a small frontier, so that one team follows them quickly.
INLINE bool few_edges(const Csr &graph, const Frontier &frontier) {
    const Nodes nodes = frontier.nodes();
    return ONE_MEMBER || Team::sum(Piece{0, frontier.progress[FRONTIER]}, [&](Index i) {
                             const Index degree = graph.degree(nodes[i]);
                             return Sums<1>{{int32(degree < EDGES_ALONE ? degree : EDGES_ALONE)}};
                         }).of[0] < EDGES_ALONE;
}

// The shared memory of a team that runs rounds alone.
struct AloneSpace {
    QueueSpace queue;
    BatchSpace<None> batch;
    int32 progress[FRONTIER_ENTRIES];
};

// Follows rounds by one team as long as they are small: vertical granularity, because a launch, or a barrier of all
// teams, costs more than such a round. `few(frontier)` tells whether the round has few edges; `expand(batch, frontier)`
// expands a batch, and gets a frontier whose control state is in the team's memory.
template <class Few, class Expand>
INLINE void run_alone(const Frontier &frontier, AloneSpace &space, Few few, Expand expand) {
    int32 *progress = space.progress;
    Frontier alone = frontier;
    alone.progress = progress;
    for (const Index entry : Team::share({0, FRONTIER_ENTRIES}))
        progress[entry] = frontier.progress[entry];
    Team::barrier();
    for (int32 round = 1; progress[ALONE] && round <= ROUNDS_ALONE; ++round) {
        if (round % ROUNDS_PER_STOP_POINT == 0)
            STOP_POINT();
        const bool goes_on = few(alone);
        for (Index batch = 0; goes_on && batch * TEAM_SIZE < progress[FRONTIER]; ++batch)
            expand(batch, alone);
        Team::barrier();
        if (Team::leads()) {
            if (goes_on)
                end_round(alone);
            else
                begin_round(alone, false);
        }
        Team::barrier();
    }
    for (const Index entry : Team::share({0, FRONTIER_ENTRIES}))
        frontier.progress[entry] = progress[entry];
}

// The rounds of a body that follows the edges of one graph; returns the number of edges examined by this thread.
template <class Body>
INLINE Index follow_alone(const Csr &graph, const Frontier &frontier, const Collapse &how, const Body &body,
                          AloneSpace &space) {
    Index examined = 0;
    run_alone(
        frontier, space, [&](const Frontier &alone) { return few_edges(graph, alone); },
        [&](Index batch, const Frontier &alone) {
            examined += expand_batch(batch, body, team_loop(graph, alone, how, space.queue), space.batch, how);
        });
    return examined;
}

// The same for the edges of two graphs, by a body for each.
template <class Body>
INLINE Index follow_both_alone(const Csr &graph, const Csr &incoming, const Frontier &frontier, const Collapse &how,
                               const Body &along, const Body &against, AloneSpace &space) {
    Index examined = 0;
    run_alone(
        frontier, space, [&](const Frontier &alone) { return few_edges(graph, alone) && few_edges(incoming, alone); },
        [&](Index batch, const Frontier &alone) {
            examined += expand_batch(batch, along, team_loop(graph, alone, how, space.queue), space.batch, how);
            examined += expand_batch(batch, against, team_loop(incoming, alone, how, space.queue), space.batch, how);
        });
    return examined;
}

// The kernels of a body: `name`_batches expands the frontier by BASELINE, HIERARCHICAL or LOCAL; `name`_degrees and
// `name`_tiles by GLOBAL, for which `name`_leave follows if the body has a reduction.
#define ENGINE_KERNELS(name, Body)                                                                                     \
    TEAM_KERNEL(name##_batches, Csr graph, Frontier frontier, Collapse how, Body body) {                               \
        TEAM_SHARED(QueueSpace, queue, 1);                                                                             \
        TEAM_SHARED(BatchSpace<Body::Reduction>, space, 1);                                                            \
        expand_batches(launch, body, team_loop(graph, frontier, how, queue[0]), space[0], how);                        \
    }                                                                                                                  \
    TEAM_KERNEL(name##_tiles, Csr graph, Frontier frontier, Collapse how, Body body, const int32 *sums32,              \
                const int64 *sums64, uint64 *values) {                                                                 \
        TEAM_SHARED(QueueSpace, queue, 1);                                                                             \
        TEAM_SHARED(TileSpace, space, 1);                                                                              \
        const Loop loop = team_loop(graph, frontier, how, queue[0]);                                                   \
        expand_tiles(launch, body, loop, {sums32, sums64}, values, space[0], how);                                     \
    }                                                                                                                  \
    KERNEL(name##_degrees, Csr graph, Frontier frontier, Body body, int32 *degrees32, int64 *degrees64) {              \
        list_degrees(launch, body, {graph, frontier, nullptr, nullptr, false}, degrees32, degrees64);                  \
    }

// The same, and `name`_alone: rounds of few nodes, by one team.
#define ENGINE_KERNELS_WITH_ALONE(name, Body)                                                                          \
    ENGINE_KERNELS(name, Body)                                                                                         \
    TEAM_KERNEL(name##_alone, Csr graph, Frontier frontier, Collapse how, Body body) {                                 \
        TEAM_SHARED(AloneSpace, space, 1);                                                                             \
        Index examined = 0;                                                                                            \
        for ([[maybe_unused]] const Team team : launch.teams())                                                        \
            examined += follow_alone(graph, frontier, how, body, space[0]);                                            \
        count_up(frontier.totals + 1, examined);                                                                       \
    }

#define ENGINE_KERNELS_WITH_LEAVE(name, Body)                                                                          \
    ENGINE_KERNELS(name, Body)                                                                                         \
    TEAM_KERNEL(name##_leave, Csr graph, Frontier frontier, Collapse how, Body body, uint64 *values) {                 \
        TEAM_SHARED(QueueSpace, queue, 1);                                                                             \
        const Loop loop = team_loop(graph, frontier, how, queue[0]);                                                   \
        for (const Team team : launch.teams())                                                                         \
            leave_nodes(team.number, body, loop, values);                                                              \
    }
