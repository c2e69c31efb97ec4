// Cuts a graph's rows into tiles (tiles.cuh).
#include "graph/pagerank/tiles.cuh"

// first_rows[i] = the first row at or beyond position i * RANK_TILE.
KERNEL(find_row_tiles, Csr graph, int32 *first_rows) {
    for (const Index i : launch) {
        Index begin = 0, end = graph.nodes;
        while (begin < end) {
            const Index middle = begin + (end - begin) / 2;
            if (middle + graph.begin(middle) < i * RANK_TILE)
                begin = middle + 1;
            else
                end = middle;
        }
        first_rows[i] = int32(begin);
    }
}

KERNEL(flag_long_rows, Csr graph, int32 *flags) {
    for (const Index v : launch)
        flags[v] = graph.degree(v) > RANK_TILE;
}

// The first edge of each listed row, and the edge after its last one.
KERNEL(find_row_ends, Csr graph, const int32 *rows, int64 *begins, int64 *ends) {
    for (const Index i : launch) {
        begins[i] = graph.begin(rows[i]);
        ends[i] = graph.end(rows[i]);
    }
}
