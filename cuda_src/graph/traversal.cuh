// Traversals that go by a frontier: the list of nodes whose edges are to be followed next. Shared by breadth-first
// search (breadth_first.cu) and shortest paths (near_far.cuh).
//
// A frontier is worked on by tiles of up to TILE nodes, which are the smaller the more edges their nodes have, so that
// all teams have some (`tile_nodes`). Within a tile the nodes' edges are laid end to end and shared out evenly (the
// local Manhattan collapse of paper 004), and a node of more than CHUNK edges is cut into chunks, a team each (the node
// splitting of the thesis, section 4.2, for one round): so neither a team nor a thread waits for a long row. On a CPU a
// team is one thread, which goes through the nodes one after the other and asks ahead for what it will read.
//
// All numbers stand in `progress` and `totals`. One member of one team enters what the next round is to be: as ranges,
// which kernels launched one by one have for their counts (the CPU: Device.loop repeats them), and which the teams of
// one launch read at its barriers (the GPU: `traverse`). A frontier of few edges is not worth waking the others: one
// team goes through such rounds by itself, one after the other (FEW).
#pragma once

#include "distances.cuh"
#include "grid.cuh"

constexpr int TILE = TEAM_SIZE;                      // nodes at most (TILE of static_graph/frontiers/workspace.py)
constexpr int64 BUSY = TEAM_SIZE, FULL = 4 * TEAM_SIZE; // edges of a tile: not fewer to give more teams some; no more
constexpr int CHUNK = ONE_MEMBER ? 16384 : 2048;     // edges
constexpr int OUTBOX = 2048;                         // nodes that a team found, before it enters them in the list
constexpr Index AT_ONCE_FOLLOWED = 1024;             // edges that a team follows before it looks how many it found
constexpr int64 FEW_AT_ONCE = 1 << 24;               // edges of rounds of FEW in one launch
constexpr int32 ROUNDS_AT_ONCE = 64;                 // of FEW, between two STOP_POINTs
constexpr int32 MOST_FEW_ROUNDS = 1 << 12;           // of FEW, in one launch of theirs: less than a SLICE

// (Entry of static_graph/frontiers/workspace.py)
enum Entry : int32 {
    STEP,        // what comes next
    ROUND,       // the number of the round: in breadth-first search the distance of the frontier
    SIDE,        // which of two lists is the frontier; the other one gets the next one
    LISTED,      // nodes of the frontier
    NEXT_LISTED, // nodes of the next one, so far
    FAR_SIDE,    // likewise for nodes that have to wait (near_far.cuh)
    FAR_LISTED,
    NEXT_FAR,
    TILE_NODES,  // of each tile but the last one
    FEW_TEAMS,   // the ranges: one team, or none
    FIRST_TEAMS, // of a pass that others wait for
    TILE_TEAMS,
    LAST_TEAMS,
    CHUNKS,      // that tiles found, and left to teams of their own
    ENDS,        // 1: the end of the round is to be entered
    LAUNCHES,    // that had something to do, where rounds are launched one by one
    STOP,
    ENTRIES
};

enum Step : int32 { DONE, FEW, PUSH, OTHER, CUT }; // CUT: chunks are left, where all rounds are one launch

// (Total of static_graph/frontiers/workspace.py)
enum Total : int32 {
    EDGES,      // that leave the frontier: an estimate
    NEXT_EDGES,
    FOLLOWED,   // edges that were looked at
    UNSEEN,     // nodes not reached (breadth_first.cu)
    UNSEEN_EDGES, // that leave them: an estimate
    NEAR,       // distances below this are near (near_far.cuh)
    LAST_NEAR,  // and those below this are done
    FAR_LEAST,  // the least of the far ones
    WIDTH,      // by how many deltas the bound was raised the last time
    BAND_ROUND, // the round in which that was, and FOLLOWED by then
    BAND_FOLLOWED,
    ALL_ROUNDS, // at the end: ROUND and LAUNCHES of the progress, so that who asks looks here only
    ALL_LAUNCHES,
    SLICE_BEGUN, // when a launch of all rounds began, in nanoseconds; else 0
    PAUSED,     // the step before which such a launch ended because its SLICE was over; else 0. The host sets STEP to
                // it, and launches again
    TOTALS
};

KERNEL_STRUCT(Traversal) {
    int32 *even;
    int32 *odd;
    int64 *chunks;
    int32 *progress;
    int64 *totals;
    int32 *meeting; // (2), zeros at first: of grid_barrier_with
    int64 teams;    // that run at once, about
    int64 few_nodes;
    int64 few_edges;

    METHOD int32 *list(int32 side) const { return side ? odd : even; }

    // Nodes of a tile of the list of a split (near_far.cuh): an OUTBOX holds all of them.
    METHOD Index split_nodes(Index listed) const {
        const Index even = (listed + teams - 1) / teams;
        return ONE_MEMBER || even < TILE ? TILE : even < OUTBOX ? even : OUTBOX;
    }

    // Nodes of a tile of a frontier of so many nodes and edges.
    METHOD int32 tile_nodes(int64 listed, int64 edges) const {
        if (ONE_MEMBER || edges <= 0)
            return TILE;
        const int64 even = (listed + teams - 1) / teams, busy = BUSY * listed / edges, full = FULL * listed / edges;
        const int64 wanted = even > busy ? even : busy, nodes = wanted < full ? wanted : full;
        return int32(nodes < 1 ? 1 : nodes > TILE ? TILE : nodes);
    }
};

// What a team has for itself. A kernel has it once, whatever it does one after the other.
struct TeamSpace {
    int32 found[OUTBOX], far_found[OUTBOX]; // of two outboxes
    int32 count, far_count, place, flag;
    int32 places[TILE]; // of a tile of the frontier
    int64 firsts[TILE], values[TILE], least;
    int32 progress[ENTRIES]; // of rounds that it does alone
    int64 totals[TOTALS];
};

// ---- Edges of a frontier, shared out among a team -----------------------------------------------------------------

// Enters the chunks of a node.
INLINE void enter_chunks(const Traversal &frontier, Index node, Index degree) {
    const int32 count = int32((degree + CHUNK - 1) / CHUNK), place = atomic_add(frontier.progress + CHUNKS, count);
    for (int32 k = 0; k < count; ++k)
        frontier.chunks[place + k] = int64(node) << 32 | k;
}

// Calls visit(start(node), edge) for the edges of the nodes begin to end - 1 of a list, where goes_on(start(node)), and
// returns how many edges these are. A node of more than a CHUNK of edges is cut; but not by a member who is ALONE.
template <bool ALONE, class Start, class GoesOn, class Visit>
INLINE int64 one_member_follows(const Csr &graph, const Traversal &frontier, const int32 *list, Index begin, Index end,
                                bool weighted, Start start, GoesOn goes_on, Visit visit) {
    constexpr Index ROW_AHEAD = 24, EDGES_AHEAD = 12; // nodes; nothing is gained by asking for what a visit reads
    constexpr Index NODES_AT_ONCE = 1 << 12;          // between two STOP_POINTs
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
        // Written out: a function of nothing but prefetches is pure to g++, which leaves its calls out.
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

// The same by a team; make_room() is called after every few edges.
template <class Value, class Start, class GoesOn, class Visit, class MakeRoom>
INLINE int64 team_follows(const Csr &graph, const Traversal &frontier, const int32 *list, Index begin, Index end,
                          TeamSpace &space, Start start, GoesOn goes_on, Visit visit, MakeRoom make_room) {
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
            int low = 0; // the last node whose edges begin at k or before: places[low] <= k < places[high]
            for (int high = int(count); high - low > 1;) {
                const int middle = (low + high) / 2;
                (places[middle] <= k ? low : high) = middle;
            }
            const Value value = Value(space.values[low]);
            if (goes_on(value))
                visit(value, space.firsts[low] + (k - places[low]));
        };
        for (Index some = 0; some < edges.of[0]; some += AT_ONCE_FOLLOWED) {
            FOR_SHARE (k, some, some + AT_ONCE_FOLLOWED < edges.of[0] ? some + AT_ONCE_FOLLOWED : edges.of[0])
                follow(k);
            make_room();
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

// ---- The next frontier ----------------------------------------------------------------------------------------------

// About how many edges leave some nodes: a sum over every SAMPLED-th one, since to read the rows of all would take a
// good part of the time of a search.
INLINE int64 estimated_edges(const Csr &graph, const int32 *nodes, Index count) {
    constexpr Index SAMPLED = 8, ALL = ONE_MEMBER ? 64 : TEAM_SIZE; // of ALL nodes or less every one is looked at
    constexpr Index MOST = 1 << 20;        // that count of one node, so that sums of an outbox fit
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

// What a team found, until it is entered in a list that all teams share. To `edges`, if they are asked for, it adds
// those that leave the nodes.
struct Outbox {
    Csr graph;
    int32 *found, *count; // (OUTBOX), (1): the team's own
    int32 *place;         // (1): likewise, and not kept
    int32 *list, *listed;
    int64 *edges;

    METHOD void open() const {
        FOR_LEADER
            *count = 0;
        TEAM_BARRIER();
    }

    // By any member at any time.
    METHOD void put(int32 node) const {
        if constexpr (ONE_MEMBER) {
            if (*count == OUTBOX)
                deliver();
            found[(*count)++] = node;
        } else {
            found[team_take(count)] = node;
        }
    }

    // By all members together: so that each edge that is followed next may put a node.
    METHOD void make_room() const {
        TEAM_BARRIER();
        const bool full = *count > OUTBOX - AT_ONCE_FOLLOWED;
        TEAM_BARRIER();
        if (full)
            deliver();
    }

    // By all members together.
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

// The same for one member who is alone: nobody else enters anything meanwhile.
struct DirectOutbox {
    Csr graph;
    int32 *list, *listed;
    int64 *edges;
    mutable int32 *end;

    METHOD void open() const { end = list + *listed; }
    METHOD void put(int32 node) const { *end++ = node; }
    METHOD void make_room() const {}
    METHOD void deliver() const {
        const Index found = end - list - *listed;
        if (edges != nullptr)
            *edges += estimated_edges(graph, end - found, found);
        *listed += int32(found);
    }
};

// Where a team puts the nodes that it found, for a list; the first or the second one that it has.
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

// ---- Rounds -----------------------------------------------------------------------------------------------------

constexpr Index BEGINNING = 2048; // nodes that a team makes ready (BEGINNING of static_graph/frontiers/workspace.py)

// The numbers before the first round: its frontier are so many nodes of the even side, or an only one.
INLINE void begin_numbers(const Csr &graph, const Traversal &frontier, int64 sources, int64 source, int32 round) {
    int32 *progress = frontier.progress;
    int64 *totals = frontier.totals;
    for (Entry entry = Entry(0); entry < ENTRIES; entry = Entry(entry + 1))
        progress[entry] = 0;
    for (Total total = Total(0); total < TOTALS; total = Total(total + 1))
        totals[total] = 0;
    progress[SIDE] = 1; // so that the end of a round before the first makes the even side the frontier
    progress[ROUND] = round;
    progress[NEXT_LISTED] = int32(sources);
    if (source >= 0)
        frontier.even[0] = int32(source);
    for (Index i = 0; i < sources; ++i)
        totals[NEXT_EDGES] += graph.degree(frontier.even[i]);
}

// The next frontier becomes the frontier.
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

// Enters the ranges of a step; those of a step OTHER are given.
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

// Rounds by one team, which keeps the numbers in its own memory, as long as they are FEW.
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

// All rounds in one launch of `teams` teams, which run at once, or as many as a SLICE of time has room for (enter_step).
// Every team reads the same numbers after a barrier. They change in it: the last team to come enters the end of the round,
// and goes through those that it can do alone.
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
