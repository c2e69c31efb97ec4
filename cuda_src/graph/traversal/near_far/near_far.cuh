// Shortest paths with a near list and a far list (the near-far method; Davidson et al. 2014, after the delta-stepping
// of Meyer and Sanders 2003).
//
// Nodes whose distance falls below a bound are near and form the next frontier; a push relaxes their edges. Nodes whose
// distance falls, but not below the bound, wait in the far list. When no near nodes are left, all distances below the
// bound are final. Then the bound is raised by delta, and the far list is split by it.
//
// A node appears at most once in the next frontier, because its epoch records the round in which it was added, and at
// most once in the far list (`is_far`). So no list has more entries than there are nodes. A node whose distance fell
// again after it was added to the far list may already have been processed as near; the split drops it.
//
// Departure from Davidson et al.: on a GPU, the bound is raised by several deltas if rounds have too little work
// (`change_width`). nvcc compiles these kernels slowly, and so each kind of distance has its own file.
#pragma once

#include "graph/traversal/distances.cuh"
#include "graph/traversal/rounds.cuh"

constexpr int64 IDLE_EDGES = 1 << 17, BUSY_EDGES = 1 << 19; // per round

// State of the rounds in addition to the graph, the distances and the frontier.
KERNEL_STRUCT(NearFar) {
    int32 *epochs;    // (nodes): the round in which a node was last added to a frontier
    int32 *is_far;    // (nodes)
    int32 *far_list0; // a double buffer of the far list
    int32 *far_list1;
    int64 delta; // for integer distances
    float64 real_delta;
    int64 widest;           // most deltas by which the bound is raised at once, if rounds leave a GPU idle
    int64 single_block_far; // longest far list that one team splits alone

    METHOD int32 *far(int32 buffer) const { return buffer ? far_list1 : far_list0; }
};

template <DistanceKind KIND> struct NearFarSearch {
    static constexpr Entry SPLIT = OTHER;

    using Value = typename By<KIND>::Value;

    Csr graph;
    By<KIND> distances;
    Traversal frontier;
    NearFar lists;
    TeamSpace *space;

    // A bound WIDTH deltas above a distance, strictly above it if possible, and at most the largest representable one.
    METHOD int64 bound_above(int64 distance) const {
        const int64 most = distances.unreached(), width = frontier.totals[WIDTH];
        if constexpr (KIND == REAL) {
            const int64 bound = int64(bits_of(float64_of(distance) + lists.real_delta * float64(width)));
            return bound > distance ? bound : distance + (distance < most);
        }
        const int64 step = lists.delta < most / width ? lists.delta * width : most;
        return distance < most - step ? distance + step : most;
    }

    // Adapts the number of deltas by which the bound is raised next. If the rounds since the last increase had too few
    // edges to keep a GPU busy, it doubles, for fewer rounds. If they had many, it halves, so that fewer edges are
    // relaxed in vain.
    METHOD void change_width() const {
        int64 *totals = frontier.totals, round = frontier.progress[ROUND];
        const int64 rounds = round - totals[BAND_ROUND], edges = totals[FOLLOWED] - totals[BAND_FOLLOWED];
        if (edges < IDLE_EDGES * rounds)
            totals[WIDTH] = 2 * totals[WIDTH] < lists.widest ? 2 * totals[WIDTH] : lists.widest;
        else if (edges > BUSY_EDGES * rounds && totals[WIDTH] > 1)
            totals[WIDTH] /= 2;
        totals[BAND_ROUND] = round;
        totals[BAND_FOLLOWED] = totals[FOLLOWED];
    }

    // Sets the epoch of a node; returns whether the caller must add the node to the next frontier, because no other
    // thread has done so in this round.
    template <bool ALONE> METHOD bool set_epoch(Index node, int32 round) const {
        if constexpr (ALONE && ONE_MEMBER) {
            // A node of this round's frontier was added in the previous round; its epoch is reset when it is processed.
            if (lists.epochs[node] >= round - 1)
                return false;
            racing_store(lists.epochs + node, round);
            return true;
        }
        // On a GPU, skipping the load saves one memory latency; on a CPU, the load saves most atomic writes.
        return (!ONE_MEMBER || racing_load(lists.epochs + node) < round) &&
               atomic_max(lists.epochs + node, round) < round;
    }

    // Marks a node as far; returns whether the caller must add it to the far list.
    template <bool ALONE> METHOD bool put_off(Index node) const {
        if constexpr (ALONE && ONE_MEMBER) {
            const bool first = !lists.is_far[node];
            lists.is_far[node] = 1;
            return first;
        }
        return (!ONE_MEMBER || !racing_load(lists.is_far + node)) && !atomic_max(lists.is_far + node, 1);
    }

    template <bool ALONE> METHOD bool lower(Index node, Value distance) const {
        if constexpr (ALONE && ONE_MEMBER)
            return distances.lower_racing(node, distance);
        return distances.lower(node, distance);
    }

    template <bool ALONE> METHOD Value start(Index node) const {
        if constexpr (ALONE && ONE_MEMBER)
            racing_store(lists.epochs + node, 0);
        return distances.at(node);
    }

    template <bool ALONE, class Box>
    METHOD void relax(const Box &near, const Box &far, int32 round, int64 bound, Value distance, Index edge) const {
        const int32 target = graph.targets[edge];
        const Value further = distances.along(distance, edge);
        if (!lower<ALONE>(target, further))
            return;
        if (further < bound) {
            if (set_epoch<ALONE>(target, round))
                near.put(target);
        } else if (put_off<ALONE>(target)) {
            far.put(target);
        }
    }

    // The same for the edges of a GPU's member, which waits for all of them at each step. A cached distance may be too
    // high, as may any that is loaded before it is lowered: what decides is the one that the atomic minimum replaces.
    template <bool ALONE, class Box>
    METHOD void relax(const Box &near, const Box &far, int32 round, int64 bound, const EdgeGroup<Value> &group) const {
        constexpr int N = SIDE_BY_SIDE;
        int32 targets[N];
        Value further[N], before[N];
        for (int n = 0; n < N; ++n) {
            targets[n] = group.edges[n] >= 0 ? graph.targets[group.edges[n]] : -1;
            further[n] = group.edges[n] >= 0 ? distances.length(group.edges[n]) : 0;
        }
        for (int n = 0; n < N; ++n) {
            further[n] = distances.sum(group.values[n], further[n]);
            before[n] = targets[n] >= 0 && further[n] <= distances.limit ? cached_load(distances.values + targets[n])
                                                                         : further[n];
        }
        for (int n = 0; n < N; ++n)
            if (further[n] < before[n])
                before[n] = atomic_min(distances.values + targets[n], further[n]);
        int32 marks[N], seen[N];
        for (int n = 0; n < N; ++n) {
            const bool is_near = further[n] < bound;
            marks[n] = is_near ? round : 1;
            seen[n] = marks[n];
            if (further[n] < before[n]) // as set_epoch and put_off
                seen[n] = atomic_max((is_near ? lists.epochs : lists.is_far) + targets[n], marks[n]);
        }
        for (int n = 0; n < N; ++n)
            if (seen[n] < marks[n])
                (further[n] < bound ? near : far).put(targets[n]);
    }

    // Calls follow(search, start, goes_on, visit, flush_if_full), which follows edges of the frontier, and appends the
    // nodes found to the near and far lists. `search` is a copy of this object, so that g++ keeps its members in
    // registers: it would read those of *this again after every atomic operation.
    template <bool ALONE, class Follow> METHOD void relax_all(Follow follow) const {
        const NearFarSearch search = *this;
        int32 *progress = frontier.progress;
        const int32 round = progress[ROUND];
        const int64 bound = frontier.totals[NEAR];
        const auto near = next_frontier<ALONE>(graph, *space, frontier);
        const auto far =
            outbox<ALONE>(graph, *space, true, lists.far(progress[FAR_BUFFER]), progress + FAR_LISTED, nullptr);
        near.open();
        far.open();
        const int64 followed = follow(
            search, [&](Index node) { return search.template start<ALONE>(node); },
            [&](Value distance) { return search.distances.goes_on(distance); },
            [&](const auto &...edges) { search.template relax<ALONE>(near, far, round, bound, edges...); },
            [&] {
                near.flush_if_full();
                far.flush_if_full();
            });
        deliver_both(near, far);
        if (Team::leads())
            atomic_add(frontier.totals + FOLLOWED, followed);
    }

    template <bool ALONE> METHOD void relax_nodes(Piece nodes) const {
        const int32 *list = frontier.list(frontier.progress[BUFFER]);
        [[maybe_unused]] const Index listed = frontier.progress[LISTED];
        relax_all<ALONE>(
            [=](const auto &search, auto start, auto goes_on, auto visit, [[maybe_unused]] auto flush_if_full) {
                if constexpr (ONE_MEMBER)
                    return one_member_follows<ALONE>(search.graph, search.frontier, list, nodes.begin, nodes.end,
                                                     listed, true, start, goes_on, visit);
                else
                    return team_follows<Value>(search.graph, search.frontier, list, nodes.begin, nodes.end,
                                               *search.space, start, goes_on, visit, flush_if_full);
            });
    }

    METHOD void relax_chunk(Index index) const {
        relax_all<false>([=](const auto &search, auto start, auto goes_on, auto visit, auto) {
            return follow_chunk(search.graph, search.frontier.chunks[index], start, goes_on, visit);
        });
    }

    // Splits a tile of the far list, of `listed` nodes, by the new bound.
    METHOD void split(Piece tile, Index listed) const {
        int32 *progress = frontier.progress;
        int64 *totals = frontier.totals;
        const int32 buffer = progress[FAR_BUFFER], round = progress[ROUND], *list = lists.far(buffer);
        const int64 done = totals[LAST_NEAR], bound = totals[NEAR];
        const auto near = next_frontier<false>(graph, *space, frontier);
        const auto far = outbox<false>(graph, *space, true, lists.far(1 - buffer), progress + NEXT_FAR, nullptr);
        int64 *least = &space->least;
        if (Team::leads())
            *least = distances.unreached();
        near.open();
        far.open();
        for (const Index i : Team::share({tile.begin, tile.end})) {
            if (PREFETCHES && i + 16 < listed)
                prefetch(distances.values + list[i + 16]);
            const int32 node = list[i];
            const int64 distance = distances.at(node);
            if (distance >= bound) {
                far.put(node);
                if (distance < racing_load(least))
                    atomic_min(least, distance);
                continue;
            }
            lists.is_far[node] = 0;
            if (distance >= done) {
                lists.epochs[node] = round; // the far list has the node only once
                near.put(node);
            }
        }
        deliver_both(near, far);
        if (Team::leads())
            if (*least < racing_load(totals + FAR_LEAST))
                atomic_min(totals + FAR_LEAST, *least);
        Team::barrier();
    }

    // Relaxes the edges of a tile. Part of a launch may be done alone, and the rest together with other threads: the
    // latter find nodes of the frontier with the epoch of its round, or 0, and add either again if they lower them.
    template <class Group> METHOD void relax_tile(Piece nodes) const {
        if constexpr (ONE_MEMBER && !Group::ALONE)
            if (works_alone())
                return relax_nodes<true>(nodes);
        relax_nodes<Group::ALONE>(nodes);
    }

    // The passes of a round: a push of the frontier, or a split if the frontier is empty.
    template <class Group> METHOD void round(const Group &group) const {
        const int32 *progress = frontier.progress;
        group.pass(TILES,
                   [&](Index index) { relax_tile<Group>(group.tile(index, progress[TILE_NODES], progress[LISTED])); });
        group.pass(CHUNKS, [&](Index index) { relax_chunk(index); });
        group.pass(SPLIT, [&](Index index) {
            const Index listed = progress[FAR_LISTED];
            split(group.tile(index, frontier.split_nodes(listed), listed), listed);
        });
    }

    // Ends a round and decides the next one; called by one member.
    METHOD void end() const {
        int32 *progress = frontier.progress;
        int64 *totals = frontier.totals;
        const bool raised = progress[LISTED] == 0; // the far list was split
        if (raised) {
            progress[FAR_BUFFER] = 1 - progress[FAR_BUFFER];
            progress[FAR_LISTED] = progress[NEXT_FAR];
            progress[NEXT_FAR] = 0;
        }
        swap_frontiers(progress, totals);
        ++progress[ROUND];
        const int32 listed = progress[LISTED], far_listed = progress[FAR_LISTED];
        int32 pass = TILES;
        if (listed == 0 && far_listed == 0) {
            pass = DONE;
        } else if (listed == 0) {
            totals[LAST_NEAR] = totals[NEAR];
            change_width();
            // After a split that found no near nodes, the least far distance is known.
            totals[NEAR] = bound_above(raised ? totals[FAR_LEAST] : totals[NEAR]);
            totals[FAR_LEAST] = distances.unreached();
            pass = far_listed <= lists.single_block_far ? ALONE : SPLIT;
        } else if (frontier.fits_single_block(listed, totals[EDGES])) {
            pass = ALONE;
        }
        const Index nodes = frontier.split_nodes(far_listed);
        begin_round(frontier, pass, 0, int32((far_listed + nodes - 1) / nodes));
    }
};

template <DistanceKind KIND>
INLINE NearFarSearch<KIND> near_far_search(const Csr &graph, const Distances &distances, const Traversal &frontier,
                                           const NearFar &lists, TeamSpace *space) {
    return {graph, By<KIND>::of(distances, graph), frontier, lists, space};
}

// Calls body(search) for the kind of the distances.
template <class Body>
INLINE void near_far_by_kind(const Csr &graph, const Distances &distances, const Traversal &frontier,
                             const NearFar &lists, TeamSpace *space, Body body) {
    switch (distances.kind) {
    case NARROW:
        return body(near_far_search<NARROW>(graph, distances, frontier, lists, space));
    case WIDE:
        return body(near_far_search<WIDE>(graph, distances, frontier, lists, space));
    case REAL:
        return body(near_far_search<REAL>(graph, distances, frontier, lists, space));
    }
}
