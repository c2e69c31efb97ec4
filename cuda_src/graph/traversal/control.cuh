// Control state and memory of a frontier traversal, shared by breadth-first search (breadth_first.cuh) and shortest
// paths (near_far/near_far.cuh).
//
// A frontier is the list of nodes whose edges a round follows; the nodes that the round finds form the next frontier.
// A round has up to six passes, each by a number of teams, with a barrier after each pass (rounds.cuh):
//
//     ALONE     one team processes this round and those that follow, as long as they are small
//     PREPARE   |  a round of another kind: a pull of breadth-first search (PREPARE and OTHER),
//     OTHER     |  or a split of the far list (OTHER)
//     TILES     |  a push: teams follow the edges of tiles of the frontier;
//     CHUNKS    |  then the edges of long rows, which the tiles have cut into chunks
//     ENDS      ends the round and decides the next one
#pragma once

#include "graph/csr.cuh"
#include "portable/portable.cuh"

constexpr int TILE = TEAM_SIZE;                             // most nodes
constexpr int64 BUSY = TEAM_SIZE / 2, FULL = 4 * TEAM_SIZE; // edges per tile: lower limit of shrinking, and upper limit
constexpr int LEAST_CHUNK = 2048;                           // edges of a chunk at least
constexpr int CHUNK = ONE_MEMBER ? 16384 : LEAST_CHUNK;
constexpr int OUTBOX = 2048; // nodes that a team buffers before it appends them to a list

constexpr int32 DONE = 0; // the value of PASS after the last round

// Indices into Traversal::progress.
enum Entry : int32 {
    PASS,        // the current pass: one of the entries ALONE to ENDS; if launched one by one, the first of the round
    ROUND,       // the number of the round; in breadth-first search the distance of the frontier
    BUFFER,      // which list of the double buffer is the frontier; the other one is the next frontier
    LISTED,      // number of nodes in the frontier
    NEXT_LISTED, // current number of nodes in the next frontier
    FAR_BUFFER,  // the same for the far lists (near_far/near_far.cuh)
    FAR_LISTED,
    NEXT_FAR,
    TILE_NODES, // nodes per tile, except the last one
    ALONE,      // number of teams of each pass, in the order of the passes; 0 if the round does not have the pass
    PREPARE,
    TILES,
    OTHER,
    CHUNKS,
    ENDS,
    LAUNCHES, // number of non-empty launches, if passes are launched one by one
    STOP,
    ENTRIES
};

// Indices into Traversal::totals.
enum Total : int32 {
    EDGES, // estimated number of edges that leave the frontier
    NEXT_EDGES,
    FOLLOWED,     // number of edges examined
    UNSEEN,       // number of unreached nodes (breadth_first.cuh)
    UNSEEN_EDGES, // estimated number of edges that leave them
    NEAR,         // distances below this are near (near_far/near_far.cuh)
    LAST_NEAR,    // distances below this are final
    FAR_LEAST,    // the least far distance
    WIDTH,        // number of deltas by which the bound was last raised
    BAND_ROUND,   // the round of that increase, and FOLLOWED at that time
    BAND_FOLLOWED,
    ALL_ROUNDS, // at the end: ROUND and LAUNCHES of `progress`, so that one download gets everything
    ALL_LAUNCHES,
    SLICE_BEGUN, // when a launch of all rounds began, in nanoseconds; otherwise 0
    PAUSED,      // the pass before which such a launch ended because its SLICE was over; otherwise 0. The host sets
                 // PASS to it, and launches again
    TOTALS
};

KERNEL_STRUCT(Traversal) {
    int32 *list0; // a double buffer of the frontier and the next one
    int32 *list1;
    int64 *chunks;
    int32 *progress;
    int64 *totals;
    uint64 *meeting;          // (MEETING), initially zero: for Grid::barrier_with
    int64 teams;              // approximate number of concurrent teams
    int64 single_block_nodes; // most nodes and edges of a round that one team processes alone
    int64 single_block_edges;

    METHOD int32 *list(int32 buffer) const { return buffer ? list1 : list0; }

    // Whether a round with these numbers of nodes and edges is left to one team.
    METHOD bool fits_single_block(int64 listed, int64 edges) const {
        return listed <= single_block_nodes && edges <= single_block_edges;
    }

    // Nodes per tile of the far list in a split (near_far/near_far.cuh); they fit in an OUTBOX.
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
    int32 count, far_count, place, far_place, flag;
    MeetingSpace meeting;
    int32 places[TILE]; // for a tile of the frontier
    int64 firsts[TILE], values[TILE], least;
    int32 progress[ENTRIES]; // for rounds that the team processes alone
    int64 totals[TOTALS];
};
