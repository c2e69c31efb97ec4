// The parts into which segments divide the plane, and the parts that hold given points.
//
// Parts are the trees of a forest over the triangles in their canonical numbers plus 1; 0 stands for the outside.
// Triangles across an edge that is no segment are joined by hooking the higher root below the lower one, so the root of
// a part is its lowest triangle, or 0, in whatever order edges are processed (Jaiganesh and Burtscher, "A
// high-performance connected components implementation for GPUs", 2018, section 3).
#include "triangulate/half_edges.cuh"

constexpr int32 ON_SEGMENT = -1, BEYOND_HULL = -2; // places that are in no triangle

// The root of an entry. Every step leads to a lower entry; the path is halved.
INLINE int32 root_of(int32 *roots, int32 entry) {
    int32 parent = racing_load(&roots[entry]);
    while (parent != entry) {
        const int32 above = racing_load(&roots[parent]);
        if (above == parent)
            return parent;
        atomic_min(&roots[entry], above);
        entry = above;
        parent = racing_load(&roots[entry]);
    }
    return entry;
}

INLINE void join(int32 *roots, int32 one, int32 other) {
    int32 low = root_of(roots, one), high = root_of(roots, other);
    while (low != high) {
        if (low > high) {
            const int32 kept = low;
            low = high, high = kept;
        }
        if (compare_and_swap(&roots[high], high, low) == high)
            return;
        high = root_of(roots, high);
        low = root_of(roots, low);
    }
}

// Joins each listed triangle to its neighbours, and unless the hull is closed to the outside.
KERNEL(join_parts, Plane plane, const int32 *listed, const int32 *number, int32 hull_is_closed, int32 *roots) {
    for (const Index i : launch) {
        const Triangle &t = plane.triangles[listed[i] >> 2];
        for (const int32 across : t.link) {
            if (across < 0)
                continue;
            const int32 other = number[across];
            if (other > i || (other == NOTHING && !hull_is_closed))
                join(roots, int32(i) + 1, other + 1);
        }
    }
}

// flags[i] = 1 if the i-th triangle is the lowest of its part, and its part is not the outside.
KERNEL(flag_lowest, int32 *roots, int32 *flags) {
    for (const Index i : launch)
        flags[i] = root_of(roots, int32(i) + 1) == i + 1;
}

// Labels parts by the order of their lowest triangles, from 1 on; `before` is the scan of the flags. The outside is 0.
KERNEL(label_parts, int32 *roots, const int32 *before, int32 *labels) {
    for (const Index i : launch) {
        const int32 root = root_of(roots, int32(i) + 1);
        labels[i] = root == 0 ? 0 : before[root];
    }
}

// flags[i] = 1 if the part of the i-th triangle is kept.
KERNEL(flag_kept, const int32 *labels, const uint8 *kept, int32 *flags) {
    for (const Index i : launch)
        flags[i] = kept[labels[i]] != 0;
}

// Moves the kept triangles together: the k-th of them is triangle listed[k], and `before` is the scan of their flags.
KERNEL(keep_triangles, const int32 *listed, const int32 *flags, const int32 *before, const int32 *corners,
       const int32 *neighbours, const int32 *labels, int32 *kept_corners, int32 *kept_neighbours, int32 *kept_labels) {
    for (const Index i : launch) {
        const Index t = listed[i];
        for (int k = 0; k < 3; ++k) {
            const int32 across = neighbours[3 * t + k];
            kept_corners[3 * i + k] = corners[3 * t + k];
            kept_neighbours[3 * i + k] = across == NOTHING || !flags[across] ? NOTHING : before[across];
        }
        kept_labels[i] = labels[t];
    }
}

// Numbers half-edges of kept triangles anew.
KERNEL(renumber_sides, const int32 *before, int32 *sides) {
    for (const Index i : launch)
        sides[i] = half_edge(before[triangle_of(sides[i])], edge_of(sides[i]));
}

// The labels on both sides of exported pieces (export_pieces in numbering.cu).
KERNEL(labels_beside, const Subsegment *pieces, const int32 *labels, int32 *left, int32 *right) {
    for (const Index s : launch) {
        left[s] = pieces[s].left == NOTHING ? BEYOND_HULL : labels[triangle_of(pieces[s].left)];
        right[s] = pieces[s].right == NOTHING ? BEYOND_HULL : labels[triangle_of(pieces[s].right)];
    }
}

// labels[i] = the label of triangle places[i]; negative places stand for themselves.
KERNEL(gather_labels, const int32 *all, const int32 *places, int32 *labels) {
    for (const Index i : launch)
        labels[i] = places[i] < 0 ? places[i] : all[places[i]];
}

INLINE bool is_ghost(const Plane &plane, int32 slot) { return ghost_corner(plane.triangles[slot]) != NOTHING; }

// Whether a subsegment ends at the start of a half-edge.
INLINE bool is_on_segment(const Plane &plane, int32 first) {
    int32 h = first;
    do {
        if (on_subsegment(plane, h))
            return true;
        h = around(plane, h);
    } while (h != first);
    return false;
}

// A triangle on an edge that holds a place, or ON_SEGMENT.
INLINE int32 place_on(const Plane &plane, int32 h) {
    if (on_subsegment(plane, h))
        return ON_SEGMENT;
    return triangle_of(is_ghost(plane, triangle_of(h)) ? twin(plane, h) : h);
}

// The slot of the triangle that contains p, or one of the values above. The walk follows the straight line from the
// start of a half-edge, so it ends in any triangulation; from a vertex on the line it starts again, nearer to p.
INLINE int32 containing(const Plane &plane, int32 first, Point p) {
    int32 start = start_of(plane, first), h = first;
    bool at_start = true; // otherwise the line crosses h, which is opposite the start or beyond
    for (uint32 step = 1;; ++step) {
        if (step % 4096 == 0)
            STOP_POINT();
        if (at_start && same_place(plane.points[start], p)) {
            if (is_on_segment(plane, h))
                return ON_SEGMENT;
            while (is_ghost(plane, triangle_of(h)))
                h = around(plane, h);
            return triangle_of(h);
        }
        if (at_start) {
            h = toward(plane, h, p);
            if (h == NOTHING)
                return BEYOND_HULL;
            at_start = false;
            const int32 end = end_of(plane, h);
            if (start_of(plane, h) == start) {
                if (strictly_between(plane.points[start], plane.points[end], p))
                    return place_on(plane, h);
                h = next(h); // leaves its end
                start = end;
                at_start = true;
            }
            continue;
        }
        const int beyond = orient2d(plane.points[start_of(plane, h)], plane.points[end_of(plane, h)], p);
        if (beyond >= 0)
            return beyond == 0 ? place_on(plane, h) : triangle_of(h);
        h = twin(plane, h);
        const int32 v = apex_of(plane, h);
        if (v == GHOST)
            return BEYOND_HULL;
        const int side = orient2d(plane.points[start], p, plane.points[v]);
        if (side == 0 && strictly_between(plane.points[start], plane.points[v], p))
            return triangle_of(h);
        at_start = side == 0;
        start = at_start ? v : start;
        h = side > 0 ? next(h) : previous(h); // if v is on the line, this one leaves it
    }
}

// found[i] = the triangle that contains the i-th place, in canonical numbers, or one of the values above.
KERNEL(locate_places, Plane plane, const Point *places, const int32 *listed, const int32 *number, int32 *found) {
    for (const Index i : launch) {
        const int32 slot = containing(plane, half_edge(listed[0] >> 2, 0), places[i]);
        found[i] = slot < 0 ? slot : number[slot];
    }
}
