// Linear interpolation of vertex attributes.
#pragma once

#include "mesh/triangles.cuh"

// Computes the attributes at p, in the triangle with these corners, counter-clockwise; `made` may be the row of one of
// them. The weights come from the areas of the three parts into which p cuts the triangle. They are never negative, so
// no attribute leaves the range of its neighbours, not even in a needle whose area is all rounding error.
INLINE void interpolate_in_triangle(const int32 (&vertex)[3], const Point *points, Point p, Index width,
                                    const float64 *attributes, float64 *made) {
    const Point a = points[vertex[0]], b = points[vertex[1]], c = points[vertex[2]];
    const auto part = [&](Point u, Point v) {
        const float64 doubled = (u.x - p.x) * (v.y - p.y) - (u.y - p.y) * (v.x - p.x);
        return doubled > 0.0 ? doubled : 0.0;
    };
    const float64 pa = part(b, c), pb = part(c, a), pc = part(a, b), all = pa + pb + pc;
    const float64 wb = all > 0.0 ? pb / all : 1.0 / 3.0, wc = all > 0.0 ? pc / all : 1.0 / 3.0;
    const float64 *const va = attributes + Index(vertex[0]) * width;
    const float64 *const vb = attributes + Index(vertex[1]) * width;
    const float64 *const vc = attributes + Index(vertex[2]) * width;
    for (Index column = 0; column < width; ++column)
        made[column] = va[column] + (wb * (vb[column] - va[column]) + wc * (vc[column] - va[column]));
}
