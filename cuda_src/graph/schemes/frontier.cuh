// The frontier: the list S_i of nodes whose edges this round follows, and the list S_i+1 that it builds for the next
// round.
#pragma once

#include "portable/portable.cuh"
#include "portable/portable.cuh"

// Control state of the rounds in device memory.
enum FrontierEntry : int32 {
    FRONTIER,        // number of nodes in this round's list
    NEXT,            // current number of nodes in the next list
    BATCHES,         // number of batches of TEAM_SIZE nodes
    SCAN_TILES,      // number of tiles of SCAN_TILE nodes
    TILES,           // number of tiles of TILE_EDGES edges, if the strategy cuts the edges
    FRONTIER_ROUNDS, // number of completed rounds
    FRONTIER_STOP,
    FRONTIER_ENTRIES,
};

KERNEL_STRUCT(Frontier) {
    int32 *lists; // a double buffer: two lists with a capacity of `capacity` nodes each
    int64 capacity;
    int32 *progress;

    METHOD int32 round() const { return progress[FRONTIER_ROUNDS]; }
    METHOD const int32 *nodes() const { return lists + (round() % 2) * capacity; }
    METHOD int32 *next() const { return lists + (1 - round() % 2) * capacity; }
};

constexpr int SCAN_TILE = 2048;      // TILE of cuda_src/primitives/scan.cu
constexpr int QUEUE_CAPACITY = 2048; // nodes that a team buffers before it reserves positions in the next list

// A team's queue for the next list, buffered in shared memory. Without a buffer, it reserves a position per node by a
// global atomic.
struct TeamQueue {
    Frontier frontier;
    int32 *places; // (QUEUE_CAPACITY), shared; or null
    int32 *filled; // (2), shared: number of requested positions, and their begin in the next list
    bool together; // the lanes of a warp reserve together

    // Called first by all members of the team; another barrier must follow before the first push.
    METHOD void open() const {
        if (Team::leads())
            filled[0] = 0;
    }

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
