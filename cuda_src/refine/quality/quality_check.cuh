// Quality check of one triangle: whether it is bad, and on which subsegments its corners encroach.
//
// Load balancing decides which thread checks which triangles: quality.cu and child_launch.cu have the kernels. In
// rounds without launches (run_rounds.cuh) the members of each team share the checks.
#pragma once

#include "geometry/encroachment.cuh"
#include "geometry/steiner.cuh"
#include "mesh/mesh.cuh"
#include "refine/quality/urgency.cuh"

// Whether the corner of two segments forces a skinny triangle. It does if the shortest edge pq joins the segments at
// the same shell, and the angle at r, opposite pq, is no less than that under which such an edge is seen from the next
// shell, twice as far from the corner: arctan(sin phi / (2 - cos phi)). Splitting the triangle would only make a
// smaller copy (Ruppert 1995, section 5; Miller, Pav and Walkington 2003; Shewchuk's Triangle leaves it likewise). A
// triangle with a smaller angle is refined as usual: the long piece beyond the shell is cut.
INLINE bool forced_by_corner(int32 p, int32 q, int32 r, const Point *points, const Corners &corners) {
    const int32 apex = corners.any_acute ? corners.common(p, q) : NOTHING;
    if (apex == NOTHING)
        return false;
    const Point o = points[apex], u = points[p], v = points[q], w = points[r];
    const float64 near = squared_length(o, u), far = squared_length(o, v);
    if (!(near < 1.001 * far && far < 1.001 * near))
        return false;
    // phi at o, and the angle at r: both as |cross| and dot product, scaled by the lengths of their sides.
    const float64 dot_o = (u.x - o.x) * (v.x - o.x) + (u.y - o.y) * (v.y - o.y);
    const float64 cross_o = magnitude((u.x - o.x) * (v.y - o.y) - (u.y - o.y) * (v.x - o.x));
    const float64 dot_r = (u.x - w.x) * (v.x - w.x) + (u.y - w.y) * (v.y - w.y);
    const float64 cross_r = magnitude((u.x - w.x) * (v.y - w.y) - (u.y - w.y) * (v.x - w.x));
    const float64 lengths = square_root(near) * square_root(far);
    return dot_o > BELOW_60_DEGREES * lengths &&
           cross_r * (2.0 * lengths - dot_o) >= (1.0 - 0x1p-31) * (cross_o * dot_r);
}

// Whether the two edges at a triangle's corner are subsegments: the input then determines the angle between them.
INLINE bool is_input_corner(const Triangle &t, int k, const Mesh &mesh) {
    return mesh.is_subsegment(link_across(t, next_corner(k))) && mesh.is_subsegment(link_across(t, previous_corner(k)));
}

struct Bounds {
    float64 cosine_squared; // of the angle bound; a smaller angle has a larger one; 2: no bound
    float64 doubled_area;   // twice the largest area; infinity: no bound
    float64 squared_size;   // of the longest edge; infinity: no bound
    bool worst_first;       // urgency of skinny triangles: by smallest angle, instead of shortest edge
    bool grouped;           // see urgency.cuh
};

// Computes the quality word of one triangle. It uses squared lengths and products only: the bits are the same
// everywhere, and each value is within a few units in the last place, which the stricter threshold (2^-40,
// dmr/refinement/steps/thresholds.py) covers many times over.
INLINE uint32 quality_of(const Triangle &t, const Mesh &mesh, const Corners &corners, Bounds bounds) {
    const Point *const points = mesh.points;
    const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
    const float64 bc = squared_length(b, c), ca = squared_length(c, a), ab = squared_length(a, b);
    const float64 opposite[] = {bc, ca, ab};
    const bool third = (ab < bc) & (ab < ca);                  // no branches, see one_of
    const int apex = 2 * int(third) + int((ca < bc) & !third); // opposite the shortest edge: it has the smallest angle
    const float64 least = one_of(opposite, apex);
    const Point corners_of_t[] = {a, b, c};
    const Point p = one_of(corners_of_t, apex), q = one_of(corners_of_t, next_corner(apex)),
                r = one_of(corners_of_t, previous_corner(apex));
    const float64 pq = one_of(opposite, previous_corner(apex)), pr = one_of(opposite, next_corner(apex)); // longer ones
    const float64 dot = (q.x - p.x) * (r.x - p.x) + (q.y - p.y) * (r.y - p.y);
    // The area plus its rounding error, which in a needle can be as large as the area itself.
    const float64 left = (q.x - p.x) * (r.y - p.y), right = (q.y - p.y) * (r.x - p.x);
    const float64 doubled_area = (left - right) + 4.0 * EPSILON * (magnitude(left) + magnitude(right));
    const bool too_large = doubled_area > bounds.doubled_area || pq > bounds.squared_size || pr > bounds.squared_size;
    if (dot > 0.0 && dot * dot > bounds.cosine_squared * (pq * pr)) {
        const bool forced = is_input_corner(t, apex, mesh) ||
                            forced_by_corner(edge_from(t, apex), edge_to(t, apex), corner(t, apex), points, corners);
        if (!forced) {
            const uint32 by_angle = uint32(0x1p22 * (dot * dot / (pq * pr)));
            return BAD | SKINNY |
                   (bounds.worst_first ? (by_angle < SKINNY ? by_angle : SKINNY - 1)
                                       : urgency_of_edge(least, q, bounds.grouped));
        }
        if (!too_large)
            return FORCED;
    }
    return too_large ? BAD | magnitude_bits(doubled_area) >> 1 : 0;
}

// Statistics of how the checks were distributed: counters of the whole run.
enum ShareCounter : int32 {
    CHILDREN,      // kernels launched from the device
    REFUSED,       // kernels that could not be launched
    SHARES,        // indices of a launch (GPU threads) that checked at least one triangle
    CHECKED,       // triangles checked
    LARGEST_SHARE, // largest number of triangles that one index checked
};

// The inputs of a check. All of its pointers may be null.
struct QualityCheck {
    Mesh mesh;
    Limits limits;
    const float64 *sizes;      // by place in the list: the longest edge allowed in that triangle
    const float64 *area_roots; // by place in the list: the square root of the largest area allowed
    int64 *shares;

    // Checks the triangle in `slot`, the i-th of the list.
    METHOD void check(int32 slot, Index i) const {
        TriangleToRead t = mesh.triangles[slot];
        const Point *const points = mesh.points;
        const Corners corners = mesh.corners();
        const float64 stricter = 1.0 - 0x1p-40; // as in dmr/refinement/steps/thresholds.py
        Bounds bounds = {limits.cosine_squared, limits.doubled_area, limits.squared_edge, limits.worst_first != 0,
                         limits.grouped != 0};
        if (sizes != nullptr) {
            const float64 squared_size = stricter * (sizes[i] * sizes[i]);
            if (squared_size < bounds.squared_size)
                bounds.squared_size = squared_size;
        }
        if (area_roots != nullptr) {
            const float64 doubled_area = 2.0 * stricter * (area_roots[i] * area_roots[i]);
            if (doubled_area < bounds.doubled_area)
                bounds.doubled_area = doubled_area;
        }
        if (mesh.area_bounds != nullptr && !limits.first) {
            const float64 own = 2.0 * stricter * mesh.area_bounds[mesh.ancestor[slot]];
            if (own > 0.0 && own < bounds.doubled_area)
                bounds.doubled_area = own;
        }
        mesh.quality[slot] = (mesh.quality[slot] & LISTED) | quality_of(t, mesh, corners, bounds);
        // In a constrained Delaunay triangulation, the corner that sees a subsegment under the largest angle is that of
        // the triangle beside it: if this corner does not encroach, no vertex does.
        const bool none = (t.link[0] | t.link[1] | t.link[2]) >= 0; // one test for most triangles
        for (int k = none ? 3 : 0; k < 3; ++k)
            if (mesh.is_subsegment(link_across(t, k))) {
                const Point u = points[edge_from(t, k)], v = points[edge_to(t, k)], p = points[corner(t, k)];
                if (encroaches(u, v, p, limits.lens) && !on_line(u, v, p) &&
                    !corners.cut_alike(corner(t, k), edge_from(t, k), edge_to(t, k), points))
                    request_split(mesh.split_states, ~link_across(t, k));
            }
    }

    // Adds a share of `length` triangles to the statistics, if these are kept.
    METHOD void count_share(int32 length) const {
        if (shares == nullptr || length == 0)
            return;
        atomic_add(&shares[SHARES], int64(1));
        atomic_add(&shares[CHECKED], int64(length));
        atomic_max(&shares[LARGEST_SHARE], int64(length));
    }
};

// Checks the triangles among a thread's share of a list.
template <class Share>
INLINE void check_triangles(const Share &share, const int32 *slots, const QualityCheck &of_triangle) {
    for (const Index i : share) {
        prefetch_triangles(slots, i, share.stop(), of_triangle.mesh.triangles, of_triangle.mesh.points);
        of_triangle.check(slots[i], i);
        of_triangle.count_share(1);
    }
}
