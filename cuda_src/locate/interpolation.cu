// Interpolates values on the triangles, the vertices, or the vertices and edge midpoints of a mesh.
#include "locate/barycentric.cuh"

constexpr int MOST_NODES = 6;
constexpr int64 NOT_A_NUMBER = 0x7ff8000000000000; // one bit pattern, on every processor

// The values of the basis functions of Lagrange elements of order 0, 1 or 2; returns their number. The midpoints 3, 4,
// 5 are those of the edges opposite the corners 0, 1, 2 (Zienkiewicz and Taylor, "The Finite Element Method", chapter
// on shape functions).
INLINE int basis(int32 order, const float64 (&weights)[3], float64 (&values)[MOST_NODES]) {
    if (order == 0) {
        values[0] = 1.0;
        return 1;
    }
    for (int k = 0; k < 3; ++k) {
        const float64 next = weights[k == 2 ? 0 : k + 1], previous = weights[k == 0 ? 2 : k - 1];
        values[k] = order == 1 ? weights[k] : weights[k] * (2.0 * weights[k] - 1.0);
        values[3 + k] = 4.0 * (next * previous);
    }
    return order == 1 ? 3 : 6;
}

constexpr Index AHEAD = 8; // points

// Loads what the point `AHEAD` of i needs, and the corners of the triangle twice as far ahead, which say where that is.
INLINE void prefetch_triangles(Index i, Index stop, const Point *vertices, const int32 *corners, const int32 *found,
                               const int32 *nodes, int count, const float64 *values, int64 columns) {
    if (i + 2 * AHEAD >= stop)
        return;
    const Index next = found[i + AHEAD], far = found[i + 2 * AHEAD];
    if (far >= 0)
        prefetch(&corners[3 * far]);
    if (next < 0)
        return;
    for (int k = 0; k < 3; ++k)
        prefetch(&vertices[corners[3 * next + k]]);
    for (int k = 0; k < count; ++k)
        prefetch(&values[Index(nodes[count * next + k]) * columns]);
}

// result[places[i], column] = the interpolated value at points[i] in the triangle found[i]; not a number where that is
// -1. Without `places`, it is in result[i, column]. `nodes` are the rows of `values` of each triangle. A node whose
// basis function is 0 at the point does not contribute, even if its value is not finite.
KERNEL(interpolate_points, const Point *vertices, const int32 *corners, const Point *points, const int32 *places,
       const int32 *found, int32 order, const int32 *nodes, const float64 *values, int64 columns, float64 *result) {
    const int count = order == 0 ? 1 : 3 * order;
    for (const Index i : launch) {
        if (PREFETCHES)
            prefetch_triangles(i, launch.stop(), vertices, corners, found, nodes, count, values, columns);
        float64 *const row = result + (places != nullptr ? places[i] : i) * columns;
        const Index t = found[i];
        if (t < 0) {
            for (Index column = 0; column < columns; ++column)
                row[column] = float64_of(NOT_A_NUMBER);
            continue;
        }
        float64 factors[MOST_NODES];
        if (order == 0) {
            factors[0] = 1.0;
        } else {
            const Point corner[3] = {vertices[corners[3 * t]], vertices[corners[3 * t + 1]],
                                     vertices[corners[3 * t + 2]]};
            float64 weights[3];
            barycentric(corner, points[i], weights);
            basis(order, weights, factors);
        }
        for (Index column = 0; column < columns; ++column) {
            float64 sum = 0.0;
            for (int k = 0; k < count; ++k)
                if (factors[k] != 0.0)
                    sum += factors[k] * values[Index(nodes[count * t + k]) * columns + column];
            row[column] = sum == sum ? sum : float64_of(NOT_A_NUMBER);
        }
    }
}
