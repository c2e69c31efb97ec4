// Half-edges of a plane: slot << 2 | edge, directed as the triangle has it on its left. Steps from one to the next.
//
//                w                   h = u -> v, the edge opposite w.
//               / \                  next(h)      v -> w, in the same triangle
//     previous /   \ next            previous(h)  w -> u, in the same triangle
//             /     \                twin(h)      v -> u, in the triangle across
//            u-------v               around(h)    u -> w, the next one with the same start, counter-clockwise
//                h
#pragma once

#include "triangulate/hints.cuh"

INLINE int32 half_edge(int32 slot, int edge) { return slot << 2 | edge; }
INLINE int32 triangle_of(int32 h) { return h >> 2; }
INLINE int edge_of(int32 h) { return h & 3; }
INLINE int32 next(int32 h) { return half_edge(triangle_of(h), next_corner(edge_of(h))); }
INLINE int32 previous(int32 h) { return half_edge(triangle_of(h), previous_corner(edge_of(h))); }

INLINE int32 start_of(const Plane &plane, int32 h) { return edge_from(plane.triangles[triangle_of(h)], edge_of(h)); }
INLINE int32 end_of(const Plane &plane, int32 h) { return edge_to(plane.triangles[triangle_of(h)], edge_of(h)); }
INLINE int32 apex_of(const Plane &plane, int32 h) { return corner(plane.triangles[triangle_of(h)], edge_of(h)); }

// The triangle across an edge, also if the edge is a subsegment.
INLINE int32 slot_across(const Plane &plane, const Triangle &t, int edge) {
    const int32 across = link_across(t, edge);
    if (across >= 0)
        return across;
    const Subsegment s = plane.subsegments[~across];
    return edge_from(t, edge) == s.from ? s.right : s.left;
}

INLINE int32 twin(const Plane &plane, int32 h) {
    const Triangle &t = plane.triangles[triangle_of(h)];
    const int32 across = slot_across(plane, t, edge_of(h));
    return half_edge(across, edge_that_starts_at(plane.triangles[across], edge_to(t, edge_of(h))));
}

INLINE int32 around(const Plane &plane, int32 h) { return twin(plane, previous(h)); }
INLINE bool on_subsegment(const Plane &plane, int32 h) {
    return link_across(plane.triangles[triangle_of(h)], edge_of(h)) < 0;
}

// A half-edge that starts at a corner of a triangle, or at an inserted vertex.
INLINE int32 leaving_in(const Plane &plane, int32 slot, int32 vertex) {
    const Triangle &t = plane.triangles[slot];
    return half_edge(slot, previous_corner(t.vertex[0] == vertex ? 0 : (t.vertex[1] == vertex ? 1 : 2)));
}
INLINE int32 leaving(const Plane &plane, int32 vertex) { return leaving_in(plane, plane.slots[vertex], vertex); }

// The half-edge a -> b, or NOTHING. Rotates around both ends in step, so that the cost is that of the end with fewer
// edges; if there is no such edge, `smaller_star` is that end.
INLINE int32 find_edge(const Plane &plane, int32 a, int32 b, int32 *smaller_star) {
    const int32 start_a = leaving(plane, a), start_b = leaving(plane, b);
    int32 at_a = start_a, at_b = start_b;
    while (true) {
        if (end_of(plane, at_a) == b)
            return at_a;
        if (end_of(plane, at_b) == a)
            return twin(plane, at_b);
        at_a = around(plane, at_a);
        at_b = around(plane, at_b);
        if (at_a == start_a || at_b == start_b) {
            *smaller_star = at_a == start_a ? a : b;
            return NOTHING;
        }
    }
}

// The start of the straight way to p, from the start of a half-edge: the half-edge from there that points at p or past
// it, or to a vertex on the way; otherwise the one opposite that start which the way crosses, directed from its right
// to its left. NOTHING if the way leaves the hull at once.
INLINE int32 toward(const Plane &plane, int32 first, Point p) {
    const Point a = plane.points[start_of(plane, first)];
    int32 h = first;
    do {
        const int32 u = end_of(plane, h), w = apex_of(plane, h);
        if (u != GHOST) {
            const int side = orient2d(a, p, plane.points[u]);
            if (side == 0 && !strictly_between(plane.points[u], p, a))
                return h;
            if (side < 0 && w != GHOST && orient2d(a, p, plane.points[w]) > 0)
                return next(h);
        }
        h = around(plane, h);
    } while (h != first);
    return NOTHING;
}
