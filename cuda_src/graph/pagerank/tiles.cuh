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

// A task of an iteration.
struct RowTask {
    int64 begin; // the first edge of its rows
    int32 edges;
    int32 first; // the first row, and the one after the last
    int32 last;
    int32 long_row; // the number of the long row of which it is a chunk, or -1
};

KERNEL_STRUCT(RowTasks) {
    const RowTask *list; // (count): chunks of long rows, then tiles
    int64 count;
    const int32 *long_rows; // (long_count): the nodes of the long rows
    uint64 *long_sums;      // (long_count), zero between two iterations
    int64 long_count;
    uint64 *team_sums; // (RANK_SUMS, 2): what teams of a cooperative launch add, zero between two iterations
    uint64 *meeting;   // (MEETING), initially zero: for Grid::barrier_with
};
