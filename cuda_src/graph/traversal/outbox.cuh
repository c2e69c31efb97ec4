// The outbox of a team: nodes that it finds are buffered in its shared memory, and appended together to a list that all
// teams share, such as the next frontier (the shared queue of paper 004).
#pragma once

#include "graph/traversal/edges.cuh"

// Estimates the number of edges that leave nodes, from every SAMPLED-th one, because reading the rows of all nodes
// would take a considerable part of a search's time.
INLINE int64 estimated_edges(const Csr &graph, const int32 *nodes, Index count) {
    constexpr Index SAMPLED = 8, ALL = ONE_MEMBER ? 64 : TEAM_SIZE; // up to ALL nodes are not sampled
    constexpr Index MOST = 1 << 20; // limit of the degree that counts, so that sums of an outbox fit
    const Index step = count > ALL ? SAMPLED : 1;
    int64 edges = 0;
    for (Index begin = 0; begin < count; begin += OUTBOX) {
        const Index end = begin + OUTBOX < count ? begin + OUTBOX : count;
        edges += Team::sum(Piece{0, (end - begin + step - 1) / step}, [&](Index i) {
                     const Index degree = graph.degree(nodes[begin + i * step]);
                     return Sums<1>{{int32(degree < MOST ? degree : MOST)}};
                 }).of[0];
    }
    return edges * step;
}

// Buffer of the nodes that a team found, until they are appended to a list that all teams share. If `edges` is not
// null, the estimated number of edges that leave the nodes is added to it.
struct Outbox {
    Csr graph;
    int32 *found, *count; // (OUTBOX), (1): in the team's shared memory
    int32 *place;         // (1): likewise, temporary
    int32 *list, *listed;
    int64 *edges;

    METHOD void open() const {
        if (Team::leads())
            *count = 0;
        Team::barrier();
    }

    // Adds a node; called by any member at any time.
    METHOD void put(int32 node) const {
        if constexpr (ONE_MEMBER) {
            if (*count == OUTBOX)
                deliver();
            found[(*count)++] = node;
        } else {
            found[Team::take(count)] = node;
        }
    }

    // Ensures capacity for the next EDGES_PER_FLUSH_CHECK nodes; called by all members together, after a barrier.
    METHOD void flush_if_full() const {
        const bool full = *count > OUTBOX - EDGES_PER_FLUSH_CHECK;
        Team::barrier();
        if (full)
            deliver();
    }

    // Appends the buffered nodes to the list; called by all members together.
    METHOD void deliver() const {
        Team::barrier();
        if (*count == 0)
            return;
        if (Team::leads())
            *place = reserved();
        append();
    }

    // The place of the buffered nodes in the list; called by one member.
    METHOD int32 reserved() const { return *count ? atomic_add(listed, *count) : 0; }

    // Appends the buffered nodes, once the leader has set `place`.
    METHOD void append() const {
        const Index kept = *count;
        if (edges != nullptr) { // a GPU meanwhile waits for the place
            const int64 more = estimated_edges(graph, found, kept);
            if (Team::leads())
                atomic_add(edges, more);
        }
        Team::barrier();
        for (const Index i : Team::share({0, kept}))
            list[*place + i] = found[i];
        Team::barrier();
        if (Team::leads())
            *count = 0;
        Team::barrier();
    }
};

// The same for a single member, while no other team appends to the list.
struct DirectOutbox {
    Csr graph;
    int32 *list, *listed;
    int64 *edges;
    mutable int32 *end;

    METHOD void open() const { end = list + *listed; }
    METHOD void put(int32 node) const { *end++ = node; }
    METHOD void flush_if_full() const {}
    METHOD void deliver() const {
        const Index found = end - list - *listed;
        if (edges != nullptr)
            *edges += estimated_edges(graph, end - found, found);
        *listed += int32(found);
    }
};

// Makes the outbox of a team for a list, in the first or second buffer of the team's shared memory.
template <bool ALONE>
INLINE auto outbox(const Csr &graph, TeamSpace &space, bool second, int32 *list, int32 *listed, int64 *edges) {
    if constexpr (ALONE && ONE_MEMBER)
        return DirectOutbox{graph, list, listed, edges, nullptr};
    else
        return Outbox{graph,
                      second ? space.far_found : space.found,
                      second ? &space.far_count : &space.count,
                      second ? &space.far_place : &space.place,
                      list,
                      listed,
                      edges};
}

// Delivers two outboxes of a team. A GPU waits for the places of both at once.
INLINE void deliver_both(const Outbox &one, const Outbox &other) {
    Team::barrier();
    if (*one.count + *other.count == 0)
        return;
    if (Team::leads()) {
        const int32 place = one.reserved(), other_place = other.reserved();
        *one.place = place;
        *other.place = other_place;
    }
    one.append();
    other.append();
}
INLINE void deliver_both(const DirectOutbox &one, const DirectOutbox &other) {
    one.deliver();
    other.deliver();
}

template <bool ALONE> INLINE auto next_frontier(const Csr &graph, TeamSpace &space, const Traversal &frontier) {
    int32 *progress = frontier.progress;
    return outbox<ALONE>(graph, space, false, frontier.list(1 - progress[BUFFER]), progress + NEXT_LISTED,
                         frontier.totals + NEXT_EDGES);
}
