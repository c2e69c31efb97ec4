// Numbers the edges of a mesh, for elements with a node at the midpoint of each edge.
#include "portable/portable.cuh"

// The ends of edge 3 t + k, which is opposite corner k of triangle t.
KERNEL(list_edge_ends, const int32 *corners, uint32 *lower, uint32 *higher) {
    for (const Index edge : launch) {
        const Index t = edge / 3, k = edge % 3;
        const uint32 a = uint32(corners[3 * t + (k + 1) % 3]), b = uint32(corners[3 * t + (k + 2) % 3]);
        lower[edge] = a < b ? a : b;
        higher[edge] = a < b ? b : a;
    }
}

// is_first[i] = 1 if the edges of the triangles, sorted by their ends, have other ends at i than at i - 1.
KERNEL(flag_first_of_edges, const uint32 *lower, const uint32 *higher, const int32 *order, int32 *is_first) {
    for (const Index i : launch) {
        const Index edge = order[i], before = order[i > 0 ? i - 1 : 0];
        is_first[i] = i == 0 || lower[edge] != lower[before] || higher[edge] != higher[before];
    }
}

// The six nodes of each triangle: its corners, then the midpoints of the edges opposite these. That of edge e is node
// `vertices` + e. edges_before: sums of is_first.
KERNEL(set_edge_nodes, const int32 *corners, const int32 *order, const int32 *is_first, const int32 *edges_before,
       int32 vertices, int32 *nodes) {
    for (const Index i : launch) {
        const Index edge = order[i], t = edge / 3, k = edge % 3;
        nodes[6 * t + k] = corners[edge];
        nodes[6 * t + 3 + k] = vertices + edges_before[i] + is_first[i] - 1;
    }
}
