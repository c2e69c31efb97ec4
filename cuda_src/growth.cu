// Growing cavities: around the Steiner point of a bad triangle, or of a subsegment that is to be split.
#include "quality.cuh"

// A triangle's cavity. Where the point encroaches on a subsegment of the rim, or lies beyond it, that subsegment is
// asked to be split instead, and the cavity is dropped for this round.
INLINE Outcome grow_around_triangle(const Cavity &cavity, int32 root, const Triangle *triangles, const Point *points,
                                    float64 limit, float64 lens, int32 *wishes, SteinerPoint *made, Extent *extent) {
    const Triangle t = triangles[root];
    const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
    *made = steiner_point(a, b, c, limit);
    const Point p = made->place;
    if (!resolvable(a, b) || !resolvable(b, c) || !resolvable(c, a))
        return PRECISION;
    if (!in_range(p) || incircle(a, b, c, p) <= 0)
        return PRECISION;
    Growth growth(cavity, triangles, points, p);
    growth.start_at(root);
    bool encroached = false, resolved = true, free = true; // subsegments in the way; none without room, none kept
    Outcome outcome = growth.run([&](int32 subsegment, int32 from, int32 to) {
        const Point u = points[from], v = points[to];
        if (orient2d(u, v, p) <= 0 || encroaches(u, v, p, lens)) {
            // A triangle that lies flat on the subsegment would lie flat on its pieces, too.
            const bool flat = on_line(u, v, a) && on_line(u, v, b) && on_line(u, v, c);
            const int32 wish = flat ? int32(UNSPLITTABLE) : wish_split(wishes, subsegment);
            encroached = true;
            resolved = resolved && wish != UNSPLITTABLE;
            free = free && wish != KEPT;
        }
        return true;
    });
    if (encroached)
        return !resolved ? PRECISION : (free ? ENCROACHED : BLOCKED);
    if (outcome == UNDECIDED)
        growth.finish(cavity.edge(0).vertex);
    *extent = growth.extent();
    return outcome;
}

// Grows the cavities of triangles; where only_damaged is 1, those that another cavity has changed, and no others.
KERNEL(grow_triangle_cavities, const int32 *roots, Count segments, int32 only_damaged, const Triangle *triangles,
       const Point *points, float64 limit, float64 lens, int32 *wishes, int32 room, int64 records, int32 *members,
       RimEdge *rims, Point *steiner, uint8 *off_center, Extent *extents, int32 *outcomes) {
    FOR_RANGE (i) {
        if (i < segments || (only_damaged && outcomes[i] != DAMAGED))
            continue;
        prefetch_triangles(roots, i, range_end, triangles, points);
        const Cavity cavity(members, rims, records, room, i);
        SteinerPoint made;
        Extent extent = {0, 0, 0};
        outcomes[i] = grow_around_triangle(cavity, roots[i], triangles, points, limit, lens, wishes, &made, &extent);
        steiner[i] = made.place;
        off_center[i] = made.off_center;
        extents[i] = extent;
    }
}

INLINE bool in_circumcircle(const Triangle &t, const Point *points, Point p) {
    return incircle(points[t.vertex[0]], points[t.vertex[1]], points[t.vertex[2]], p) > 0;
}

// A subsegment's cavity, on both of its sides. The point lies on the subsegment up to rounding, so the triangles beside
// it are members whatever the in-circle test says, and the subsegment is no rim.
KERNEL(grow_segment_cavities, const int32 *roots, int32 only_damaged, const Triangle *triangles,
       const Subsegment *subsegments, const Point *points, int32 room, int64 records, int32 *members, RimEdge *rims,
       const Point *steiner, Extent *extents, int32 *outcomes) {
    FOR_RANGE (i) {
        if (outcomes[i] == PRECISION || (only_damaged && outcomes[i] != DAMAGED)) // no room between its ends, or whole
            continue;
        const Cavity cavity(members, rims, records, room, i);
        const Subsegment s = subsegments[roots[i]];
        const Point p = steiner[i];
        // Rounding can put p beyond the subsegment, and beside a needle out of the needle's circle.
        if (!in_circumcircle(triangles[s.left], points, p) ||
            (s.right != NOTHING && !in_circumcircle(triangles[s.right], points, p))) {
            outcomes[i] = PRECISION;
            continue;
        }
        Growth growth(cavity, triangles, points, p);
        const auto sees = [&](int32, int32 from, int32 to) { return orient2d(points[from], points[to], p) > 0; };
        growth.start_behind(s.left, edge_that_starts_at(triangles[s.left], s.from));
        Outcome outcome = growth.run(sees);
        growth.extent().left_edges = growth.extent().edges;
        if (s.right != NOTHING && outcome == UNDECIDED) {
            growth.start_behind(s.right, edge_that_starts_at(triangles[s.right], s.to));
            outcome = growth.run(sees);
        }
        if (outcome == UNDECIDED)
            growth.finish(s.right == NOTHING ? s.from : s.to);
        extents[i] = growth.extent();
        outcomes[i] = outcome;
    }
}

// A triangle whose cavity has no room in an ordinary record waits for the pass with large ones.
KERNEL(set_large, const int32 *roots, Count segments, const int32 *outcomes, uint32 *quality) {
    FOR_RANGE (i)
        if (outcomes[i] == OVERFLOWED && i >= segments)
            quality[roots[i]] |= LARGE;
}

// What cannot be resolved is not tried again: the triangle until it is rebuilt, the subsegment until all else is done.
KERNEL(give_up, const int32 *roots, Count segments, const int32 *outcomes, uint32 *quality, int32 *wishes) {
    FOR_RANGE (i) {
        if (outcomes[i] == PRECISION && i < segments)
            wishes[roots[i]] = UNSPLITTABLE;
        else if (outcomes[i] == PRECISION)
            quality[roots[i]] |= GIVEN_UP;
        else if (outcomes[i] == BLOCKED)
            quality[roots[i]] |= GIVEN_UP | HELD;
    }
}

// What had no room may have some when all else is done.
KERNEL(clear_unsplittable, int32 *wishes) {
    FOR_RANGE (s)
        if (wishes[s] == UNSPLITTABLE)
            wishes[s] = NO_WISH;
}
