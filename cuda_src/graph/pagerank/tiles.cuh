// Tiles of a graph's rows: consecutive rows of nearly the same number of nodes and edges, as in CSR-Adaptive
// (Greathouse and Daga 2014), with boundaries on the diagonals of Merrill and Garland's merge path (2016).
//
// The position of row v is v + begin(v). A row with more than RANK_TILE edges is long: its edges are cut into chunks of
// RANK_TILE edges, which are tasks like tiles, and come first. The positions between two long rows are cut into ranges
// of at most RANK_TILE; a tile has the rows whose positions are in its range. So no task has more than 2 * RANK_TILE
// edges.
#pragma once

#include "graph/csr.cuh"

constexpr Index RANK_TILE = 2048;
constexpr Index RANK_SUMS = TEAM_SIZE; // places for the sums of teams

struct RowTile {
    int64 begin; // the first edge of its rows
    int32 edges;
    int32 first; // the first row, and the one after the last
    int32 last;
    int32 unused;
};

KERNEL_STRUCT(RowTiles) {
    const RowTile *tiles;
    int64 tile_count;
    const int32 *long_rows; // (long_count): the nodes of the long rows
    uint64 *long_sums;      // (long_count), zero between two iterations
    int64 long_count;
    const int32 *chunk_rows;   // (chunks): the number of a chunk's long row
    const int64 *chunk_begins; // (chunks): its first edge
    int64 chunks;
    uint64 *team_sums; // (RANK_SUMS, 2): what teams of a cooperative launch add, zero between two iterations
    int32 *meeting;    // (2), initially zero: for Grid::barrier_with

    METHOD Index tasks() const { return tile_count + chunks; }
};
