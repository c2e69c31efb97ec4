// Shortest paths with a near list and a far list (the near-far method; Davidson et al. 2014, after the delta-stepping
// of Meyer and Sanders 2003).
//
// Nodes whose distance falls below a bound are near and form the next frontier (PUSH relaxes their edges). Nodes whose
// distance falls, but not below the bound, wait in the far list. When no near nodes are left, all distances below the
// bound are final. Then the bound is raised by delta, and the far list is split by it (OTHER).
//
// A node appears at most once in the next frontier, because its epoch records the round in which it was
// added, and at most once in the far list (`is_far`). So no list has more entries than there are nodes. A node whose
// distance fell again after it was added to the far list may already have been processed as near; the split drops it.
#pragma once

#include "graph/traversal/traversal.cuh"

constexpr int64 IDLE_EDGES = 1 << 17, BUSY_EDGES = 1 << 19; // per round

// State of the rounds in addition to the graph, the distances and the frontier.
KERNEL_STRUCT(NearFar) {
    int32 *epochs; // (nodes): the round in which a node was last added to a frontier
    int32 *is_far; // (nodes)
    int32 *even_far;
    int32 *odd_far;
    int64 delta;      // for integer distances
    float64 real_delta;
    int64 widest;     // most deltas by which the bound is raised at once, if rounds leave a GPU idle
    int64 few_far;

    METHOD int32 *far(int32 side) const { return side ? odd_far : even_far; }
};

template <DistanceKind KIND> struct NearFarRounds {
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
    template <bool ALONE> METHOD bool epoch(Index node, int32 round) const {
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
    METHOD void relax(const Box &near, const Box &far, int32 round, int64 bound, Value distance,
                      Index edge) const {
        const int32 target = graph.targets[edge];
        const Value further = distances.along(distance, edge);
        if (!lower<ALONE>(target, further))
            return;
        if (further < bound) {
            if (epoch<ALONE>(target, round))
                near.put(target);
        } else if (put_off<ALONE>(target)) {
            far.put(target);
        }
    }

    // Calls follow(start, goes_on, visit, make_room), which follows edges of the frontier, and appends the nodes found
    // to the near and far lists.
    template <bool ALONE, class Follow> METHOD void relax_all(Follow follow) const {
        int32 *progress = frontier.progress;
        const int32 round = progress[ROUND];
        const int64 bound = frontier.totals[NEAR];
        const auto near = next_frontier<ALONE>(graph, *space, frontier);
        const auto far =
            outbox<ALONE>(graph, *space, true, lists.far(progress[FAR_SIDE]), progress + FAR_LISTED, nullptr);
        near.open();
        far.open();
        const int64 followed = follow(
            [&](Index node) { return start<ALONE>(node); }, [&](Value distance) { return distances.goes_on(distance); },
            [&](Value distance, Index edge) { relax<ALONE>(near, far, round, bound, distance, edge); },
            [&] {
                near.flush_if_full();
                far.flush_if_full();
            });
        near.deliver();
        far.deliver();
        FOR_LEADER
            atomic_add(frontier.totals + FOLLOWED, followed);
    }

    template <bool ALONE> METHOD void relax_nodes(Index begin, Index end) const {
        const int32 *list = frontier.list(frontier.progress[SIDE]);
        relax_all<ALONE>([&](auto start, auto goes_on, auto visit, [[maybe_unused]] auto flush_if_full) {
            if constexpr (ONE_MEMBER)
                return one_member_follows<ALONE>(graph, frontier, list, begin, end, true, start, goes_on, visit);
            else
                return team_follows<Value>(graph, frontier, list, begin, end, *space, start, goes_on, visit, flush_if_full);
        });
    }

    METHOD void tile(Index index) const {
        const Index nodes = frontier.progress[TILE_NODES], begin = index * nodes, listed = frontier.progress[LISTED];
        relax_nodes<false>(begin, begin + nodes < listed ? begin + nodes : listed);
    }

    METHOD void chunk(Index index) const {
        relax_all<false>([&](auto start, auto goes_on, auto visit, auto) {
            return follow_chunk(graph, frontier.chunks[index], start, goes_on, visit);
        });
    }

    // Splits entries begin to end - 1 of the far list by the new bound.
    METHOD void split(Index begin, Index end) const {
        int32 *progress = frontier.progress;
        int64 *totals = frontier.totals;
        const int32 side = progress[FAR_SIDE], round = progress[ROUND], *list = lists.far(side);
        const int64 done = totals[LAST_NEAR], bound = totals[NEAR];
        const auto near = next_frontier<false>(graph, *space, frontier);
        const auto far = outbox<false>(graph, *space, true, lists.far(1 - side), progress + NEXT_FAR, nullptr);
        int64 *least = &space->least;
        FOR_LEADER
            *least = distances.unreached();
        near.open();
        far.open();
        FOR_SHARE (i, begin, end) {
            if (PREFETCHES && i + 16 < end)
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
        near.deliver();
        far.deliver();
        FOR_LEADER
            if (*least < racing_load(totals + FAR_LEAST))
                atomic_min(totals + FAR_LEAST, *least);
        TEAM_BARRIER();
    }

    METHOD void first(Index) const {}

    METHOD void last(Index index) const {
        const Index listed = frontier.progress[FAR_LISTED], nodes = frontier.split_nodes(listed), begin = index * nodes;
        split(begin, begin + nodes < listed ? begin + nodes : listed);
    }

    // Processes one round by one team: the frontier, or a split if the frontier is empty.
    METHOD void few() const {
        const int32 listed = frontier.progress[LISTED], far_listed = frontier.progress[FAR_LISTED];
        if (listed == 0) {
            split(0, far_listed);
            return;
        }
        relax_nodes<true>(0, listed);
        TEAM_BARRIER();
        for (Index index = 0; index < frontier.progress[CHUNKS]; ++index)
            chunk(index);
    }

    // Ends a round and decides the next step; called by one member.
    METHOD void end() const {
        int32 *progress = frontier.progress;
        int64 *totals = frontier.totals;
        const bool raised = progress[LISTED] == 0; // the far list was split
        if (raised) {
            progress[FAR_SIDE] = 1 - progress[FAR_SIDE];
            progress[FAR_LISTED] = progress[NEXT_FAR];
            progress[NEXT_FAR] = 0;
        }
        turn_sides(progress, totals);
        ++progress[ROUND];
        const int32 listed = progress[LISTED], far_listed = progress[FAR_LISTED];
        int32 step = PUSH;
        if (listed == 0 && far_listed == 0) {
            step = DONE;
        } else if (listed == 0) {
            totals[LAST_NEAR] = totals[NEAR];
            change_width();
            // After a split that found no near nodes, the least far distance is known.
            totals[NEAR] = bound_above(raised ? totals[FAR_LEAST] : totals[NEAR]);
            totals[FAR_LEAST] = distances.unreached();
            step = far_listed <= lists.few_far ? FEW : OTHER;
        } else if (listed <= frontier.few_nodes && totals[EDGES] <= frontier.few_edges) {
            step = FEW;
        }
        const Index nodes = frontier.split_nodes(far_listed);
        enter_step(frontier, step, 0, int32((far_listed + nodes - 1) / nodes));
    }
};

template <DistanceKind KIND>
INLINE NearFarRounds<KIND> near_far_rounds_of(const Csr &graph, const Distances &distances, const Traversal &frontier,
                                              const NearFar &lists, TeamSpace *space) {
    return {graph, By<KIND>::of(distances, graph), frontier, lists, space};
}

// Calls body(rounds) for the kind of the distances.
template <class Body>
INLINE void near_far_rounds(const Csr &graph, const Distances &distances, const Traversal &frontier,
                            const NearFar &lists, TeamSpace *space, Body body) {
    switch (distances.kind) {
    case NARROW:
        return body(near_far_rounds_of<NARROW>(graph, distances, frontier, lists, space));
    case WIDE:
        return body(near_far_rounds_of<WIDE>(graph, distances, frontier, lists, space));
    case REAL:
        return body(near_far_rounds_of<REAL>(graph, distances, frontier, lists, space));
    }
}
