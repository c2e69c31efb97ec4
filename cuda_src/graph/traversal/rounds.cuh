// Rounds of a frontier traversal, by any group of teams.
//
// An algorithm (BreadthFirst, NearFarSearch) is a struct with the methods
//
//     round(group)   the passes of a round: group.pass(PASS, visit) calls visit(index) for the teams of each pass
//     end()          ends the round and decides the next one (begin_round); called by one member
//
// and the members `frontier` and `space`. One text of a round runs in three ways:
//
//  1. One launch per pass (OnePass); the ends of the launches are the barriers. Device.loop repeats the launches, whose
//     sizes are the entries of `progress` (on a CPU, and on request on a GPU).
//  2. One launch for all rounds (run_all; OnePass again), with a barrier of all teams after each pass. Inside
//     the barrier the control state changes: the last team to arrive advances to the next pass, and processes rounds
//     with few nodes alone, because involving the other teams would cost more.
//  3. One team alone (run_alone; OneTeam) processes rounds with few nodes, with the control state in its shared memory.
#pragma once

#include "graph/traversal/outbox.cuh"

constexpr Index BEGINNING = 2048;           // nodes that a team initialises
constexpr int64 EDGES_ALONE = 1 << 24;      // most edges of rounds that one team processes in a launch
constexpr int32 ROUNDS_ALONE = 1 << 12;     // most such rounds, to stay within a SLICE
constexpr int32 ROUNDS_PER_STOP_POINT = 64; // such rounds between two STOP_POINTs

// ---- Groups -------------------------------------------------------------------------------------------------------

// The teams of a launch, of which each has its tasks of the current pass.
template <class Tasks> struct OnePass {
    static constexpr bool ALONE = false;
    Index current;
    Tasks tasks;

    template <class Visit> METHOD void pass(Entry pass, Visit visit) const {
        if (pass == current)
            for (const Team team : tasks)
                visit(team.number);
    }
    METHOD static Piece tile(Index index, Index nodes, Index listed) {
        const Index begin = index * nodes;
        return {begin, begin + nodes < listed ? begin + nodes : listed};
    }
};

template <class Tasks> INLINE OnePass<Tasks> one_pass(Index pass, Tasks tasks) { return {pass, tasks}; }

// One team, which does all passes of a round. A push has one tile, the whole frontier; if the frontier is empty, the
// pass OTHER has one tile, too.
struct OneTeam {
    static constexpr bool ALONE = true;
    const int32 *progress;

    template <class Visit> METHOD void pass(Entry pass, Visit visit) const {
        if (pass == CHUNKS) {
            for (Index index = 0; index < progress[CHUNKS]; ++index)
                visit(index);
        } else if ((pass == TILES) == (progress[LISTED] > 0)) {
            visit(0);
            Team::barrier();
        }
    }
    METHOD static Piece tile(Index, Index, Index listed) { return {0, listed}; }
};

// ---- Control ------------------------------------------------------------------------------------------------------

// Initialises the control state. The first frontier is the `sources` nodes in the `list0`, or the single node
// `source`.
INLINE void begin_control(const Csr &graph, const Traversal &frontier, int64 sources, int64 source, int32 round) {
    int32 *progress = frontier.progress;
    int64 *totals = frontier.totals;
    for (Entry entry = Entry(0); entry < ENTRIES; entry = Entry(entry + 1))
        progress[entry] = 0;
    for (Total total = Total(0); total < TOTALS; total = Total(total + 1))
        totals[total] = 0;
    progress[BUFFER] = 1; // so that ending round 0 makes the `list0` the frontier
    progress[ROUND] = round;
    progress[NEXT_LISTED] = int32(sources);
    if (source >= 0)
        frontier.list0[0] = int32(source);
    for (Index i = 0; i < sources; ++i)
        totals[NEXT_EDGES] += graph.degree(frontier.list0[i]);
}

// Swaps the double buffer: the next frontier becomes the frontier.
INLINE void swap_frontiers(int32 *progress, int64 *totals) {
    progress[BUFFER] = 1 - progress[BUFFER];
    progress[LISTED] = progress[NEXT_LISTED];
    progress[NEXT_LISTED] = 0;
    if (progress[CHUNKS]) {
        progress[LAUNCHES] += progress[PASS] != ALONE;
        progress[CHUNKS] = 0;
    }
    totals[EDGES] = totals[NEXT_EDGES];
    totals[NEXT_EDGES] = 0;
}

// Begins a round with a pass, and enters the numbers of teams; `prepare_teams` and `other_teams` are those of a round
// that begins with PREPARE or OTHER. After the last round, the pass is DONE.
INLINE void begin_round(const Traversal &frontier, int32 pass, int32 prepare_teams, int32 other_teams) {
    int32 *progress = frontier.progress;
    const bool pushes = pass == TILES, goes_on = pass == ALONE && progress[PASS] == ALONE;
    const bool other = pass == PREPARE || pass == OTHER;
    progress[PASS] = pass;
    progress[ALONE] = pass == ALONE;
    if (pushes)
        progress[TILE_NODES] = frontier.tile_nodes(progress[LISTED], frontier.totals[EDGES]);
    progress[TILES] = pushes ? (progress[LISTED] + progress[TILE_NODES] - 1) / progress[TILE_NODES] : 0;
    progress[PREPARE] = pass == PREPARE ? prepare_teams : 0;
    progress[OTHER] = other ? other_teams : 0;
    progress[ENDS] = pushes || other;
    progress[STOP] = pass == DONE;
    for (int32 entry = ALONE; entry <= ENDS && !goes_on; ++entry)
        progress[LAUNCHES] += progress[entry] > 0;
    int64 *totals = frontier.totals;
    totals[ALL_ROUNDS] = progress[ROUND];
    totals[ALL_LAUNCHES] = progress[LAUNCHES];
    if (totals[SLICE_BEGUN] && nanoseconds() - totals[SLICE_BEGUN] > SLICE) {
        totals[PAUSED] = pass;
        progress[PASS] = DONE;
    }
}

// Advances to the round's next pass that has teams; after the last one, ends the round.
template <class Algorithm> INLINE void end_pass(const Algorithm &algorithm) {
    int32 *progress = algorithm.frontier.progress, pass = progress[PASS] + 1;
    while (progress[pass] == 0) // ends, because a round that is not done alone has the pass ENDS
        ++pass;
    if (pass == ENDS)
        algorithm.end();
    else
        progress[PASS] = pass;
}

// ---- Rounds -------------------------------------------------------------------------------------------------------

// The algorithm with the control state in the team's shared memory, where it is copied.
template <class Algorithm> INLINE Algorithm take_control(Algorithm algorithm) {
    int32 *progress = algorithm.space->progress;
    int64 *totals = algorithm.space->totals;
    for (const Index entry : Team::share({0, ENTRIES}))
        progress[entry] = algorithm.frontier.progress[entry];
    for (const Index total : Team::share({0, TOTALS}))
        totals[total] = algorithm.frontier.totals[total];
    algorithm.frontier.progress = progress;
    algorithm.frontier.totals = totals;
    Team::barrier();
    return algorithm;
}

// Copies the control state back; a barrier follows.
template <class Algorithm> INLINE void return_control(const Algorithm &algorithm) {
    Team::barrier();
    for (const Index entry : Team::share({0, ENTRIES}))
        algorithm.frontier.progress[entry] = algorithm.space->progress[entry];
    for (const Index total : Team::share({0, TOTALS}))
        algorithm.frontier.totals[total] = algorithm.space->totals[total];
    Team::barrier();
}

// Processes rounds by one team that has taken control, as long as they are small.
template <class Algorithm> INLINE void go_alone(const Algorithm &algorithm) {
    const int32 *progress = algorithm.frontier.progress;
    const int64 *totals = algorithm.frontier.totals;
    const int64 most = totals[FOLLOWED] + EDGES_ALONE;
    for (int32 round = 1; progress[PASS] == ALONE && totals[FOLLOWED] < most && round <= ROUNDS_ALONE; ++round) {
        if (round % ROUNDS_PER_STOP_POINT == 0)
            STOP_POINT();
        algorithm.round(OneTeam{progress});
        Team::barrier();
        if (Team::leads())
            algorithm.end();
        Team::barrier();
    }
}

template <class Algorithm> INLINE void run_alone(const Algorithm &algorithm) {
    go_alone(take_control(algorithm));
    return_control(algorithm);
}

// The pass and the number of its teams, as the message of a barrier.
INLINE uint64 next_pass(const int32 *progress) {
    const int32 pass = progress[PASS];
    return uint64(pass) << 32 | uint64(pass == DONE ? 0 : progress[pass]);
}

// Processes all rounds in one launch, or as many rounds as fit in a SLICE of time (begin_round).
template <class Algorithm> INLINE void run_all(const Algorithm &algorithm, const Grid &grid) {
    MeetingSpace &meeting = algorithm.space->meeting;
    if (grid.leads())
        algorithm.frontier.totals[SLICE_BEGUN] = nanoseconds();
    uint64 next = grid.begin_meetings(algorithm.frontier.meeting, meeting,
                                      [&] { return next_pass(algorithm.frontier.progress); });
    for (;;) {
        const int32 pass = int32(next >> 32);
        if (pass == DONE)
            return;
        if (pass != ALONE)
            algorithm.round(one_pass(pass, grid.tasks(Index(uint32(next)))));
        next = grid.barrier_with(algorithm.frontier.meeting, meeting, [&] {
            const Algorithm mine = take_control(algorithm);
            if (pass != ALONE && Team::leads())
                end_pass(mine);
            Team::barrier();
            while (mine.frontier.progress[PASS] == ALONE)
                go_alone(mine);
            return_control(algorithm);
            return next_pass(algorithm.space->progress);
        });
    }
}
