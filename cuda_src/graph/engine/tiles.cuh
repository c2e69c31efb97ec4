// GLOBAL: the edges of the whole frontier are cut into tiles of TILE_EDGES edges, one per team.
#pragma once

#include "graph/engine/rows.cuh"

constexpr int TILE_EDGES = 8 * TEAM_SIZE; // edges per team
constexpr int TILE_ROWS = 1024;           // most nodes of a tile whose sums fit into shared memory

// Prefix sums of the frontier's degrees, (FRONTIER + 1) sums of 32 or 64 bits: the position of each node's first edge
// among all edges of the frontier.
struct DegreeSums {
    const int32 *sums32;
    const int64 *sums64;

    METHOD Index operator[](Index row) const { return sums32 != nullptr ? Index(sums32[row]) : sums64[row]; }
};

// Shared memory of a team for a tile.
struct TileSpace {
    int64 sums[TILE_ROWS + 1];
    int64 ends[2]; // first and last row
};

// The rows of a tile, with the sums in shared memory.
struct SharedSums {
    const int64 *sums;
    int32 first;

    METHOD Index operator[](int32 row) const { return sums[row - first]; }
};

template <class Body, class Sums> struct TileRows {
    Sums sums;
    Nodes nodes;
    uint64 *values; // (FRONTIER): of the edges of each node, combined
    int32 first, last;

    METHOD Index operator[](int32 row) const { return sums[row + 1]; }
    METHOD Index end(int32 row) const { return sums[row + 1]; }
    METHOD bool enter(const Body &body, const Loop &loop, int32 row, Index &u, typename Body::State &state) const {
        u = nodes[row];
        return enters(body, u, state, loop);
    }
    METHOD Index edge(const Loop &loop, int32 row, Index u, Index k) const {
        return loop.graph.begin(u) + k - sums[row];
    }
    METHOD uint64 *value(int32 row) const { return values + row; }
};

// Expands one tile of the frontier's edges by its team.
template <class Body>
INLINE Index expand_tile(Index tile, const Body &body, const Loop &loop, const DegreeSums &sums, uint64 *values,
                         TileSpace &space, const Collapse &how) {
    const Index count = loop.frontier.progress[FRONTIER], all = sums[count];
    const Piece edges{tile * TILE_EDGES, (tile + 1) * TILE_EDGES < all ? (tile + 1) * TILE_EDGES : all};
    const Nodes nodes = loop.frontier.nodes();
    loop.open();
    if (Team::leads()) {
        space.ends[0] = first_above(sums, Index(1), count, edges.begin) - 1;
        space.ends[1] = first_above(sums, Index(1), count, edges.end - 1) - 1;
    }
    Team::barrier();
    const int32 first = int32(space.ends[0]), last = int32(space.ends[1]);
    Index examined;
    if (last - first < TILE_ROWS) {
        for (const Index row : Team::share({first, Index(last) + 2}))
            space.sums[row - first] = sums[row];
        Team::barrier();
        const TileRows<Body, SharedSums> rows{{space.sums, first}, nodes, values, first, last};
        examined = follow_rows(body, loop, rows, edges, how);
    } else {
        const TileRows<Body, DegreeSums> rows{sums, nodes, values, first, last};
        examined = follow_rows(body, loop, rows, edges, how);
    }
    loop.flush(); // ends with a barrier: all have read the ends
    return examined;
}

// Leaves the nodes of one batch after all tiles, because a node's edges may be in several tiles, or in none.
template <class Body> INLINE void leave_nodes(Index number, const Body &body, const Loop &loop, uint64 *values) {
    const Index begin = number * TEAM_SIZE, count = loop.frontier.progress[FRONTIER];
    const Nodes nodes = loop.frontier.nodes();
    loop.open();
    Team::barrier();
    for (const Index i : Team::share({begin, begin + TEAM_SIZE < count ? begin + TEAM_SIZE : count})) {
        typename Body::State state;
        if (enters(body, nodes[i], state, loop))
            leaves(body, nodes[i], state, values[i], loop);
        values[i] = 0; // for the next round
    }
    loop.flush();
}
