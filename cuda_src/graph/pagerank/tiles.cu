// Cuts a graph's rows into tiles (tiles.cuh).
#include "graph/pagerank/tiles.cuh"

// The first row at or beyond a position.
INLINE Index row_at(const Csr &graph, Index position) {
    Index begin = 0, end = graph.nodes;
    while (begin < end) {
        const Index middle = begin + (end - begin) / 2;
        if (middle + graph.begin(middle) < position)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// The tile of the rows at the positions [begins[i], ends[i]).
KERNEL(cut_rows, Csr graph, const int64 *begins, const int64 *ends, RowTask *tiles) {
    for (const Index i : launch) {
        const Index first = row_at(graph, begins[i]), last = row_at(graph, ends[i]);
        const Index begin = graph.begin(first);
        tiles[i] = {begin, int32(graph.begin(last) - begin), int32(first), int32(last), -1};
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
