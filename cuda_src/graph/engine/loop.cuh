// The loop of a round: the frontier S_i of nodes whose edges this round follows, and the list S_i+1 that it builds for
// the next round.
#pragma once

#include "graph/csr.cuh"

// Control state of the rounds in device memory.
enum FrontierEntry : int32 {
    FRONTIER,        // number of nodes in this round's frontier
    NEXT,            // current number of nodes in the next list
    WHOLE,           // 1 if the frontier is all nodes, in order, and has no list
    ALONE,           // 1 if one team follows this round alone, and the next ones as long as they are small
    BATCHES,         // number of batches of TEAM_SIZE nodes; 0 if a team is ALONE
    SCAN_TILES,      // number of tiles of SCAN_TILE nodes
    TILES,           // number of tiles of TILE_EDGES edges, if the strategy cuts the edges
    FRONTIER_ROUNDS, // number of completed rounds
    REPEATS,         // how often the launches of a round were repeated
    FRONTIER_STOP,
    FRONTIER_ENTRIES,
};

constexpr int SCAN_TILE = 2048;      // TILE of cuda_src/primitives/scan.cu
constexpr int QUEUE_CAPACITY = 2048; // nodes that a team buffers before it reserves positions in the next list

// A list of nodes, or all nodes in order.
struct Nodes {
    const int32 *list; // or null

    METHOD Index operator[](Index i) const { return list != nullptr ? Index(list[i]) : i; }
};

KERNEL_STRUCT(Frontier) {
    int32 *lists; // a double buffer: two lists with a capacity of `capacity` nodes each
    int64 capacity;
    int32 *progress;
    int64 *totals;     // (1 + STRIPES): sum of |S_i| over the rounds; then edges examined, a striped counter
    const uint8 *mask; // (nodes): 0 for nodes that count as absent, as do their edges; or null
    int64 most_alone;  // most nodes of a round that one team follows alone

    METHOD int32 round() const { return progress[FRONTIER_ROUNDS]; }
    METHOD Nodes nodes() const { return {progress[WHOLE] ? nullptr : lists + (round() % 2) * capacity}; }
    METHOD int32 *next() const { return lists + (1 - round() % 2) * capacity; }
};

// Shared memory of a team's queue.
struct QueueSpace {
    int32 places[QUEUE_CAPACITY];
    int32 filled[2]; // number of requested positions, and their begin in the next list
};

// Arguments of the body of a loop: the graph, the number of the round, and the team's queue for the next list. The
// queue is buffered in shared memory; without a buffer, it reserves a position per node by a global atomic.
struct Loop {
    Csr graph;
    Frontier frontier;
    int32 *places; // (QUEUE_CAPACITY), shared; or null
    int32 *filled; // (2), shared
    bool together; // the lanes of a warp reserve together

    METHOD int32 round() const { return frontier.round(); }

    // Adds a node to the next list. A body pushes a node at most once per round.
    METHOD void push(Index node) const {
        if (places != nullptr) {
            const int32 place = together ? Team::take_together(filled) : Team::take(filled);
            if (place < QUEUE_CAPACITY) {
                places[place] = int32(node);
                return;
            }
        }
        frontier.next()[atomic_add(&frontier.progress[NEXT], 1)] = int32(node);
    }

    // Called first by all members of the team; another barrier must follow before the first push.
    METHOD void open() const {
        if (Team::leads())
            filled[0] = 0;
    }

    // Called by all members of the team after their last push; ends with a barrier.
    METHOD void flush() const {
        Team::barrier();
        const int32 count = filled[0] < QUEUE_CAPACITY ? filled[0] : QUEUE_CAPACITY;
        if (places != nullptr && count > 0) { // uniform across the team
            if (Team::leads())
                filled[1] = atomic_add(&frontier.progress[NEXT], count);
            Team::barrier();
            for (const Index k : Team::share({0, count}))
                frontier.next()[filled[1] + k] = places[k];
        }
        Team::barrier(); // all have read `filled`, which the next call of open() resets
    }
};

// Enters the launch sizes of a round for the current frontier; called by one member.
INLINE void begin_round(const Frontier &frontier, bool alone) {
    int32 *const progress = frontier.progress;
    const Index count = progress[FRONTIER];
    progress[ALONE] = alone && count > 0 && count <= frontier.most_alone;
    progress[BATCHES] = progress[ALONE] ? 0 : int32((count + TEAM_SIZE - 1) / TEAM_SIZE);
    progress[SCAN_TILES] = progress[ALONE] ? 0 : int32((count + SCAN_TILE - 1) / SCAN_TILE);
    progress[FRONTIER_STOP] = count == 0;
}

// Ends a round: the next list becomes the frontier; called by one member.
INLINE void end_round(const Frontier &frontier) {
    int32 *const progress = frontier.progress;
    frontier.totals[0] += progress[FRONTIER];
    progress[FRONTIER] = progress[NEXT];
    progress[NEXT] = progress[TILES] = progress[WHOLE] = 0;
    progress[FRONTIER_ROUNDS] += 1;
    begin_round(frontier, true);
}
