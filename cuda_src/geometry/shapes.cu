// Shape measures for the statistics of a mesh (dmr/mesh/statistics.py), for triangles of any shape.
#include "portable/portable.cuh"

constexpr Index AHEAD = 16; // triangles; their vertices are prefetched this far ahead

// Computes for each triangle: twice its signed area; the dot products of the edges at its smallest and at its largest
// angle, whose tangents are |twice_area| over them; the squares of its two longer edges, if requested (`middle`,
// `longest`).
//
// The cross product of the two shorter edges loses the fewest digits. So do the dot products at the ends of the longest
// edge, each computed from the two edge vectors that meet there, never from differences of squares.
KERNEL(measure_shapes, const float64 *vertices, const int32 *triangles, float64 *twice_area, float64 *at_smallest,
       float64 *at_largest, float64 *middle, float64 *longest) {
    for (const Index i : launch) {
        if (i + AHEAD < launch.stop())
            for (int k = 0; k < 3; ++k)
                prefetch(vertices + 2 * Index(triangles[3 * (i + AHEAD) + k]));
        const float64 *a = vertices + 2 * Index(triangles[3 * i]);
        const float64 *b = vertices + 2 * Index(triangles[3 * i + 1]);
        const float64 *c = vertices + 2 * Index(triangles[3 * i + 2]);
        // Edge u is opposite a, v opposite b, w opposite c.
        const float64 ux = c[0] - b[0], uy = c[1] - b[1];
        const float64 vx = a[0] - c[0], vy = a[1] - c[1];
        const float64 wx = b[0] - a[0], wy = b[1] - a[1];
        const float64 uu = ux * ux + uy * uy, vv = vx * vx + vy * vy, ww = wx * wx + wy * wy;
        // The negated dot products at c, a and b.
        const float64 at_c = ux * vx + uy * vy, at_a = vx * wx + vy * wy, at_b = wx * ux + wy * uy;
        const float64 low = uu < vv ? uu : vv, high = uu < vv ? vv : uu;
        const float64 shortest_squared = low < ww ? low : ww, longest_squared = high < ww ? ww : high;
        if (uu == longest_squared) {
            twice_area[i] = vx * wy - vy * wx;
            at_largest[i] = -at_a;
        } else if (vv == longest_squared) {
            twice_area[i] = wx * uy - wy * ux;
            at_largest[i] = -at_b;
        } else {
            twice_area[i] = ux * vy - uy * vx;
            at_largest[i] = -at_c;
        }
        at_smallest[i] = uu == shortest_squared ? -at_a : vv == shortest_squared ? -at_b : -at_c;
        if (middle != nullptr) {
            const float64 at_most_high = high < ww ? high : ww;
            middle[i] = low < at_most_high ? at_most_high : low;
            longest[i] = longest_squared;
        }
    }
}
