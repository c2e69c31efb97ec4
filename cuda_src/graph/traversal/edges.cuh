// Even distribution of a frontier's edges over the members of a team, and prefetching on a CPU.
//
// A frontier is processed in tiles of up to TILE nodes. The more edges the nodes have, the smaller the tiles, so that
// all teams have work (Traversal::tile_nodes). Within a tile the nodes' edges are concatenated and distributed evenly
// (the local Manhattan collapse of paper 004). A node with more than CHUNK edges is cut into chunks, one team each (the
// node splitting of the thesis, section 4.2, for one round). So neither a team nor a thread waits for a long row. On a
// CPU a team is one thread, which processes the nodes sequentially and prefetches data of later nodes.
#pragma once

#include "graph/traversal/control.cuh"

// Appends the chunks of a node to the list of chunks.
INLINE void enter_chunks(const Traversal &frontier, Index node, Index degree) {
    const int32 count = int32((degree + CHUNK - 1) / CHUNK), place = atomic_add(frontier.progress + CHUNKS, count);
    for (int32 k = 0; k < count; ++k)
        frontier.chunks[place + k] = int64(node) << 32 | k;
}

// Calls visit(start(node), edge) for the edges of the nodes begin to end - 1 of a list, if goes_on(start(node)), and
// returns the number of these edges. A node with more than CHUNK edges is cut into chunks, unless the member is ALONE.
// The list has `listed` nodes: those of the next tile are prefetched, too.
template <bool ALONE, class Start, class GoesOn, class Visit>
INLINE int64 one_member_follows(const Csr &graph, const Traversal &frontier, const int32 *list, Index begin, Index end,
                                Index listed, bool weighted, Start start, GoesOn goes_on, Visit visit) {
    constexpr Index ROW_AHEAD = 24, EDGES_AHEAD = 12; // nodes; prefetching what a visit reads gains nothing
    constexpr Index NODES_AT_ONCE = 1 << 12;          // nodes between two STOP_POINTs
    const bool narrow = graph.offsets32 != nullptr;
    const auto *weights = !weighted                    ? nullptr
                          : graph.weights32 != nullptr ? reinterpret_cast<const char *>(graph.weights32)
                          : graph.weights64 != nullptr ? reinterpret_cast<const char *>(graph.weights64)
                                                       : reinterpret_cast<const char *>(graph.real_weights);
    const Index weight_size = graph.weights32 != nullptr ? sizeof(int32) : sizeof(int64);
    int64 followed = 0;
    for (Index i = begin; i < end; ++i) {
        if ((i - begin) % NODES_AT_ONCE == NODES_AT_ONCE - 1)
            STOP_POINT();
        // Inlined by hand: g++ treats a function that only prefetches as pure, and removes its calls.
        if (i + ROW_AHEAD < listed) {
            const Index node = list[i + ROW_AHEAD];
            prefetch(narrow ? static_cast<const void *>(graph.offsets32 + node) : graph.offsets64 + node);
        }
        if (i + EDGES_AHEAD < listed) {
            const Index edge = graph.begin(list[i + EDGES_AHEAD]);
            prefetch(graph.targets + edge);
            if (weights != nullptr)
                prefetch(weights + edge * weight_size);
        }
        const Index node = list[i], first = graph.begin(node), last = graph.end(node);
        if (!ALONE && last - first > CHUNK) {
            enter_chunks(frontier, node, last - first);
            continue;
        }
        const auto value = start(node);
        if (!goes_on(value))
            continue;
        followed += last - first;
        for (Index edge = first; edge < last; ++edge)
            visit(value, edge);
    }
    return followed;
}

// Edges that a member of a GPU's team follows together: it waits once for the targets of all of them, and so on.
template <class Value> struct EdgeGroup {
    Value values[SIDE_BY_SIDE]; // start(node), for the nodes that the edges leave
    Index edges[SIDE_BY_SIDE];  // -1: there is no edge
};

constexpr int EDGES_PER_FLUSH_CHECK =
    SIDE_BY_SIDE * TEAM_SIZE; // edges that a team follows between checks of its outbox

// The same by a team. visit(group) gets an EdgeGroup; flush_if_full() is called after every EDGES_PER_FLUSH_CHECK
// edges.
template <class Value, class Start, class GoesOn, class Visit, class FlushIfFull>
INLINE int64 team_follows(const Csr &graph, const Traversal &frontier, const int32 *list, Index begin, Index end,
                          TeamSpace &space, Start start, GoesOn goes_on, Visit visit, FlushIfFull flush_if_full) {
    int32 *places = space.places;
    int64 followed = 0;
    for (Index tile = begin; tile < end; tile += TILE) {
        const Index count = tile + TILE < end ? TILE : end - tile;
        const Sums<1> edges = Team::in_order(
            {0, count}, Sums<1>{},
            [&](Index i) { // a GPU waits for the row and the start at once
                const Index node = list[tile + i], first = graph.begin(node), degree = graph.end(node) - first;
                space.firsts[i] = first;
                space.values[i] = start(node);
                if (degree > CHUNK)
                    enter_chunks(frontier, node, degree);
                return Sums<1>{{degree > CHUNK ? 0 : int32(degree)}};
            },
            [&](Index i, const Sums<1> &before) { places[i] = before.of[0]; });
        Team::barrier();
        int32 longest_step = 1;
        while (2 * longest_step < count)
            longest_step *= 2;
        const int32 all = edges.of[0];
        for (int32 some = 0; some < all; some += EDGES_PER_FLUSH_CHECK) {
            Team::for_members([&](int member) {
                EdgeGroup<Value> group;
                const int32 k = some + member;
                int32 node[SIDE_BY_SIDE] = {}; // becomes the last one whose edges begin at or before k + n * TEAM_SIZE
                for (int32 step = longest_step; step > 0; step /= 2)
                    for (int n = 0; n < SIDE_BY_SIDE; ++n) {
                        const int32 later = node[n] + step;
                        if (later < count && places[later] <= k + n * TEAM_SIZE)
                            node[n] = later;
                    }
                for (int n = 0; n < SIDE_BY_SIDE; ++n) {
                    const int32 place = k + n * TEAM_SIZE - places[node[n]];
                    group.values[n] = Value(space.values[node[n]]);
                    group.edges[n] =
                        k + n * TEAM_SIZE < all && goes_on(group.values[n]) ? space.firsts[node[n]] + place : -1;
                }
                visit(group);
            });
            flush_if_full();
        }
        followed += all;
    }
    return followed;
}

// The same for a chunk of a node's edges. A CPU calls visit(value, edge).
template <class Start, class GoesOn, class Visit>
INLINE int64 follow_chunk(const Csr &graph, int64 chunk, Start start, GoesOn goes_on, Visit visit) {
    const Index node = chunk >> 32, first = graph.begin(node) + (chunk & 0x7fffffff) * CHUNK, all = graph.end(node);
    const Index last = first + CHUNK < all ? first + CHUNK : all;
    const auto value = start(node);
    if (!goes_on(value))
        return last - first;
    if constexpr (ONE_MEMBER) {
        for (Index edge = first; edge < last; ++edge)
            visit(value, edge);
    } else {
        for (Index some = first; some < last; some += EDGES_PER_FLUSH_CHECK)
            Team::for_members([&](int member) {
                EdgeGroup<std::remove_const_t<decltype(value)>> group;
                for (int n = 0; n < SIDE_BY_SIDE; ++n) {
                    const Index edge = some + n * TEAM_SIZE + member;
                    group.values[n] = value;
                    group.edges[n] = edge < last ? edge : -1;
                }
                visit(group);
            });
    }
    return last - first;
}
