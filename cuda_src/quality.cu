// The quality check: which triangles are bad, and which subsegments their corners encroach on.
#include "quality.cuh"

// Whether the shortest edge of a skinny triangle joins two segments of one input corner at the same shell: then the
// corner's small angle forces it, and to split it would only make a smaller copy (Ruppert 1995, section 5; Shewchuk's
// Triangle leaves it likewise).
INLINE bool forced_by_corner(int32 p, int32 q, const Point *points, const int32 *vertex_origin,
                             const Subsegment *input_segments) {
    const int32 first = vertex_origin[p], second = vertex_origin[q];
    if (first < 0 || second < 0 || first == second)
        return false;
    const Subsegment a = input_segments[first], b = input_segments[second];
    int32 apex = NOTHING;
    if (a.from == b.from || a.from == b.to)
        apex = a.from;
    else if (a.to == b.from || a.to == b.to)
        apex = a.to;
    if (apex == NOTHING)
        return false;
    const float64 near = squared_length(points[apex], points[p]), far = squared_length(points[apex], points[q]);
    return near < 1.001 * far && far < 1.001 * near;
}

struct Bounds {
    float64 cosine_squared; // of the angle bound; a smaller angle has a larger one. 2 where there is no angle bound
    float64 doubled_area;   // twice the largest area; infinity where there is none
};

// One triangle: its quality word. Squared lengths and products only: the same bits everywhere, and each within a few
// units in the last place, which the stricter threshold (2^-40, dmr/thresholds.py) covers many times over.
INLINE uint32 quality_of(const Triangle &t, const Point *points, const int32 *vertex_origin,
                         const Subsegment *input_segments, Bounds bounds) {
    const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
    float64 least = squared_length(b, c);
    int apex = 0; // the corner opposite the shortest edge has the smallest angle
    const float64 ca = squared_length(c, a), ab = squared_length(a, b);
    float64 product = ca * ab;
    Point p = a, q = b, r = c;
    if (ca < least) {
        least = ca, apex = 1;
        p = b, q = c, r = a;
    }
    if (ab < least) {
        least = ab, apex = 2;
        p = c, q = a, r = b;
    }
    if (apex != 0)
        product = squared_length(p, q) * squared_length(p, r);
    const float64 dot = (q.x - p.x) * (r.x - p.x) + (q.y - p.y) * (r.y - p.y);
    const float64 doubled_area = (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
    if (dot > 0.0 && dot * dot > bounds.cosine_squared * product) {
        const bool forced = forced_by_corner(edge_from(t, apex), edge_to(t, apex), points, vertex_origin, input_segments);
        if (!forced)
            return BAD | SKINNY | shortness(least) >> 1;
        if (!(doubled_area > bounds.doubled_area))
            return FORCED;
    }
    return doubled_area > bounds.doubled_area ? BAD | magnitude_bits(doubled_area) >> 1 : 0;
}

INLINE void check_one(int32 slot, const Triangle *triangles, const Point *points,
                      const int32 *vertex_origin, const Subsegment *input_segments, const int32 *ancestor,
                      const float64 *area_bounds, float64 cosine_squared, float64 doubled_area, float64 lens,
                      uint32 *quality, int32 *wishes) {
    const Triangle t = triangles[slot];
    Bounds bounds = {cosine_squared, doubled_area};
    if (area_bounds != nullptr) {
        const float64 own = area_bounds[ancestor[slot]];
        if (own > 0.0 && 2.0 * own < bounds.doubled_area)
            bounds.doubled_area = 2.0 * own;
    }
    quality[slot] = quality_of(t, points, vertex_origin, input_segments, bounds);
    // In a constrained Delaunay triangulation the triangle beside a subsegment has the corner that sees it under the
    // largest angle: if that one does not encroach, no vertex does.
    for (int k = 0; k < 3; ++k)
        if (t.link[k] < 0 && encroaches(points[edge_from(t, k)], points[edge_to(t, k)], points[t.vertex[k]], lens))
            wish_split(wishes, ~t.link[k]);
}

// Checks the triangles of a list (work stealing: every thread has the same share of it).
KERNEL(check_listed, const int32 *slots, const Triangle *triangles, const Point *points,
       const int32 *vertex_origin, const Subsegment *input_segments, const int32 *ancestor, const float64 *area_bounds,
       float64 cosine_squared, float64 doubled_area, float64 lens, uint32 *quality, int32 *wishes) {
    FOR_RANGE (i)
        check_one(slots[i], triangles, points, vertex_origin, input_segments, ancestor, area_bounds,
                  cosine_squared, doubled_area, lens, quality, wishes);
}

// Checks the new triangles of each cavity by one thread (no balance: as many as the cavity made).
KERNEL(check_by_cavity, const int32 *won, const int32 *fresh_offsets, const int32 *slots, const Triangle *triangles,
       const Point *points, const int32 *vertex_origin,
       const Subsegment *input_segments, const int32 *ancestor, const float64 *area_bounds, float64 cosine_squared,
       float64 doubled_area, float64 lens, uint32 *quality, int32 *wishes) {
    FOR_RANGE (i)
        if (won[i])
            for (int32 j = fresh_offsets[i]; j < fresh_offsets[i + 1]; ++j)
                check_one(slots[j], triangles, points, vertex_origin, input_segments, ancestor,
                          area_bounds, cosine_squared, doubled_area, lens, quality, wishes);
}

// flags[i] = 1 where a listed triangle is bad and goes on competing. Of the first `old` entries, those that a winner
// of this step rebuilt are out: their new triangles are listed behind.
KERNEL(flag_bad, const int32 *slots, int32 old, const Triangle *triangles, const uint32 *quality, uint32 stamp,
       int32 *flags) {
    FOR_RANGE (i) {
        const int32 t = slots[i];
        flags[i] = to_refine(quality[t]) && !(i < old && was_rebuilt(triangles[t], stamp));
    }
}

// The cosines of each triangle's smallest and largest angle: what the least and the largest angle of a mesh are found by.
KERNEL(angle_cosines, const Triangle *triangles, const Point *points, float64 *smallest, float64 *largest) {
    FOR_RANGE (i) {
        const Triangle t = triangles[i];
        float64 low = 1.0, high = -1.0;
        for (int k = 0; k < 3; ++k) {
            const Point p = points[t.vertex[k]], q = points[edge_from(t, k)], r = points[edge_to(t, k)];
            const float64 dot = (q.x - p.x) * (r.x - p.x) + (q.y - p.y) * (r.y - p.y);
            const float64 cosine = dot / (square_root(squared_length(p, q)) * square_root(squared_length(p, r)));
            low = cosine < low ? cosine : low;
            high = cosine > high ? cosine : high;
        }
        smallest[i] = high;
        largest[i] = low;
    }
}
