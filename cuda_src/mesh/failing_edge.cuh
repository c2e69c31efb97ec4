// Edges that fail the in-circle test, which flips (mesh/flips.cu) make Delaunay.
#pragma once

#include "geometry/predicates.cuh"
#include "mesh/triangles.cuh"

// Whether the angle at p in the triangle of p, a and b is below 90 degrees beyond doubt.
INLINE bool is_surely_acute(Point p, Point a, Point b) {
    const float64 x = (a.x - p.x) * (b.x - p.x), y = (a.y - p.y) * (b.y - p.y);
    return x + y > 0x1p-40 * (magnitude(x) + magnitude(y));
}

// Whether d is inside the circle around the counter-clockwise triangle abc, across whose edge opposite corner k it is.
// It is not if the angles opposite that edge are acute on both sides: in a good mesh nearly all are.
INLINE bool fails_across(const Point (&corners)[3], int k, Point d) {
    const Point a = corners[k], b = corners[next_corner(k)], c = corners[previous_corner(k)];
    if (is_surely_acute(a, b, c) && is_surely_acute(d, b, c))
        return false;
    return incircle(corners[0], corners[1], corners[2], d) > 0;
}

// The edge of a triangle that is to be flipped in this round, or NOTHING: the first one that is not a subsegment, fails
// the in-circle test, and belongs to this triangle as the one with the lower number of the two.
INLINE int32 failing_edge(const Triangle *triangles, const Point *points, int32 t) {
    const Triangle mine = triangles[t];
    const Point corners[3] = {points[mine.vertex[0]], points[mine.vertex[1]], points[mine.vertex[2]]};
    for (int k = 0; k < 3; ++k) {
        const int32 other = mine.link[k];
        if (other <= t)
            continue;
        const Triangle &across = triangles[other];
        const int32 opposite = across.vertex[edge_that_starts_at(across, edge_to(mine, k))];
        if (fails_across(corners, k, points[opposite]))
            return k;
    }
    return NOTHING;
}
