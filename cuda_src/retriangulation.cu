// Retriangulation: the winners' cavities become fans around their new points.
//
// The k slots of a cavity are used again, the one or two more that a fan needs are claimed by a scan over the winners:
// the arrays never hold garbage, and where each triangle lands does not depend on who runs first.
#include "quality.cuh"

// What each winner needs: one vertex, slots beyond its own, triangles in all.
KERNEL(count_needs, const Extent *extents, const int32 *won, int32 *extra, int32 *fresh) {
    FOR_RANGE (i) {
        extra[i] = won[i] ? extents[i].edges - extents[i].members : 0;
        fresh[i] = won[i] ? extents[i].edges : 0;
    }
}

// Where the j-th triangle of a fan goes: the cavity's own slots first, then those claimed for it.
INLINE int32 fan_slot(const Cavity &cavity, const Extent &extent, int32 claimed, int j) {
    return j < extent.members ? cavity.member(j) : claimed + (j - extent.members);
}

// Makes `slot` what lies on the side of a subsegment where its edge starts at `from`.
INLINE void set_side(Subsegment *subsegments, int32 subsegment, int32 from, int32 slot) {
    if (subsegments[subsegment].from == from)
        subsegments[subsegment].left = slot;
    else
        subsegments[subsegment].right = slot;
}

// The triangle over rim edge j is (p, u, v); its edges are 0: u to v, 1: v to p, 2: p to u.
//
// Split subsegments: s = (from, to) becomes (from, p) under its old number and (p, to) under a new one; the spokes of
// the fan where the rim's chains end are their two sides.
KERNEL(retriangulate, const int32 *roots, Count segments, Count stamp, int32 room, int64 records, int32 *members,
       RimEdge *rims, const Extent *extents, const uint64 *keys, const Point *steiner, const float64 *parameters,
       const int32 *won, const int32 *vertex_offsets, const int32 *slot_offsets, const int32 *fresh_offsets,
       Count vertices, Count slots, Count subsegment_count, Triangle *triangles, Point *points, int32 *vertex_origin,
       float64 *vertex_parameter, Subsegment *subsegments, int32 *subsegment_origin, int32 *wishes, int32 *fresh) {
    FOR_RANGE (i) {
        if (!won[i])
            continue;
        const Cavity cavity(members, rims, records, room, i);
        const Extent extent = extents[i];
        const int32 p = vertices + vertex_offsets[i], claimed = slots + slot_offsets[i];
        points[p] = steiner[i];
        int32 split = NOTHING, split_rest = NOTHING; // (from, p) and (p, to)
        bool inner = true;
        if (i < segments) {
            split = roots[i];
            split_rest = subsegment_count + vertex_offsets[i]; // winning segments come first among the winners
            Subsegment &s = subsegments[split];
            inner = s.right != NOTHING;
            subsegments[split_rest] = {p, s.to, NOTHING, NOTHING};
            subsegment_origin[split_rest] = subsegment_origin[split];
            s.to = p;
            wishes[split] = wishes[split_rest] = NO_WISH;
            vertex_origin[p] = subsegment_origin[split];
            vertex_parameter[p] = parameters[i];
        } else {
            vertex_origin[p] = FREE_VERTEX;
            vertex_parameter[p] = 0.0;
        }
        for (int j = 0; j < extent.edges; ++j) {
            const RimEdge edge = cavity.edge(j);
            const int32 u = edge.vertex, v = cavity.edge(j + 1).vertex, beyond = edge.beyond;
            const int32 slot = fan_slot(cavity, extent, claimed, j);
            const bool first_left = split != NOTHING && j == 0, last_left = split != NOTHING && j == extent.left_edges - 1;
            const bool first_right = split != NOTHING && inner && j == extent.left_edges;
            const bool last_right = split != NOTHING && inner && j == extent.edges - 1;
            int32 after = NOTHING, before = NOTHING;
            if (last_left || last_right)
                after = ~(last_left ? split : split_rest);
            else
                after = fan_slot(cavity, extent, claimed, j + 1 == extent.edges ? 0 : j + 1);
            if (first_left || first_right)
                before = ~(first_left ? split_rest : split);
            else
                before = fan_slot(cavity, extent, claimed, j == 0 ? extent.edges - 1 : j - 1);
            if (last_left)
                subsegments[split].left = slot;
            if (first_left)
                subsegments[split_rest].left = slot;
            if (first_right)
                subsegments[split].right = slot;
            if (last_right)
                subsegments[split_rest].right = slot;
            Triangle &made = triangles[slot];
            made.vertex[0] = p, made.vertex[1] = u, made.vertex[2] = v;
            made.link[0] = beyond, made.link[1] = after, made.link[2] = before;
            racing_store(&made.owner, rebuilt_mark(keys[i]));
            fresh[fresh_offsets[i] + j] = slot;
            if (beyond < 0) {
                set_side(subsegments, ~beyond, u, slot);
            } else {
                // Another winner's triangle is being rebuilt right now: link_winners comes back to it.
                const int32 other = owner_of(triangles, beyond, stamp);
                if (other == NOTHING || other == i || !won[other]) {
                    Triangle &outside = triangles[beyond];
                    outside.link[edge_that_starts_at(outside, v)] = slot;
                }
            }
        }
    }
}

// Links across the edges that two winners share: each looks the edge up in the other's rim.
KERNEL(link_winners, Count stamp, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const int32 *won, const int32 *slot_offsets, Count slots, Triangle *triangles) {
    FOR_RANGE (i) {
        if (!won[i])
            continue;
        const Cavity cavity(members, rims, records, room, i);
        for (int j = 0; j < extents[i].edges; ++j) {
            const RimEdge edge = cavity.edge(j);
            if (edge.beyond < 0)
                continue;
            const int32 other = owner_of(triangles, edge.beyond, stamp);
            if (other == NOTHING || other == i || !won[other])
                continue;
            const Cavity across(members, rims, records, room, other);
            const int32 u = edge.vertex, v = cavity.edge(j + 1).vertex;
            int k = 0;
            while (k < extents[other].edges && (across.edge(k).vertex != v || across.edge(k + 1).vertex != u))
                ++k;
            triangles[fan_slot(cavity, extents[i], slots + slot_offsets[i], j)].link[0] =
                fan_slot(across, extents[other], slots + slot_offsets[other], k);
        }
    }
}

// ---- What travels with the triangles -----------------------------------------------------------------------------------

// Which input triangle each rim edge's new triangle descends from: that of the member which had the edge. Before
// retriangulate, while the members still are what they were; needed only where triangles carry something.
KERNEL(find_ancestors, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const int32 *won, const int32 *fresh_offsets, const Triangle *triangles, const int32 *ancestor,
       int32 *fresh_ancestor) {
    FOR_RANGE (i) {
        if (!won[i])
            continue;
        const Cavity cavity(members, rims, records, room, i);
        for (int j = 0; j < extents[i].edges; ++j) {
            const int32 u = cavity.edge(j).vertex, v = cavity.edge(j + 1).vertex;
            for (int k = 0; k < extents[i].members; ++k) {
                const Triangle &t = triangles[cavity.member(k)];
                const int e = edge_that_starts_at(t, u);
                if (edge_from(t, e) == u && edge_to(t, e) == v)
                    fresh_ancestor[fresh_offsets[i] + j] = ancestor[cavity.member(k)];
            }
        }
    }
}

KERNEL(inherit_ancestors, const int32 *fresh, const int32 *fresh_ancestor, int32 *ancestor) {
    FOR_RANGE (i)
        ancestor[fresh[i]] = fresh_ancestor[i];
}

// Vertex attributes of each new point: interpolated in the member that holds it (the first whose edges it is not
// beyond; on a split subsegment, up to rounding, the one beside it).
KERNEL(interpolate_attributes, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const Point *steiner, const int32 *won, const int32 *vertex_offsets, Count vertices, const Triangle *triangles,
       const Point *points, int32 width, float64 *attributes) {
    FOR_RANGE (i) {
        if (!won[i])
            continue;
        const Cavity cavity(members, rims, records, room, i);
        const Point p = steiner[i];
        int32 holder = cavity.member(0);
        for (int k = 0; k < extents[i].members; ++k) {
            const Triangle &t = triangles[cavity.member(k)];
            const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
            if (orient2d(a, b, p) >= 0 && orient2d(b, c, p) >= 0 && orient2d(c, a, p) >= 0) {
                holder = cavity.member(k);
                break;
            }
        }
        const Triangle &t = triangles[holder];
        const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
        // Weights from the three parts into which p cuts the triangle: never negative, so that no attribute leaves the
        // range of its neighbours, not even in a needle whose area is all rounding.
        const auto part = [&](Point u, Point v) {
            const float64 doubled = (u.x - p.x) * (v.y - p.y) - (u.y - p.y) * (v.x - p.x);
            return doubled > 0.0 ? doubled : 0.0;
        };
        const float64 pa = part(b, c), pb = part(c, a), pc = part(a, b), all = pa + pb + pc;
        const float64 wb = all > 0.0 ? pb / all : 1.0 / 3.0, wc = all > 0.0 ? pc / all : 1.0 / 3.0;
        const float64 *const va = attributes + Index(t.vertex[0]) * width;
        const float64 *const vb = attributes + Index(t.vertex[1]) * width;
        const float64 *const vc = attributes + Index(t.vertex[2]) * width;
        float64 *const made = attributes + Index(vertices + vertex_offsets[i]) * width;
        for (int32 column = 0; column < width; ++column)
            made[column] = va[column] + (wb * (vb[column] - va[column]) + wc * (vc[column] - va[column]));
    }
}

// totals = winners, extra slots, new triangles, winners among the subsegments: one short download.
KERNEL(gather_totals, const int32 *vertex_offsets, const int32 *slot_offsets, const int32 *fresh_offsets, Count count,
       Count segments, int32 *totals) {
    FOR_RANGE (i) {
        totals[i] = vertex_offsets[count];
        totals[i + 1] = slot_offsets[count];
        totals[i + 2] = fresh_offsets[count];
        totals[i + 3] = vertex_offsets[segments];
    }
}
