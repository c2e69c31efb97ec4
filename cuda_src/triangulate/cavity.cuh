// Finds the cavity of a point: the triangles with which it is in conflict.
#pragma once

#include "mesh/owner.cuh"
#include "refine/cavity/cavity.cuh"
#include "triangulate/hints.cuh"

INLINE Point nearest_of(Point a, Point b, Point c, Point p) {
    const float64 to_a = squared_length(a, p), to_b = squared_length(b, p), to_c = squared_length(c, p);
    return to_a <= to_b && to_a <= to_c ? a : (to_b <= to_c ? b : c);
}

// Of the two edges at corner m of the triangle (a, b, c), the one that the line from `start` to p crosses, up to
// rounding.
INLINE int edge_towards(Point p, Point start, int m, Point a, Point b, Point c) {
    const Point corner = m == 0 ? a : (m == 1 ? b : c);
    const bool left =
        (p.x - start.x) * (corner.y - start.y) - (p.y - start.y) * (corner.x - start.x) > 0; // of that line
    return (m + (left ? 1 : 2)) % 3;
}

// Of a triangle and those of vertices near on the curve, the one whose corners are nearest to the vertex.
INLINE int32 nearer_slot(const Plane &plane, int32 vertex, int32 slot) {
    const Point p = plane.points[vertex];
    int32 nearest = slot;
    float64 least = -1;
    const auto compare = [&](int32 other) {
        const Triangle t = without_owner(plane.triangles[other]);
        const int ghost = ghost_corner(t);
        const Triangle inner = ghost == NOTHING ? t : without_owner(plane.triangles[link_across(t, ghost)]);
        float64 sum = 0;
        for (const int32 corner : inner.vertex)
            sum += squared_length(p, plane.points[corner]);
        if (least < 0 || sum < least) {
            least = sum;
            nearest = other;
        }
    };
    compare(slot);
    for_near_slots(plane, vertex, compare);
    return nearest;
}

// Walks from *slot to the triangle that contains p, the vertex's place, its edges included, or to a ghost if p lies
// beyond the hull. A walk across edges that have p strictly on their other side ends in a Delaunay triangulation
// (Edelsbrunner, "An acyclicity theorem for cell complexes in d dimensions", 1990). Where two edges have, it crosses
// the one on the line from the nearest corner of its first triangle to p: at long edges, as along the hull, other walks
// are up to a hundred times as long. A long walk starts once more, from a nearer triangle: the first may be any
// triangle of a vertex with many. Returns whether it arrived; it stops where arithmetic is unsure.
template <Arithmetic arithmetic> INLINE bool walk(const Plane &plane, int32 vertex, int32 *slot) {
    constexpr int LONG_WALK = 32;
    const Point p = plane.points[vertex];
    int32 at = *slot, from = NOTHING;
    Point start = p;
    bool inside = false;
    int steps = 0;
    for (bool moves = true; moves; ++steps) {
        if (steps == LONG_WALK) {
            at = nearer_slot(plane, vertex, at);
            from = NOTHING;
            inside = false;
        }
        const Triangle t = without_owner(plane.triangles[at]);
        const int ghost = ghost_corner(t);
        *slot = at;
        if (ghost != NOTHING && inside)
            return true;
        if (ghost != NOTHING) { // the walk starts in the triangle within the hull
            at = link_across(t, ghost);
            continue;
        }
        const Point a = plane.points[t.vertex[0]], b = plane.points[t.vertex[1]], c = plane.points[t.vertex[2]];
        if (!inside)
            start = nearest_of(a, b, c, p);
        inside = true;
        int beyond = NOTHING; // an edge that has p on its other side
        for (int k = 0; k < 3; ++k) {
            if (link_across(t, k) == from)
                continue;
            const int side = orient2d_with<arithmetic>(k == 0 ? b : (k == 1 ? c : a), k == 0 ? c : (k == 1 ? a : b), p);
            if (side == UNSURE)
                return false;
            if (side < 0)
                beyond = beyond == NOTHING ? k : edge_towards(p, start, 3 - beyond - k, a, b, c);
        }
        moves = beyond != NOTHING;
        if (moves) {
            from = at;
            at = link_across(t, beyond);
        }
    }
    return true;
}

// Grows the cavity of p from a triangle in conflict with it, by the walk that cavity.cuh of refine describes. No edge
// of the cavity needs a test of its side: triangles in conflict across an edge see p, as in exact arithmetic p lies in
// the part of their circumcircle that the edge cuts off.
template <Arithmetic arithmetic>
INLINE Outcome grow(const Plane &plane, const Cavity &cavity, int32 root, Numbered p, Extent *extent) {
    GrowingCavity growing(cavity);
    const Triangle first = without_owner(plane.triangles[root]);
    growing.add_member(root);
    for (int k = 2; k >= 0; --k)
        growing.push(edge_to(first, k), link_across(first, k));
    int32 from = edge_from(first, 0);
    while (growing.pending()) {
        const BoundaryEdge top = growing.pop();
        int32 to = top.vertex, across = top.across;
        while (true) {
            const Triangle outside = without_owner(plane.triangles[across]);
            const int conflict = in_conflict<arithmetic>(plane, outside, p);
            if (conflict == UNSURE)
                return DEFERRED;
            if (!conflict)
                break;
            const int at = edge_that_starts_at(outside, to);
            growing.add_member(across);
            growing.push(to, link_across(outside, previous_corner(at)));
            if (growing.overflowed())
                return OVERFLOWED;
            to = corner(outside, at);
            across = link_across(outside, next_corner(at));
        }
        growing.add_edge(from, across);
        from = to;
    }
    growing.finish(from);
    *extent = growing.extent();
    return UNDECIDED;
}

// Searches the point of cavity i, grows the cavity, and claims its triangles.
template <Arithmetic arithmetic>
INLINE Outcome enter_point(const Plane &plane, const Cavities &cavities, Index i, uint32 epoch) {
    const int32 vertex = cavities.roots[i];
    if (is_inserted(plane, vertex))
        return DEAD;
    const Numbered p = plane.numbered(vertex);
    int32 slot = slot_near(plane, vertex);
    const bool arrived = walk<arithmetic>(plane, vertex, &slot);
    racing_store(&plane.slots[vertex], found_in(slot));
    if (!arrived)
        return DEFERRED;
    Extent extent = {0, 0, 0};
    const Outcome outcome = grow<arithmetic>(plane, cavities.at(i), slot, p, &extent);
    if (outcome != UNDECIDED)
        return outcome;
    const uint64 key = cavity_key(epoch, false, 0, int32(i));
    cavities.extents[i] = extent;
    cavities.keys[i] = key;
    const Cavity cavity = cavities.at(i);
    for (int j = 0; j < extent.members; ++j)
        atomic_max(&plane.triangles[cavity.member(j)].owner, key);
    return UNDECIDED;
}
