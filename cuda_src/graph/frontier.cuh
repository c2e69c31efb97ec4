// A frontier: the list S_i of the nodes whose edges this round goes through, and the list S_i+1 that it makes for the
// next.
#pragma once

#include "grid.cuh"
#include "lanes.cuh"

// What the rounds go by, in the device's memory (Entry of static_graph/schemes/collapse.py).
enum FrontierEntry : int32 {
    FRONTIER,        // nodes of this round's list
    NEXT,            // nodes that are in the next one by now
    BATCHES,         // of TEAM_SIZE nodes
    SCAN_TILES,      // of SCAN_TILE nodes
    TILES,           // of TILE_EDGES edges, where the strategy cuts the edges
    FRONTIER_ROUNDS, // that have ended
    FRONTIER_STOP,
    FRONTIER_ENTRIES,
};

KERNEL_STRUCT(Frontier) {
    int32 *lists;    // two of `room` nodes each, which take turns
    int64 room;
    int32 *progress;

    METHOD int32 round() const { return progress[FRONTIER_ROUNDS]; }
    METHOD const int32 *nodes() const { return lists + (round() % 2) * room; }
    METHOD int32 *next() const { return lists + (1 - round() % 2) * room; }
};

constexpr int SCAN_TILE = 2048;  // TILE of cuda_src/scan.cu
constexpr int QUEUE_ROOM = 2048; // nodes that a team gathers before it reserves places in the next list

// A team's end of the next list. Without memory of its own it asks for a place for each node, by a global atomic.
struct TeamQueue {
    Frontier frontier;
    int32 *places;  // (QUEUE_ROOM), shared; or none
    int32 *filled;  // (2), shared: how many places are asked for, and where they go
    bool together;  // the lanes of a warp count together

    // All members of the team come here first; another barrier follows before anything is pushed.
    METHOD void open() const {
        FOR_LEADER
            filled[0] = 0;
    }

    METHOD void push(Index node) const {
        if (places != nullptr) {
            const int32 place = together ? team_take_together(filled) : team_take(filled);
            if (place < QUEUE_ROOM) {
                places[place] = int32(node);
                return;
            }
        }
        frontier.next()[atomic_add(&frontier.progress[NEXT], 1)] = int32(node);
    }

    // All members of the team come here when they have pushed what they had; ends with a barrier.
    METHOD void flush() const {
        TEAM_BARRIER();
        const int32 count = filled[0] < QUEUE_ROOM ? filled[0] : QUEUE_ROOM;
        if (places != nullptr && count > 0) { // the same for all of them
            FOR_LEADER
                filled[1] = atomic_add(&frontier.progress[NEXT], count);
            TEAM_BARRIER();
            FOR_SHARE (k, 0, count)
                frontier.next()[filled[1] + k] = places[k];
        }
        TEAM_BARRIER(); // all have read `filled`, which the next call of open() resets
    }
};
