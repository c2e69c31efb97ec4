// Batches: the frontier is cut into TEAM_SIZE nodes per team, which visits their edges by one of three strategies.
#pragma once

#include "graph/engine/rows.cuh"

constexpr int TEAM_DEGREE = TEAM_SIZE; // least degree of nodes processed by a team
constexpr int WARP_DEGREE = 32;        // least degree of nodes processed by a warp

// Shared memory of a team for a batch: one entry per node.
template <class Reduction> struct BatchSpace {
    int32 nodes[TEAM_SIZE]; // -1 for nodes whose edges are skipped
    int64 states[TEAM_SIZE];
    int64 begins[TEAM_SIZE]; // of their edges
    int64 sums[TEAM_SIZE];   // degrees; then their inclusive prefix sums
    int64 scratch[TEAM_SIZE];
    int32 large[TEAM_SIZE];                            // members whose nodes the team processes
    int32 medium[TEAM_SIZE];                           // members whose nodes a warp processes
    int32 counts[2];                                   // the number of each
    uint64 values[Reduction::REDUCES ? TEAM_SIZE : 1]; // of their edges, combined
};

// The nodes of a batch as rows.
template <class Body> struct BatchRows {
    BatchSpace<typename Body::Reduction> &batch;
    int32 first = 0, last = TEAM_SIZE - 1;

    METHOD Index operator[](int32 member) const { return batch.sums[member]; }
    METHOD Index end(int32 member) const { return batch.sums[member]; }
    METHOD bool enter(const Body &, const Loop &, int32 member, Index &u, typename Body::State &state) const {
        u = batch.nodes[member];
        state = typename Body::State(batch.states[member]);
        return true; // a node whose edges are skipped has no positions
    }
    METHOD Index edge(const Loop &, int32 member, Index, Index k) const {
        return batch.begins[member] + k - (member ? batch.sums[member - 1] : 0);
    }
    METHOD uint64 *value(int32 member) const { return &batch.values[member]; }
};

template <class Space> INLINE void sum_degrees(Space &batch, bool by_shuffles) {
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

// BASELINE: all edges of a node by one member; returns the number of edges that this member examined.
template <class Body> INLINE Index follow_nodes(const Body &body, const Loop &loop, Piece batch) {
    const Nodes nodes = loop.frontier.nodes();
    Index examined = 0;
    for (const Index i : Team::share(batch)) {
        const Index u = nodes[i];
        typename Body::State state;
        if (!enters(body, u, state, loop))
            continue;
        const Index begin = loop.graph.begin(u), end = loop.graph.end(u);
        typename Body::Reduction::Value value = {};
        for (Index edge = begin; edge < end; ++edge)
            value = Body::Reduction::combine(value, visit(body, u, state, edge, loop));
        leaves(body, u, state, value, loop);
        examined += end - begin;
    }
    return examined;
}

template <class Body, class Space>
INLINE void load_batch(const Body &body, const Loop &loop, Space &space, Piece batch) {
    const Nodes nodes = loop.frontier.nodes();
    Team::for_members([&](int member) {
        space.nodes[member] = -1;
        space.sums[member] = 0;
        if constexpr (Body::Reduction::REDUCES)
            space.values[member] = 0;
        typename Body::State state;
        const Index i = batch.begin + member;
        if (i < batch.end && enters(body, nodes[i], state, loop)) {
            const Index u = nodes[i];
            space.nodes[member] = int32(u);
            space.states[member] = int64(state);
            space.begins[member] = loop.graph.begin(u);
            space.sums[member] = loop.graph.degree(u);
        }
    });
}

// Leaves the nodes of a loaded batch.
template <class Body, class Space> INLINE void leave_batch(const Body &body, const Loop &loop, Space &space) {
    if constexpr (Body::Reduction::REDUCES) {
        Team::barrier(); // the values are complete
        Team::for_members([&](int member) {
            if (space.nodes[member] >= 0)
                leaves(body, space.nodes[member], typename Body::State(space.states[member]), space.values[member],
                       loop);
        });
    }
}

// HIERARCHICAL: edges by the team, a warp or one member, depending on the degree. Here `sums` are the degrees
// themselves.
template <class Body, class Space>
INLINE Index follow_by_degree(const Body &body, const Loop &loop, Space &space, bool together) {
    using Reduction = typename Body::Reduction;
    Index examined = 0;
    const auto visited = [&](int member, Index k) {
        ++examined;
        return visit(body, space.nodes[member], typename Body::State(space.states[member]), space.begins[member] + k,
                     loop);
    };
    // Combines the values of all lanes of a warp, for one node.
    const auto enter_value = [&]([[maybe_unused]] int member, [[maybe_unused]] typename Reduction::Value value) {
        if constexpr (Reduction::REDUCES)
            if (!together || combine_runs(member, value, Reduction::combine))
                Reduction::into(&space.values[member], value);
    };
    if (Team::leads())
        space.counts[0] = space.counts[1] = 0;
    Team::barrier();
    Team::for_members([&](int member) {
        if (space.sums[member] >= TEAM_DEGREE)
            space.large[Team::take(&space.counts[0])] = member;
        else if (space.sums[member] >= WARP_DEGREE)
            space.medium[Team::take(&space.counts[1])] = member;
    });
    for (int one = 0; one < space.counts[0]; ++one) {
        typename Reduction::Value value = {};
        for (const Index k : Team::share({0, space.sums[space.large[one]]}))
            value = Reduction::combine(value, visited(space.large[one], k));
        enter_value(space.large[one], value);
    }
    using Warp = VirtualWarp<WARP>;
    for (const Index one : Warp::tasks<TEAM_SIZE>(0, space.counts[1])) {
        typename Reduction::Value value = {};
        for (const Index k : Warp::share(0, space.sums[space.medium[one]]))
            value = Reduction::combine(value, visited(space.medium[one], k));
        enter_value(space.medium[one], value);
    }
    Team::for_members([&](int member) {
        if (space.sums[member] >= WARP_DEGREE)
            return;
        typename Reduction::Value value = {};
        for (Index k = 0; k < space.sums[member]; ++k)
            value = Reduction::combine(value, visited(member, k));
        if constexpr (Reduction::REDUCES)
            space.values[member] = value;
    });
    return examined;
}

// Expands one batch of the frontier by its team. On a CPU a team is one member, for which the strategies are the same.
template <class Body, class Space>
INLINE Index expand_batch(Index number, const Body &body, const Loop &loop, Space &space, const Collapse &how) {
    const Index begin = number * TEAM_SIZE, count = loop.frontier.progress[FRONTIER];
    const Piece batch{begin, begin + TEAM_SIZE < count ? begin + TEAM_SIZE : count};
    Index examined;
    loop.open();
    if (ONE_MEMBER || how.strategy == BASELINE) {
        Team::barrier();
        examined = follow_nodes(body, loop, batch);
    } else {
        load_batch(body, loop, space, batch); // ends with a barrier
        if (how.strategy == HIERARCHICAL) {
            examined = follow_by_degree(body, loop, space, how.team_primitives);
        } else { // LOCAL, or a round that one team follows alone
            sum_degrees(space, how.team_primitives);
            examined = follow_rows(body, loop, BatchRows<Body>{space}, {0, space.sums[TEAM_SIZE - 1]}, how);
        }
        leave_batch(body, loop, space);
    }
    loop.flush();
    return examined;
}
