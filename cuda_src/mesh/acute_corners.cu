// Finds the vertices at which two neighbouring segments enclose less than 60 degrees of the domain, and the vertices
// that a segment joins to them.
#include "mesh/corners.cuh"

// Whether the direction to q is less than 60 degrees counter-clockwise of that to p, as seen from o.
INLINE bool is_acute(Point o, Point p, Point q) {
    const float64 ux = p.x - o.x, uy = p.y - o.y, vx = q.x - o.x, vy = q.y - o.y;
    const float64 dot = ux * vx + uy * vy, cross = ux * vy - uy * vx;
    return cross > 0 && dot > 0 &&
           dot * dot > BELOW_60_DEGREES * BELOW_60_DEGREES * ((ux * ux + uy * uy) * (vx * vx + vy * vy));
}

// Whether the segment from -> to is followed, counter-clockwise around its start, by another segment at less than 60
// degrees. The walk over the triangles between them begins at `left`, on the left of from -> to, and ends where its
// angle is no longer acute: it does not come round to where it began.
INLINE bool starts_at_acute_corner(const Triangle *triangles, const Point *points, int32 from, int32 to, int32 left) {
    const Point o = points[from], p = points[to];
    for (int32 t = left; t >= 0;) {
        const Triangle here = without_owner(triangles[t]);
        const int at = edge_that_starts_at(here, from);
        if (!is_acute(o, p, points[corner(here, at)]))
            return false;
        t = link_across(here, previous_corner(at));
    }
    return true;
}

// Flags the acute corners in `acute`, per vertex; `any` becomes 1 if there is one.
KERNEL(flag_acute_corners, const Subsegment *subsegments, const Triangle *triangles, const Point *points, uint8 *acute,
       int32 *any) {
    for (const Index i : launch) {
        const Subsegment s = subsegments[i];
        for (int side = 0; side < 2; ++side) {
            const int32 from = side == 0 ? s.from : s.to, to = side == 0 ? s.to : s.from;
            const int32 left = side == 0 ? s.left : s.right;
            if (left != NOTHING && starts_at_acute_corner(triangles, points, from, to, left)) {
                racing_store(&acute[from], uint8(1));
                racing_store(any, 1);
            }
        }
    }
}

// Notes for each vertex the last segment that joins it to an acute corner: those that end there count as later than
// those that start there. `latest` is NOTHING before.
KERNEL(find_anchors, const Subsegment *subsegments, const uint8 *acute, int32 count, int32 *latest) {
    for (const Index i : launch) {
        const Subsegment s = subsegments[i];
        if (acute[s.from])
            atomic_max(&latest[s.to], int32(i));
        if (acute[s.to])
            atomic_max(&latest[s.from], int32(i) + count);
    }
}

// Replaces the noted segments by their acute corners.
KERNEL(name_anchors, const Subsegment *subsegments, int32 count, int32 *latest) {
    for (const Index v : launch) {
        const int32 noted = latest[v];
        if (noted != NOTHING)
            latest[v] = noted < count ? subsegments[noted].from : subsegments[noted - count].to;
    }
}
