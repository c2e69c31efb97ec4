// The tri-nested loop of graph algorithms, and ways to collapse it (Slota, Rajamanickam, Madduri: High Performance
// Graph Analytics on Manycore Processors, 2015; lecture, "Abstracting graph algorithms"):
//
//     for each round i
//         for each node u of the queue S_i                    \  one of the expansions here
//             for each edge of u, to v: visit, maybe push v   /
//
// What is done at a node and at an edge is the caller's Body:
//
//     State                              what an edge needs of the node that it leaves
//     bool enter(u, State &)             reads it; false where the edges of u need not be looked at
//     void visit(u, state, edge, queue)  may push a node to S_i+1
//
// BASELINE gives a thread the edges of a node. HIERARCHICAL gives nodes of many edges to the whole team, others to a
// warp, the rest to a thread each. LOCAL ("Manhattan collapse") makes one loop out of those over a batch of nodes and
// their edges: prefix sums of the degrees in shared memory, and a search there for the node of each edge. The global
// collapse does so for the whole frontier: every team has as many edges as any other.
//
// Three options were added one after the other in the paper: coalesced (members read neighbouring edges), a shared
// queue (frontier.cuh), team primitives (sums by shuffles; lanes that take places together).
#pragma once

#include "csr.cuh"
#include "frontier.cuh"

enum Strategy : int64 { BASELINE, HIERARCHICAL, LOCAL }; // Strategy of static_graph/schemes/collapse.py

constexpr int TEAM_DEGREE = TEAM_SIZE;    // nodes of so many edges are a team's work
constexpr int WARP_DEGREE = 32;           // and of so many, a warp's
constexpr int TILE_EDGES = 8 * TEAM_SIZE; // of a team in the global collapse (static_graph/schemes/collapse.py)
constexpr int TILE_ROWS = 1024;           // nodes of a tile whose places fit into shared memory

KERNEL_STRUCT(Collapse) {
    int64 strategy;
    int64 coalesced;
    int64 shared_queue;
    int64 team_primitives;
};

// A batch of nodes in a team's shared memory, TEAM_SIZE of each.
struct Batch {
    int32 *nodes;
    int64 *states;
    int64 *begins;  // of their edges
    int64 *sums;    // of the degrees, up to each node's own
    int64 *scratch;
    int32 *large;   // members whose nodes a team takes
    int32 *medium;  // or a warp
    int32 *counts;  // (2) of both

    METHOD Index degree(int member) const { return sums[member] - (member ? sums[member - 1] : 0); }
};

// The first place from `low` on whose value, of an ascending list, is above k; there is one before `high`, or it is
// that.
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
        team_sums_by_shuffles(batch.sums, batch.scratch);
        return;
    }
    for (int reach = 1; reach < TEAM_SIZE; reach *= 2) { // Hillis and Steele 1986
        FOR_MEMBERS (member)
            batch.scratch[member] = batch.sums[member] + (member >= reach ? batch.sums[member - reach] : 0);
        FOR_MEMBERS (member)
            batch.sums[member] = batch.scratch[member];
    }
}

// How many edges were looked at, by this member.
template <class Body>
INLINE Index visit_edges(const Csr &graph, Body &body, const TeamQueue &queue, Index begin, Index count) {
    const int32 *const nodes = queue.frontier.nodes();
    Index looked_at = 0;
    FOR_MEMBERS (member) {
        typename Body::State state;
        if (member < count && body.enter(nodes[begin + member], state)) {
            const Index u = nodes[begin + member], end = graph.end(u);
            for (Index edge = graph.begin(u); edge < end; ++edge, ++looked_at)
                body.visit(u, state, edge, queue);
        }
    }
    return looked_at;
}

template <class Body>
INLINE void load_batch(const Csr &graph, Body &body, const TeamQueue &queue, const Batch &batch, Index begin,
                       Index count) {
    const int32 *const nodes = queue.frontier.nodes();
    FOR_MEMBERS (member) {
        batch.sums[member] = 0;
        typename Body::State state;
        if (member < count && body.enter(nodes[begin + member], state)) {
            const Index u = nodes[begin + member];
            batch.nodes[member] = int32(u);
            batch.states[member] = state;
            batch.begins[member] = graph.begin(u);
            batch.sums[member] = graph.degree(u);
        }
    }
}

// By the team, a warp or a thread, as the degree asks. `sums` are the degrees themselves here.
template <class Body> INLINE Index visit_by_degree(Body &body, const TeamQueue &queue, const Batch &batch) {
    Index looked_at = 0;
    const auto visit = [&](int member, Index k) {
        body.visit(batch.nodes[member], typename Body::State(batch.states[member]), batch.begins[member] + k, queue);
        ++looked_at;
    };
    FOR_LEADER
        batch.counts[0] = batch.counts[1] = 0;
    TEAM_BARRIER();
    FOR_MEMBERS (member) {
        if (batch.sums[member] >= TEAM_DEGREE)
            batch.large[team_take(&batch.counts[0])] = member;
        else if (batch.sums[member] >= WARP_DEGREE)
            batch.medium[team_take(&batch.counts[1])] = member;
    }
    for (int one = 0; one < batch.counts[0]; ++one)
        FOR_SHARE (k, 0, batch.sums[batch.large[one]])
            visit(batch.large[one], k);
    FOR_TASKS (WARP, TEAM_SIZE, one, 0, batch.counts[1])
        FOR_LANES (WARP, k, 0, batch.sums[batch.medium[one]])
            visit(batch.medium[one], k);
    FOR_MEMBERS (member)
        if (batch.sums[member] < WARP_DEGREE)
            for (Index k = 0; k < batch.sums[member]; ++k)
                visit(member, k);
    return looked_at;
}

// All edges of the batch in one loop.
template <class Body>
INLINE Index visit_collapsed(Body &body, const TeamQueue &queue, const Batch &batch, const Collapse &how) {
    sum_degrees(batch, how.team_primitives);
    Index looked_at = 0, member = -1;
    FOR_EDGE_SHARE (k, batch.sums[TEAM_SIZE - 1], how.coalesced) {
        if (member >= 0 && STEPS_BY_ONE(how.coalesced))
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

// One batch of the frontier, by its team.
template <class Body>
INLINE Index expand_batch(Index number, const Csr &graph, Body &body, const TeamQueue &queue, const Batch &batch,
                          const Collapse &how) {
    const Index begin = number * TEAM_SIZE, left = queue.frontier.progress[FRONTIER] - begin;
    const Index count = left < TEAM_SIZE ? left : TEAM_SIZE;
    Index looked_at;
    queue.open();
    if (how.strategy == BASELINE) {
        TEAM_BARRIER();
        looked_at = visit_edges(graph, body, queue, begin, count);
    } else {
        load_batch(graph, body, queue, batch, begin, count); // ends with a barrier
        looked_at =
            how.strategy == LOCAL ? visit_collapsed(body, queue, batch, how) : visit_by_degree(body, queue, batch);
    }
    queue.flush();
    return looked_at;
}

// Where the edges of each node of the frontier begin among all edges of the frontier: (FRONTIER + 1) sums, of 32 or 64
// bits. A row of it is a node.
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
    FOR_EDGE_SHARE (k, end - begin, coalesced) {
        if (row >= 0 && STEPS_BY_ONE(coalesced))
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

// One tile of the frontier's edges, by its team. `local` has room for TILE_ROWS + 1 sums, shared; `ends` for 2.
template <class Body>
INLINE Index expand_tile(Index tile, const Csr &graph, Body &body, const TeamQueue &queue, const Rows &rows,
                         int64 *local, int64 *ends, const Collapse &how) {
    const Index count = queue.frontier.progress[FRONTIER], all = rows[count];
    const Index begin = tile * TILE_EDGES, end = begin + TILE_EDGES < all ? begin + TILE_EDGES : all;
    queue.open();
    FOR_LEADER {
        ends[0] = first_above(rows, 1, count, begin) - 1;
        ends[1] = first_above(rows, 1, count, end - 1) - 1;
    }
    TEAM_BARRIER();
    const Index first = ends[0], last = ends[1];
    Index looked_at;
    if (last - first < TILE_ROWS) {
        FOR_SHARE (row, first, last + 2)
            local[row - first] = rows[row];
        TEAM_BARRIER();
        looked_at = visit_tile(graph, body, queue, LocalRows{local, first}, begin, end, first, last, how.coalesced);
    } else {
        looked_at = visit_tile(graph, body, queue, rows, begin, end, first, last, how.coalesced);
    }
    queue.flush(); // ends with a barrier: all have read the ends
    return looked_at;
}
