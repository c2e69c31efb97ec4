// A strip: the triangles that a piece of a segment crosses, and how flips make the piece an edge.
//
//               w ---- . ---- .            The way from a to b enters the strip in the triangle at a, and crosses edges
//             / | \   / \   / |            from its right to its left. Between a and b no vertex lies on it.
//           a---|---\-----/---|--> b
//             \ |     \ /     |
//               u ---- . ---- v
#pragma once

#include "mesh/flip.cuh"
#include "mesh/owner.cuh"
#include "triangulate/half_edges.cuh"

// Whether a way is the edge that the piece is to be, not a strip.
INLINE bool is_edge(const Plane &plane, int32 way, const Subsegment &piece) {
    const int32 start = start_of(plane, way);
    return start == piece.from || start == piece.to;
}

// The entry of a piece into the plane: the half-edge from its start to its end if they are joined, otherwise the first
// one that the piece crosses, seen from its end with fewer edges. NOTHING if it is blocked there by a subsegment.
INLINE int32 find_way(const Plane &plane, const Subsegment &piece) {
    int32 a = piece.from;
    const int32 joined = find_edge(plane, piece.from, piece.to, &a);
    if (joined != NOTHING)
        return on_subsegment(plane, joined) ? NOTHING : joined;
    const int32 way = toward(plane, leaving(plane, a), plane.points[a == piece.from ? piece.to : piece.from]);
    return way == NOTHING || is_edge(plane, way, piece) ? NOTHING : way;
}

// Visits the triangles that a piece changes, and the neighbours whose links do. Returns false where a subsegment blocks
// the way.
template <class Visit> INLINE bool for_strip(const Plane &plane, int32 way, const Subsegment &piece, Visit visit) {
    const auto visit_around = [&](int32 slot) {
        visit(slot);
        for (int k = 0; k < 3; ++k)
            if (plane.triangles[slot].link[k] >= 0)
                visit(plane.triangles[slot].link[k]);
    };
    visit_around(triangle_of(way));
    if (is_edge(plane, way, piece)) {
        visit_around(triangle_of(twin(plane, way)));
        return true;
    }
    const int32 a = apex_of(plane, way), b = a == piece.from ? piece.to : piece.from;
    int32 h = way;
    for (uint32 step = 1; !on_subsegment(plane, h); ++step) {
        if (step % 4096 == 0)
            STOP_POINT();
        const int32 entered = twin(plane, h), v = apex_of(plane, entered);
        visit_around(triangle_of(entered));
        if (v == b)
            return true;
        h = orient2d(plane.points[a], plane.points[b], plane.points[v]) > 0 ? next(entered) : previous(entered);
    }
    return false;
}

// Makes the edge of a half-edge, which runs from the start of piece s to its end, that piece.
INLINE void constrain(const Plane &plane, int32 h, int32 s) {
    const int32 other = twin(plane, h);
    plane.subsegments[s].left = triangle_of(h);
    plane.subsegments[s].right = triangle_of(other);
    plane.triangles[triangle_of(h)].link[edge_of(h)] = ~s;
    plane.triangles[triangle_of(other)].link[edge_of(other)] = ~s;
}

// Flips edge k of a triangle; its four vertices learn where they lie.
INLINE void flip_and_note(const Plane &plane, int32 slot, int k) {
    const int32 other = plane.triangles[slot].link[k];
    flip_edge(plane.triangles, plane.subsegments, slot, k);
    for (const int32 changed : {slot, other})
        for (const int32 vertex : plane.triangles[changed].vertex)
            racing_store(&plane.slots[vertex], changed);
}

// Turns a fan around vertex a into triangles that do not overlap: one side of a strip, a polygon that is visible from
// its edge a-b. Its `count` triangles follow one another around a, beginning with the one at that edge, counter-
// clockwise if the fan is `left` of it.
//
//          r --- q           A fan triangle (a, p, q) and the next one (a, q, r) become (p, q, r) and (a, p, r) if
//         / \   / \          the corner at q is convex; then the previous triangle may have a convex corner at p.
//        /   \ /   p         This is Sklansky's scan, which triangulates polygons of this kind (Toussaint and Avis,
//       a ----------- b      "On a convex hull algorithm for polygons and its application to triangulation problems",
//                            1982), with the triangles of the fan that are not cut off yet as its stack.
INLINE void cut_ears(const Plane &plane, int32 a, int32 fan, int32 count, bool left) {
    int32 stacked = 1;
    for (int32 scanned = 1; scanned < count; ++scanned) {
        if (scanned % 4096 == 0)
            STOP_POINT();
        int32 after = NOTHING;
        while (true) {
            const Triangle &t = plane.triangles[fan];
            const int at_a = t.vertex[0] == a ? 0 : (t.vertex[1] == a ? 1 : 2);
            const int at_p = left ? next_corner(at_a) : previous_corner(at_a);
            const int32 p = t.vertex[at_p], q = t.vertex[left ? previous_corner(at_a) : next_corner(at_a)];
            after = t.link[at_p];
            const Triangle &following = plane.triangles[after];
            const int32 r = following.vertex[edge_that_starts_at(following, left ? a : q)];
            const int turn = orient2d(plane.points[p], plane.points[q], plane.points[r]);
            if (left ? turn <= 0 : turn >= 0) {
                ++stacked;
                break;
            }
            flip_and_note(plane, fan, at_p); // the slot that holds (p, q, r) is the one of `fan` if the fan is left
            after = left ? after : fan;
            if (stacked == 1)
                break;
            --stacked;
            const Triangle &larger = plane.triangles[after];
            fan = larger.link[edge_that_starts_at(larger, left ? a : p)]; // the one before, across the edge a-p
        }
        fan = after;
    }
}

// Inserts piece s, whose triangles and their neighbours nobody else changes.
INLINE void insert_piece(const Plane &plane, int32 way, int32 s) {
    const Subsegment piece = plane.subsegments[s];
    if (is_edge(plane, way, piece)) {
        constrain(plane, way, s);
        return;
    }
    // Flip every edge that the piece crosses: what was crossed becomes two fans around a, in which triangles overlap.
    const int32 a = apex_of(plane, way), b = a == piece.from ? piece.to : piece.from;
    int32 slot = triangle_of(way), rights = 0, lefts = 0;
    int k = edge_of(way);
    while (true) {
        const int32 other = plane.triangles[slot].link[k];
        flip_and_note(plane, slot, k); // into (a, right, w) and (a, w, left), with the next vertex w
        const int32 w = plane.triangles[slot].vertex[2];
        if (w == b) {
            constrain(plane, a == piece.from ? half_edge(other, 2) : half_edge(slot, 1), s);
            cut_ears(plane, a, other, lefts + 1, true);
            cut_ears(plane, a, slot, rights + 1, false);
            return;
        }
        k = 0;
        if (orient2d(plane.points[a], plane.points[b], plane.points[w]) > 0)
            ++lefts;
        else
            ++rights, slot = other;
    }
}
