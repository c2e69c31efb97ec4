// Frontier traversals, in which a frontier is the list of nodes whose edges are followed next. Shared by breadth-first
// search (breadth_first.cu) and shortest paths (near_far.cuh).
//
// A frontier is processed in tiles of up to TILE nodes. The more edges the nodes have, the smaller the tiles, so that
// all teams have work (`tile_nodes`). Within a tile the nodes' edges are concatenated and distributed evenly (the local
// Manhattan collapse of paper 004). A node with more than CHUNK edges is cut into chunks, one team each (the node
// splitting of the thesis, section 4.2, for one round). So neither a team nor a thread waits for a long row. On a CPU a
// team is one thread, which processes the nodes sequentially and prefetches data of later nodes.
//
// The control state is in `progress` and `totals`. One member of one team decides the next round, and enters its
// ranges. Kernels launched one by one use the ranges as launch sizes (on the CPU, Device.loop repeats these launches);
// the teams of a single launch read them at its barriers (on the GPU, `traverse`). For a frontier with few edges it
// does not pay to involve the other teams: one team alone processes such rounds one after another (FEW).
#pragma once

#include "graph/traversal/distances.cuh"
#include "portable/grid.cuh"

constexpr int TILE = TEAM_SIZE;                      // most nodes (TILE of static_graph/traversal/frontiers/workspace.py)
constexpr int64 BUSY = TEAM_SIZE, FULL = 4 * TEAM_SIZE; // edges per tile: lower limit of shrinking, and upper limit
constexpr int CHUNK = ONE_MEMBER ? 16384 : 2048;     // edges
constexpr int OUTBOX = 2048;                         // nodes that a team buffers before it appends them to a list
constexpr Index EDGES_PER_FLUSH_CHECK = 1024;             // edges that a team follows between checks of its outbox
constexpr int64 FEW_AT_ONCE = 1 << 24;               // edges of FEW rounds per launch
constexpr int32 ROUNDS_AT_ONCE = 64;                 // FEW rounds between two STOP_POINTs
constexpr int32 MOST_FEW_ROUNDS = 1 << 12;           // most FEW rounds per launch, to stay within a SLICE

// (Entry of static_graph/traversal/frontiers/workspace.py)
enum Entry : int32 {
    STEP,        // the next step
    ROUND,       // the number of the round; in breadth-first search the distance of the frontier
    SIDE,        // which list of the double buffer is the frontier; the other one is the next frontier
    LISTED,      // number of nodes in the frontier
    NEXT_LISTED, // current number of nodes in the next frontier
    FAR_SIDE,    // the same for the far lists (near_far.cuh)
    FAR_LISTED,
    NEXT_FAR,
    TILE_NODES,  // nodes per tile, except the last one
    FEW_TEAMS,   // the ranges: one team, or none
    FIRST_TEAMS, // of a pass that must precede the others
    TILE_TEAMS,
    LAST_TEAMS,
    CHUNKS,      // chunks that tiles have cut off, one team each
    ENDS,        // 1: the round must be ended
    LAUNCHES,    // number of non-empty launches, if rounds are launched one by one
    STOP,
    ENTRIES
};

enum Step : int32 { DONE, FEW, PUSH, OTHER, CUT }; // CUT: chunks are left, if one launch does all rounds

// (Total of static_graph/traversal/frontiers/workspace.py)
enum Total : int32 {
    EDGES,      // estimated number of edges that leave the frontier
    NEXT_EDGES,
    FOLLOWED,   // number of edges examined
    UNSEEN,     // number of unreached nodes (breadth_first.cu)
    UNSEEN_EDGES, // estimated number of edges that leave them
    NEAR,       // distances below this are near (near_far.cuh)
    LAST_NEAR,  // distances below this are final
    FAR_LEAST,  // the least far distance
    WIDTH,      // number of deltas by which the bound was last raised
    BAND_ROUND, // the round of that increase, and FOLLOWED at that time
    BAND_FOLLOWED,
    ALL_ROUNDS, // at the end: ROUND and LAUNCHES of `progress`, so that one download gets everything
    ALL_LAUNCHES,
    SLICE_BEGUN, // when a launch of all rounds began, in nanoseconds; otherwise 0
    PAUSED,     // the step before which such a launch ended because its SLICE was over; otherwise 0. The host sets STEP
                // to it, and launches again
    TOTALS
};

KERNEL_STRUCT(Traversal) {
    int32 *even;
    int32 *odd;
    int64 *chunks;
    int32 *progress;
    int64 *totals;
    int32 *meeting; // (2), initially zero: for grid_barrier_with
    int64 teams;    // approximate number of concurrent teams
    int64 few_nodes;
    int64 few_edges;

    METHOD int32 *list(int32 side) const { return side ? odd : even; }

    // Nodes per tile of the far list in a split (near_far.cuh); they fit in an OUTBOX.
    METHOD Index split_nodes(Index listed) const {
        const Index even = (listed + teams - 1) / teams;
        return ONE_MEMBER || even < TILE ? TILE : even < OUTBOX ? even : OUTBOX;
    }

    // Nodes per tile of a frontier with `listed` nodes and `edges` edges.
    METHOD int32 tile_nodes(int64 listed, int64 edges) const {
        if (ONE_MEMBER || edges <= 0)
            return TILE;
        const int64 even = (listed + teams - 1) / teams, busy = BUSY * listed / edges, full = FULL * listed / edges;
        const int64 wanted = even > busy ? even : busy, nodes = wanted < full ? wanted : full;
        return int32(nodes < 1 ? 1 : nodes > TILE ? TILE : nodes);
    }
};

// Shared memory of a team. A kernel has it once, and reuses it in its consecutive steps.
struct TeamSpace {
    int32 found[OUTBOX], far_found[OUTBOX]; // for two outboxes
    int32 count, far_count, place, flag;
    int32 places[TILE]; // for a tile of the frontier
    int64 firsts[TILE], values[TILE], least;
    int32 progress[ENTRIES]; // for rounds that the team processes alone
    int64 totals[TOTALS];
};

// ---- Distribution of a frontier's edges over a team ---------------------------------------------------------------

// Appends the chunks of a node to the list of chunks.
INLINE void enter_chunks(const Traversal &frontier, Index node, Index degree) {
    const int32 count = int32((degree + CHUNK - 1) / CHUNK), place = atomic_add(frontier.progress + CHUNKS, count);
    for (int32 k = 0; k < count; ++k)
        frontier.chunks[place + k] = int64(node) << 32 | k;
}

// Calls visit(start(node), edge) for the edges of the nodes begin to end - 1 of a list, if goes_on(start(node)), and
// returns the number of these edges. A node with more than CHUNK edges is cut into chunks, unless the member is ALONE.
template <bool ALONE, class Start, class GoesOn, class Visit>
INLINE int64 one_member_follows(const Csr &graph, const Traversal &frontier, const int32 *list, Index begin, Index end,
                                bool weighted, Start start, GoesOn goes_on, Visit visit) {
    constexpr Index ROW_AHEAD = 24, EDGES_AHEAD = 12; // nodes; prefetching what a visit reads gains nothing
    constexpr Index NODES_AT_ONCE = 1 << 12;          // nodes between two STOP_POINTs
    const bool narrow = graph.offsets32 != nullptr;
    const auto *weights = !weighted                        ? nullptr
                          : graph.weights32 != nullptr     ? reinterpret_cast<const char *>(graph.weights32)
                          : graph.weights64 != nullptr     ? reinterpret_cast<const char *>(graph.weights64)
                                                           : reinterpret_cast<const char *>(graph.real_weights);
    const Index weight_size = graph.weights32 != nullptr ? sizeof(int32) : sizeof(int64);
    int64 followed = 0;
    for (Index i = begin; i < end; ++i) {
        if ((i - begin) % NODES_AT_ONCE == NODES_AT_ONCE - 1)
            STOP_POINT();
        // Inlined by hand: g++ treats a function that only prefetches as pure, and removes its calls.
        if (i + ROW_AHEAD < end) {
            const Index node = list[i + ROW_AHEAD];
            prefetch(narrow ? static_cast<const void *>(graph.offsets32 + node) : graph.offsets64 + node);
        }
        if (i + EDGES_AHEAD < end) {
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

// The same by a team; make_room() is called after every AT_ONCE_FOLLOWED edges.
template <class Value, class Start, class GoesOn, class Visit, class FlushIfFull>
INLINE int64 team_follows(const Csr &graph, const Traversal &frontier, const int32 *list, Index begin, Index end,
                          TeamSpace &space, Start start, GoesOn goes_on, Visit visit, FlushIfFull flush_if_full) {
    int32 *places = space.places;
    int64 followed = 0;
    for (Index tile = begin; tile < end; tile += TILE) {
        const Index count = tile + TILE < end ? TILE : end - tile;
        const Sums<1> edges = team_in_order<1>(
            0, count, Sums<1>{},
            [&](Index i) {
                const Index node = list[tile + i], degree = graph.degree(node);
                if (degree > CHUNK)
                    enter_chunks(frontier, node, degree);
                return Sums<1>{{degree > CHUNK ? 0 : int32(degree)}};
            },
            [&](Index i, const Sums<1> &before) {
                places[i] = before.of[0];
                space.firsts[i] = graph.begin(list[tile + i]);
                space.values[i] = start(list[tile + i]);
            });
        TEAM_BARRIER();
        const auto follow = [&](Index k) {
            int low = 0; // becomes the last node whose edges begin at or before k: places[low] <= k < places[high]
            for (int high = int(count); high - low > 1;) {
                const int middle = (low + high) / 2;
                (places[middle] <= k ? low : high) = middle;
            }
            const Value value = Value(space.values[low]);
            if (goes_on(value))
                visit(value, space.firsts[low] + (k - places[low]));
        };
        for (Index some = 0; some < edges.of[0]; some += EDGES_PER_FLUSH_CHECK) {
            FOR_SHARE (k, some, some + EDGES_PER_FLUSH_CHECK < edges.of[0] ? some + EDGES_PER_FLUSH_CHECK : edges.of[0])
                follow(k);
            flush_if_full();
        }
        followed += edges.of[0];
        TEAM_BARRIER();
    }
    return followed;
}

// The same for a chunk of a node's edges.
template <class Start, class GoesOn, class Visit>
INLINE int64 follow_chunk(const Csr &graph, int64 chunk, Start start, GoesOn goes_on, Visit visit) {
    const Index node = chunk >> 32, first = graph.begin(node) + (chunk & 0x7fffffff) * CHUNK, all = graph.end(node);
    const Index last = first + CHUNK < all ? first + CHUNK : all;
    const auto value = start(node);
    if (goes_on(value))
        FOR_SHARE (edge, first, last)
            visit(value, edge);
    return last - first;
}

// ---- The next frontier --------------------------------------------------------------------------------------------

// Estimates the number of edges that leave nodes, from every SAMPLED-th one, because reading the rows of all nodes
// would take a considerable part of a search's time.
INLINE int64 estimated_edges(const Csr &graph, const int32 *nodes, Index count) {
    constexpr Index SAMPLED = 8, ALL = ONE_MEMBER ? 64 : TEAM_SIZE; // up to ALL nodes are not sampled
    constexpr Index MOST = 1 << 20;        // limit of the degree that counts, so that sums of an outbox fit
    const Index step = count > ALL ? SAMPLED : 1;
    int64 edges = 0;
    for (Index begin = 0; begin < count; begin += OUTBOX) {
        const Index end = begin + OUTBOX < count ? begin + OUTBOX : count;
        edges += team_sum<1>(0, (end - begin + step - 1) / step, [&](Index i) {
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
        FOR_LEADER
            *count = 0;
        TEAM_BARRIER();
    }

    // Adds a node; called by any member at any time.
    METHOD void put(int32 node) const {
        if constexpr (ONE_MEMBER) {
            if (*count == OUTBOX)
                deliver();
            found[(*count)++] = node;
        } else {
            found[team_take(count)] = node;
        }
    }

    // Ensures capacity for the next AT_ONCE_FOLLOWED nodes; called by all members together.
    METHOD void flush_if_full() const {
        TEAM_BARRIER();
        const bool full = *count > OUTBOX - EDGES_PER_FLUSH_CHECK;
        TEAM_BARRIER();
        if (full)
            deliver();
    }

    // Appends the buffered nodes to the list; called by all members together.
    METHOD void deliver() const {
        TEAM_BARRIER();
        const Index kept = *count;
        FOR_LEADER
            if (kept)
                *place = atomic_add(listed, int32(kept));
        TEAM_BARRIER();
        if (kept == 0)
            return;
        FOR_SHARE (i, 0, kept)
            list[*place + i] = found[i];
        if (edges != nullptr) {
            const int64 more = estimated_edges(graph, found, kept);
            FOR_LEADER
                atomic_add(edges, more);
        }
        TEAM_BARRIER();
        FOR_LEADER
            *count = 0;
        TEAM_BARRIER();
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
        return Outbox{graph, second ? space.far_found : space.found, second ? &space.far_count : &space.count,
                      &space.place, list, listed, edges};
}

template <bool ALONE> INLINE auto next_frontier(const Csr &graph, TeamSpace &space, const Traversal &frontier) {
    int32 *progress = frontier.progress;
    return outbox<ALONE>(graph, space, false, frontier.list(1 - progress[SIDE]), progress + NEXT_LISTED,
                         frontier.totals + NEXT_EDGES);
}

// ---- Rounds -------------------------------------------------------------------------------------------------------

constexpr Index BEGINNING = 2048; // nodes that a team initialises (BEGINNING of static_graph/traversal/frontiers/workspace.py)

// Initialises the control state. The first frontier is the `sources` nodes in the list `even`, or the single node
// `source`.
INLINE void begin_numbers(const Csr &graph, const Traversal &frontier, int64 sources, int64 source, int32 round) {
    int32 *progress = frontier.progress;
    int64 *totals = frontier.totals;
    for (Entry entry = Entry(0); entry < ENTRIES; entry = Entry(entry + 1))
        progress[entry] = 0;
    for (Total total = Total(0); total < TOTALS; total = Total(total + 1))
        totals[total] = 0;
    progress[SIDE] = 1; // so that ending round 0 makes the list `even` the frontier
    progress[ROUND] = round;
    progress[NEXT_LISTED] = int32(sources);
    if (source >= 0)
        frontier.even[0] = int32(source);
    for (Index i = 0; i < sources; ++i)
        totals[NEXT_EDGES] += graph.degree(frontier.even[i]);
}

// Swaps the double buffer: the next frontier becomes the frontier.
INLINE void turn_sides(int32 *progress, int64 *totals) {
    progress[SIDE] = 1 - progress[SIDE];
    progress[LISTED] = progress[NEXT_LISTED];
    progress[NEXT_LISTED] = 0;
    if (progress[CHUNKS]) {
        progress[LAUNCHES] += progress[STEP] != FEW;
        progress[CHUNKS] = 0;
    }
    totals[EDGES] = totals[NEXT_EDGES];
    totals[NEXT_EDGES] = 0;
}

// Enters the ranges of a step; `first_teams` and `last_teams` are those of a step OTHER.
INLINE void enter_step(const Traversal &frontier, int32 step, int32 first_teams, int32 last_teams) {
    int32 *progress = frontier.progress;
    const bool pushes = step == PUSH, goes_on = step == FEW && progress[STEP] == FEW;
    progress[STEP] = step;
    progress[FEW_TEAMS] = step == FEW;
    if (pushes)
        progress[TILE_NODES] = frontier.tile_nodes(progress[LISTED], frontier.totals[EDGES]);
    progress[TILE_TEAMS] = pushes ? (progress[LISTED] + progress[TILE_NODES] - 1) / progress[TILE_NODES] : 0;
    progress[FIRST_TEAMS] = step == OTHER ? first_teams : 0;
    progress[LAST_TEAMS] = step == OTHER ? last_teams : 0;
    progress[ENDS] = step == PUSH || step == OTHER;
    progress[STOP] = step == DONE;
    for (int32 entry = FEW_TEAMS; entry <= ENDS && !goes_on; ++entry)
        progress[LAUNCHES] += progress[entry] > 0;
    int64 *totals = frontier.totals;
    totals[ALL_ROUNDS] = progress[ROUND];
    totals[ALL_LAUNCHES] = progress[LAUNCHES];
    if (totals[SLICE_BEGUN] && nanoseconds() - totals[SLICE_BEGUN] > SLICE) {
        totals[PAUSED] = step;
        progress[STEP] = DONE;
    }
}

// Processes rounds by one team, with the control state in its shared memory, as long as they are FEW.
template <class Rounds> INLINE void run_few(Rounds rounds) {
    int32 *progress = rounds.space->progress;
    int64 *totals = rounds.space->totals;
    int32 *all_progress = rounds.frontier.progress;
    int64 *all_totals = rounds.frontier.totals;
    FOR_SHARE (entry, 0, ENTRIES)
        progress[entry] = all_progress[entry];
    FOR_SHARE (total, 0, TOTALS)
        totals[total] = all_totals[total];
    rounds.frontier.progress = progress;
    rounds.frontier.totals = totals;
    TEAM_BARRIER();
    const int64 most = totals[FOLLOWED] + FEW_AT_ONCE;
    for (int32 round = 1; progress[STEP] == FEW && totals[FOLLOWED] < most && round <= MOST_FEW_ROUNDS; ++round) {
        if (round % ROUNDS_AT_ONCE == 0)
            STOP_POINT();
        rounds.few();
        TEAM_BARRIER();
        FOR_LEADER
            rounds.end();
        TEAM_BARRIER();
    }
    FOR_SHARE (entry, 0, ENTRIES)
        all_progress[entry] = progress[entry];
    FOR_SHARE (total, 0, TOTALS)
        all_totals[total] = totals[total];
    TEAM_BARRIER();
}

// Processes all rounds in one launch of `teams` concurrent teams, or as many rounds as fit in a SLICE of time
// (enter_step). After a barrier every team reads the same control state. It changes inside the barrier: the last team
// to arrive ends the round, and then processes the rounds that one team can do alone.
template <class Rounds>
INLINE void traverse(const Rounds &rounds, [[maybe_unused]] const Index range_begin,
                     [[maybe_unused]] const Index range_end, [[maybe_unused]] const Index teams) {
    int32 *progress = rounds.frontier.progress;
    if (range_begin == 0 && FIRST_TEAM)
        FOR_LEADER
            rounds.frontier.totals[SLICE_BEGUN] = nanoseconds();
    for (;;) {
        const int32 step = racing_load(progress + STEP);
        if (step == DONE)
            return;
        if (step == PUSH) {
            FOR_GRID_TEAMS (index, racing_load(progress + TILE_TEAMS), teams)
                rounds.tile(index);
        } else if (step == CUT) {
            FOR_GRID_TEAMS (index, racing_load(progress + CHUNKS), teams)
                rounds.chunk(index);
        } else if (step == OTHER) {
            const Index first = racing_load(progress + FIRST_TEAMS), last = racing_load(progress + LAST_TEAMS);
            if (first) {
                FOR_GRID_TEAMS (index, first, teams)
                    rounds.first(index);
                GRID_BARRIER();
            }
            FOR_GRID_TEAMS (index, last, teams)
                rounds.last(index);
        }
        grid_barrier_with(rounds.frontier.meeting, &rounds.space->flag, range_begin, [&] {
            const bool left = step == PUSH && racing_load(progress + CHUNKS) > 0;
            TEAM_BARRIER();
            FOR_LEADER {
                if (left)
                    progress[STEP] = CUT;
                else if (step != FEW)
                    rounds.end();
            }
            TEAM_BARRIER();
            while (racing_load(progress + STEP) == FEW)
                run_few(rounds);
        });
    }
}
