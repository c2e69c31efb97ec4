// The triply nested loop of graph algorithms, and ways to collapse it (Slota, Rajamanickam, Madduri: High Performance
// Graph Analytics on Manycore Processors, 2015; lecture, "Abstracting graph algorithms"):
//
//     for each round i
//         for each node u of the queue S_i                    \  one of the expansions here
//             for each edge of u, to v: visit, maybe push v   /
//
// The caller's Body defines the work at a node and at an edge:
//
//     State                              data of a node that its edges need
//     bool enter(u, State &)             reads the state; false if the edges of u can be skipped
//     void visit(u, state, edge, queue)  may push a node to S_i+1
//
// BASELINE assigns all edges of a node to one thread. HIERARCHICAL assigns a node of large degree to the whole team, of
// medium degree to a warp, and others to one thread each. LOCAL ("Manhattan collapse") merges the loops over a batch of
// nodes and over their edges into one, by prefix sums of the degrees in shared memory and a search there for the node
// of each edge. The global collapse does the same for the whole frontier: all teams have the same number of edges.
//
// The paper adds three options one after another: coalesced (members read neighbouring edges), a shared queue
// (frontier.cuh), team primitives (sums by shuffles; lanes that reserve positions together).
#pragma once

#include "graph/csr.cuh"
#include "graph/schemes/frontier.cuh"

enum Strategy : int64 { BASELINE, HIERARCHICAL, LOCAL, GLOBAL }; // GLOBAL has separate kernels

constexpr int TEAM_DEGREE = TEAM_SIZE;    // least degree of nodes processed by a team
constexpr int WARP_DEGREE = 32;           // least degree of nodes processed by a warp
constexpr int TILE_EDGES = 8 * TEAM_SIZE; // edges per team in the global collapse
constexpr int TILE_ROWS = 1024;           // most nodes of a tile whose offsets fit into shared memory

KERNEL_STRUCT(Collapse) {
    int64 strategy;
    int64 coalesced;
    int64 shared_queue;
    int64 team_primitives;
};

// A batch of nodes in a team's shared memory; arrays have TEAM_SIZE entries.
struct Batch {
    int32 *nodes;
    int64 *states;
    int64 *begins; // of their edges
    int64 *sums;   // inclusive prefix sums of the degrees
    int64 *scratch;
    int32 *large;  // members whose nodes the team processes
    int32 *medium; // members whose nodes a warp processes
    int32 *counts; // (2): the number of each

    METHOD Index degree(int member) const { return sums[member] - (member ? sums[member - 1] : 0); }
};

// The first position in [low, high) of an ascending list whose value is above k, or `high`.
template <class Values> INLINE Index first_above(const Values &values, Index low, Index high, Index k) {
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (values[middle] > k)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

INLINE void sum_degrees(const Batch &batch, bool by_shuffles) {
    if (by_shuffles) {
        Team::scan(batch.sums, batch.scratch);
        return;
    }
    for (int reach = 1; reach < TEAM_SIZE; reach *= 2) { // Hillis and Steele 1986
        Team::for_members([&](int member) {
            batch.scratch[member] = batch.sums[member] + (member >= reach ? batch.sums[member - reach] : 0);
        });
        Team::for_members([&](int member) { batch.sums[member] = batch.scratch[member]; });
    }
}

// Visits the edges of nodes, one node per member; returns the number of edges that this member examined.
template <class Body>
INLINE Index visit_edges(const Csr &graph, Body &body, const TeamQueue &queue, Index begin, Index count) {
    const int32 *const nodes = queue.frontier.nodes();
    Index looked_at = 0;
    Team::for_members([&](int member) {
        typename Body::State state;
        if (member < count && body.enter(nodes[begin + member], state)) {
            const Index u = nodes[begin + member], end = graph.end(u);
            for (Index edge = graph.begin(u); edge < end; ++edge, ++looked_at)
                body.visit(u, state, edge, queue);
        }
    });
    return looked_at;
}

template <class Body>
INLINE void load_batch(const Csr &graph, Body &body, const TeamQueue &queue, const Batch &batch, Index begin,
                       Index count) {
    const int32 *const nodes = queue.frontier.nodes();
    Team::for_members([&](int member) {
        batch.sums[member] = 0;
        typename Body::State state;
        if (member < count && body.enter(nodes[begin + member], state)) {
            const Index u = nodes[begin + member];
            batch.nodes[member] = int32(u);
            batch.states[member] = state;
            batch.begins[member] = graph.begin(u);
            batch.sums[member] = graph.degree(u);
        }
    });
}

// Visits edges by the team, a warp or a thread, depending on the degree. Here `sums` holds the degrees themselves.
template <class Body> INLINE Index visit_by_degree(Body &body, const TeamQueue &queue, const Batch &batch) {
    Index looked_at = 0;
    const auto visit = [&](int member, Index k) {
        body.visit(batch.nodes[member], typename Body::State(batch.states[member]), batch.begins[member] + k, queue);
        ++looked_at;
    };
    if (Team::leads())
        batch.counts[0] = batch.counts[1] = 0;
    Team::barrier();
    Team::for_members([&](int member) {
        if (batch.sums[member] >= TEAM_DEGREE)
            batch.large[Team::take(&batch.counts[0])] = member;
        else if (batch.sums[member] >= WARP_DEGREE)
            batch.medium[Team::take(&batch.counts[1])] = member;
    });
    for (int one = 0; one < batch.counts[0]; ++one)
        for (const Index k : Team::share({0, batch.sums[batch.large[one]]}))
            visit(batch.large[one], k);
    using Warp = VirtualWarp<WARP>;
    for (const Index one : Warp::tasks<TEAM_SIZE>(0, batch.counts[1]))
        for (const Index k : Warp::share(0, batch.sums[batch.medium[one]]))
            visit(batch.medium[one], k);
    Team::for_members([&](int member) {
        if (batch.sums[member] < WARP_DEGREE)
            for (Index k = 0; k < batch.sums[member]; ++k)
                visit(member, k);
    });
    return looked_at;
}

// Visits all edges of the batch in one loop.
template <class Body>
INLINE Index visit_collapsed(Body &body, const TeamQueue &queue, const Batch &batch, const Collapse &how) {
    sum_degrees(batch, how.team_primitives);
    Index looked_at = 0, member = -1;
    for (const Index k : Team::share_edges(batch.sums[TEAM_SIZE - 1], how.coalesced)) {
        if (member >= 0 && Team::shares_are_runs(how.coalesced))
            while (batch.sums[member] <= k)
                ++member;
        else
            member = first_above(batch.sums, 0, TEAM_SIZE - 1, k);
        const Index before = member ? batch.sums[member - 1] : 0;
        body.visit(batch.nodes[member], typename Body::State(batch.states[member]), batch.begins[member] + k - before,
                   queue);
        ++looked_at;
    }
    return looked_at;
}

// Expands one batch of the frontier by its team.
template <class Body>
INLINE Index expand_batch(Index number, const Csr &graph, Body &body, const TeamQueue &queue, const Batch &batch,
                          const Collapse &how) {
    const Index begin = number * TEAM_SIZE, left = queue.frontier.progress[FRONTIER] - begin;
    const Index count = left < TEAM_SIZE ? left : TEAM_SIZE;
    Index looked_at;
    queue.open();
    if (how.strategy == BASELINE) {
        Team::barrier();
        looked_at = visit_edges(graph, body, queue, begin, count);
    } else {
        load_batch(graph, body, queue, batch, begin, count); // ends with a barrier
        looked_at =
            how.strategy == LOCAL ? visit_collapsed(body, queue, batch, how) : visit_by_degree(body, queue, batch);
    }
    queue.flush();
    return looked_at;
}

// Prefix sums of the frontier's degrees, (FRONTIER + 1) sums of 32 or 64 bits: the position of each node's first edge
// among all edges of the frontier. A row is a node.
struct Rows {
    const int32 *sums32;
    const int64 *sums64;

    METHOD Index operator[](Index row) const { return sums32 != nullptr ? Index(sums32[row]) : sums64[row]; }
};

struct LocalRows {
    const int64 *sums; // shared
    Index first;

    METHOD Index operator[](Index row) const { return sums[row - first]; }
};

template <class Body, class Sums>
INLINE Index visit_tile(const Csr &graph, Body &body, const TeamQueue &queue, const Sums &sums, Index begin, Index end,
                        Index first, Index last, bool coalesced) {
    const int32 *const nodes = queue.frontier.nodes();
    Index looked_at = 0, row = -1;
    for (const Index k : Team::share_edges(end - begin, coalesced)) {
        if (row >= 0 && Team::shares_are_runs(coalesced))
            while (sums[row + 1] <= begin + k)
                ++row;
        else
            row = first_above(sums, first + 1, last + 1, begin + k) - 1;
        typename Body::State state;
        const Index u = nodes[row];
        if (!body.enter(u, state))
            continue;
        body.visit(u, state, graph.begin(u) + begin + k - sums[row], queue);
        ++looked_at;
    }
    return looked_at;
}

// Expands one tile of the frontier's edges by its team. `local` (TILE_ROWS + 1 sums) and `ends` (2) are in shared
// memory.
template <class Body>
INLINE Index expand_tile(Index tile, const Csr &graph, Body &body, const TeamQueue &queue, const Rows &rows,
                         int64 *local, int64 *ends, const Collapse &how) {
    const Index count = queue.frontier.progress[FRONTIER], all = rows[count];
    const Index begin = tile * TILE_EDGES, end = begin + TILE_EDGES < all ? begin + TILE_EDGES : all;
    queue.open();
    if (Team::leads()) {
        ends[0] = first_above(rows, 1, count, begin) - 1;
        ends[1] = first_above(rows, 1, count, end - 1) - 1;
    }
    Team::barrier();
    const Index first = ends[0], last = ends[1];
    Index looked_at;
    if (last - first < TILE_ROWS) {
        for (const Index row : Team::share({first, last + 2}))
            local[row - first] = rows[row];
        Team::barrier();
        looked_at = visit_tile(graph, body, queue, LocalRows{local, first}, begin, end, first, last, how.coalesced);
    } else {
        looked_at = visit_tile(graph, body, queue, rows, begin, end, first, last, how.coalesced);
    }
    queue.flush(); // ends with a barrier: all have read the ends
    return looked_at;
}
