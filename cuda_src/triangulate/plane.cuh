// A triangulation of the whole plane on a device: triangles inside the convex hull of the inserted points, and ghosts
// outside of it.
//
//               v                  A ghost (u, v, GHOST) lies across each edge of the hull (Shewchuk, "Lecture Notes
//              /|                  on Delaunay Mesh Generation", section 3.4), so every link leads to a triangle. The
//      hull   / |  ghost           half-plane outside the edge is the ghost's counterpart of a circumcircle: p is in
//            /  |  (u, v, GHOST)   conflict with a triangle if the insertion of p deletes the triangle.
//           w---u
#pragma once

#include "geometry/ties.cuh"
#include "mesh/triangles.cuh"

constexpr int32 GHOST = -1; // the vertex at infinity

KERNEL_STRUCT(Plane) {
    Triangle *triangles;
    const Point *points;  // vertices, along a curve
    const int32 *numbers; // by vertex: the number that breaks ties (geometry/ties.cuh)
    int32 *slots;         // where vertices lie (hints.cuh)
    int64 vertices;
    Subsegment *subsegments; // pieces of segments, ghosts on the outer side of the hull; null before there are any

    METHOD Numbered numbered(int32 vertex) const { return {points[vertex], numbers[vertex]}; }
};

INLINE int ghost_corner(const Triangle &t) {
    return t.vertex[0] == GHOST ? 0 : (t.vertex[1] == GHOST ? 1 : (t.vertex[2] == GHOST ? 2 : NOTHING));
}

// Whether p is in conflict with a triangle: 1, 0 or UNSURE.
template <Arithmetic arithmetic> INLINE int in_conflict(const Plane &plane, const Triangle &t, Numbered p) {
    const int ghost = ghost_corner(t);
    if (ghost != NOTHING) {
        const Point u = plane.points[edge_from(t, ghost)], v = plane.points[edge_to(t, ghost)];
        const int side = orient2d_with<arithmetic>(u, v, p.at);
        return side == UNSURE ? UNSURE : (side > 0 || (side == 0 && strictly_between(u, v, p.at)));
    }
    const int32 a = t.vertex[0], b = t.vertex[1], c = t.vertex[2];
    const int inside = incircle_with<arithmetic>(plane.points[a], plane.points[b], plane.points[c], p.at);
    if (inside == 0)
        return broken_tie(plane.numbered(a), plane.numbered(b), plane.numbered(c), p) > 0;
    return inside == UNSURE ? UNSURE : inside > 0;
}
