// Grows one cavity: around the Steiner point of a bad triangle, or of a subsegment to be split.
//
// A launch over many candidates takes two kernels on a GPU (growth.cu): most triangles need no exact arithmetic, and
// without its registers three times as many threads run at once (80 registers per thread instead of 230). With exact
// arithmetic in the first kernel, too, refinement takes 8.4 instead of 6.7 ms for 1.1 million triangles, and 30 instead
// of 19 ms for 5.6 million (H200, 2026-11-26, least of 14 runs in turn). Rounds without launches have few candidates,
// and grow each of them at once, exactly where needed (grow_candidate).
#pragma once

#include "geometry/encroachment.cuh"
#include "refine/cavity/cavity.cuh"
#include "refine/cavity/petal.cuh"
#include "refine/quality/quality.cuh"

// Subsegments that block a triangle's point, and cuts. Requests that the subsegments be split instead.
struct Obstacles {
    bool any = false, resolved = true, free = true; // found any; none UNSPLITTABLE; none KEPT
    bool waits = false;                             // another tile must decide

    // A triangle that lies `flat` on the subsegment would also lie flat on its pieces.
    METHOD void add(const Mesh &mesh, int32 subsegment, bool flat) {
        const int32 state = flat ? int32(UNSPLITTABLE) : request_split(mesh.split_states, subsegment);
        any = true;
        resolved = resolved && state != UNSPLITTABLE;
        free = free && state != KEPT;
        waits = waits || state >= FIRST_WAITING;
    }

    METHOD void add_frozen_triangle() { any = waits = true; }

    METHOD Outcome outcome() const { return waits ? WAITING : (!resolved ? PRECISION : (free ? ENCROACHED : BLOCKED)); }
};

// The cavity of a triangle is first grown around its center, the off-center or circumcenter. If another point of its
// petal predicts fewer skinny triangles, it is grown around that point. If that point encroaches on a subsegment or
// lies too close to a vertex, it is grown around the center again.
enum Turn { AT_CENTER, ELSEWHERE, BACK };

// Whether a triangle lies on the line through u and v, to the precision of the coordinates.
INLINE bool lies_on_line(const Mesh &mesh, int32 triangle, Point u, Point v) {
    const Triangle t = without_owner(mesh.triangles[triangle]);
    return on_line(u, v, mesh.points[t.vertex[0]]) && on_line(u, v, mesh.points[t.vertex[1]]) &&
           on_line(u, v, mesh.points[t.vertex[2]]);
}

// Whether p lies strictly inside the circle of the frozen triangle beyond the cut edge from u to v, as a sign. A GPU
// leaves it to exact arithmetic: few cavities reach a cut.
template <Arithmetic arithmetic> INLINE int in_circle_beyond(const Mesh &mesh, int32 cut, Point u, Point v, Point p) {
    if (arithmetic == FILTERED && EXACT_IS_DEAR)
        return UNSURE;
    return incircle(mesh.beyond_cuts[cut - mesh.first_cut], v, u, p);
}

// Grows a triangle's cavity. If the center encroaches on a subsegment of the cavity boundary, or lies beyond it, the
// cavity is dropped for this round. The corners are reloaded in each iteration, because registers are scarce.
template <Arithmetic arithmetic, class Walk = Growth<arithmetic>>
INLINE Outcome grow_around_triangle(const Cavity &cavity, int32 root, const Mesh &mesh, const Limits &limits,
                                    Point *place, bool *off_center, Extent *extent) {
    const Point *const points = mesh.points;
    const auto corner_point = [&](int k) { return points[mesh.triangles[root].vertex[k]]; };
    const SteinerPoint center =
        steiner_point(corner_point(0), corner_point(1), corner_point(2), limits.off_center_limit);
    *place = center.place();
    *off_center = center.off_center;
    if (!resolvable(corner_point(0), corner_point(1)) || !resolvable(corner_point(1), corner_point(2)) ||
        !resolvable(corner_point(2), corner_point(0)))
        return PRECISION;
    const bool chooses = limits.clearance != INFINITE && (mesh.quality[root] & SKINNY) != 0;
    const float64 least_distance = limits.clearance * center.frame.squared_length(); // squared
    Petal petal(center, limits);
    for (int turn = AT_CENTER;; ++turn) {
        const Point p = *place;
        const int inside =
            in_range(p) ? incircle_with<arithmetic>(corner_point(0), corner_point(1), corner_point(2), p) : 0;
        if (inside == UNSURE)
            return DEFERRED;
        Walk growth(cavity, mesh.triangles, points, p);
        Outcome outcome = PRECISION;
        Obstacles obstacles;
        bool too_near = false;
        if (inside > 0) {
            growth.start_at(root);
            const auto meet = [&](int32 subsegment, Point u, Point v) {
                if (mesh.is_cut(subsegment)) {
                    const int beyond = in_circle_beyond<arithmetic>(mesh, subsegment, u, v, p);
                    if (beyond == UNSURE)
                        return UNSURE;
                    if (beyond <= 0)
                        return orient2d_with<arithmetic>(u, v, p);
                    if (turn == ELSEWHERE)
                        return 0;
                    obstacles.add_frozen_triangle();
                    return 1;
                }
                const int buffer = orient2d_with<arithmetic>(u, v, p);
                if (buffer == UNSURE)
                    return UNSURE;
                if (buffer <= 0 || encroaches(u, v, p, limits.lens)) {
                    if (turn == ELSEWHERE)
                        return 0;
                    obstacles.add(mesh, subsegment, lies_on_line(mesh, root, u, v));
                }
                return 1;
            };
            const auto pass = [&](Point u, Point v, bool first) {
                if (turn == ELSEWHERE)
                    too_near = too_near || squared_length(u, p) < least_distance;
                else if (chooses && turn == AT_CENTER && !obstacles.any)
                    petal.pass(u, v, first);
            };
            outcome = growth.run(meet, pass, [&](int32 subsegment, Point u, Point v) {
                return !mesh.is_cut(subsegment) && orient2d_with<arithmetic>(u, v, p) > 0 &&
                       !encroaches(u, v, p, limits.lens);
            });
        }
        if (outcome == DEFERRED)
            return DEFERRED;
        if (obstacles.any)
            return obstacles.outcome();
        if (turn == ELSEWHERE && (outcome != UNDECIDED || too_near)) {
            *place = center.place();
            *off_center = center.off_center;
            continue;
        }
        if (outcome == UNDECIDED)
            growth.finish();
        *extent = growth.extent();
        const int best = chooses && turn == AT_CENTER && outcome == UNDECIDED ? petal.best() : int(NOTHING);
        if (best == NOTHING)
            return outcome;
        *place = center.frame.place(petal_place(best, limits.off_center_limit));
        *off_center = true;
    }
}

INLINE bool in_circumcircle(const Triangle &t, const Point *points, Point p) {
    return incircle(points[t.vertex[0]], points[t.vertex[1]], points[t.vertex[2]], p) > 0;
}

// Grows a subsegment's cavity on both of its sides. The point lies on the subsegment up to rounding, so the adjacent
// triangles are members whatever the in-circle test says, and the subsegment is not in the cavity boundary.
INLINE Outcome grow_around_subsegment(const Cavity &cavity, const Subsegment &s, const Mesh &mesh, Point p,
                                      Extent *extent) {
    const Triangle *const triangles = mesh.triangles;
    const Point *const points = mesh.points;
    // Rounding can put p on the other side of the subsegment and, beside a needle, out of the needle's circumcircle.
    if (!in_circumcircle(triangles[s.left], points, p) ||
        (s.right != NOTHING && !in_circumcircle(triangles[s.right], points, p)))
        return PRECISION;
    Growth<EXACT> growth(cavity, triangles, points, p);
    bool waits = false;
    const auto sees = [&](int32 subsegment, Point u, Point v) {
        const bool beyond = mesh.is_cut(subsegment) && in_circle_beyond<EXACT>(mesh, subsegment, u, v, p) > 0;
        waits = waits || beyond;
        return beyond ? 1 : orient2d(u, v, p);
    };
    growth.start_behind(s.left, edge_that_starts_at(triangles[s.left], s.from));
    const auto unseen = [](Point, Point, bool) {};
    Outcome outcome = growth.run(sees, unseen);
    growth.extent().left_edges = growth.extent().edges;
    if (s.right != NOTHING && outcome == UNDECIDED) {
        growth.start_behind(s.right, edge_that_starts_at(triangles[s.right], s.to));
        outcome = growth.run(sees, unseen);
    }
    if (outcome == UNDECIDED)
        growth.finish();
    *extent = growth.extent();
    return waits ? WAITING : outcome;
}

// ---- Split points of subsegments ----------------------------------------------------------------------------------

constexpr float64 FEW_PIECES = 4.0;     // up to this many, a subsegment is cut in the middle
constexpr float64 MANY_PIECES = 0x1p40; // from this many on, the middle is as good as any other place

// The parameter of a vertex on an input segment; its ends have 0 and 1.
INLINE float64 parameter_of(int32 vertex, const Subsegment &segment, const float64 *vertex_parameter) {
    return vertex == segment.from ? 0.0 : (vertex == segment.to ? 1.0 : vertex_parameter[vertex]);
}

// Whether one triangle fills the corner between subsegment s and another subsegment at its end `apex`, on either side
// of s.
INLINE bool corner_is_one_triangle(const Subsegment &s, int32 apex, const Mesh &mesh) {
    const Triangle *const triangles = mesh.triangles;
    bool one = false;
    if (s.left != NOTHING) {
        const Triangle &t = triangles[s.left];
        const int e = edge_that_starts_at(t, s.from);
        one = mesh.is_subsegment(t.link[apex == s.from ? previous_corner(e) : next_corner(e)]);
    }
    if (s.right != NOTHING && !one) {
        const Triangle &t = triangles[s.right];
        const int e = edge_that_starts_at(t, s.to);
        one = mesh.is_subsegment(t.link[apex == s.to ? previous_corner(e) : next_corner(e)]);
    }
    return one;
}

// The distance from the acute corner `apex` of a vertex that encroaches on s and lies on another segment of that
// corner: s is to be cut at this distance as well. If it were cut elsewhere, the pieces of the two segments would
// encroach on each other along the whole wedge between them, down to its width (shells of every radius; compare Ruppert
// 1995, section 5). 0 if there is no such vertex, or if that cut would leave a piece much shorter than the width of the
// wedge.
INLINE float64 aligned_distance(const Subsegment &s, int32 apex, int32 across, const Triangle *triangles,
                                const Point *points, const Corners &corners, float64 lens) {
    const Point o = points[apex], a = points[s.from], b = points[s.to], far = points[across];
    for (int buffer = 0; buffer < 2; ++buffer) {
        const int32 t = buffer == 0 ? s.left : s.right;
        if (t == NOTHING)
            continue;
        const int32 v = triangles[t].vertex[edge_that_starts_at(triangles[t], buffer == 0 ? s.from : s.to)];
        const Point p = points[v];
        if (v == apex || !corners.hangs_from(v, apex) || !encroaches(a, b, p, lens))
            continue;
        const float64 distance = square_root(squared_length(o, p)), length = square_root(squared_length(o, far));
        const float64 dot = (p.x - o.x) * (far.x - o.x) + (p.y - o.y) * (far.y - o.y);
        const float64 cross = (p.x - o.x) * (far.y - o.y) - (p.y - o.y) * (far.x - o.x);
        const float64 from = square_root(squared_length(o, a)), to = square_root(squared_length(o, b));
        const float64 shorter = magnitude(distance - from) < magnitude(to - distance) ? distance - from : to - distance;
        if (dot > BELOW_60_DEGREES * (distance * length) && 4.0 * (magnitude(shorter) * length) > magnitude(cross))
            return distance;
    }
    return 0.0;
}

// The fraction of its length at which a subsegment is cut. If it is much longer than its distance to the opposite
// vertices, as the wall of a channel is, it will be cut into many pieces, each about `stretch` times as long as that
// distance. These should have equal lengths, and be no shorter than necessary: of n pieces, n / 2, rounded, go to each
// side. (Repeated halving would give up to twice as many as are needed.)
INLINE float64 part_of_half(const Subsegment &s, const Triangle *triangles, const Point *points, float64 stretch) {
    const Point a = points[s.from], b = points[s.to];
    float64 nearest = INFINITE;
    if (s.left != NOTHING) {
        const Triangle &t = triangles[s.left];
        nearest = squared_distance(points[corner(t, edge_that_starts_at(t, s.from))], a, b);
    }
    if (s.right != NOTHING) {
        const Triangle &t = triangles[s.right];
        const float64 distance = squared_distance(points[corner(t, edge_that_starts_at(t, s.to))], a, b);
        nearest = distance < nearest ? distance : nearest;
    }
    const float64 pieces = square_root(squared_length(a, b)) / (stretch * square_root(nearest));
    if (!(pieces > FEW_PIECES && pieces < MANY_PIECES))
        return 0.5;
    const int64 whole = int64(pieces), count = whole + (pieces > float64(whole));
    return float64(count / 2) / float64(count);
}

// Computes the split point of a subsegment: its middle, or near it; beside an acute input corner, where it meets the
// corner's concentric shells, or at the distance of a vertex on a neighbouring segment. Returns whether the coordinates
// can represent a point between the ends.
OUTLINE bool place_on_subsegment(const Mesh mesh, float64 lens, float64 stretch, int32 subsegment, Point *place,
                                 float64 *parameter) {
    const Triangle *const triangles = mesh.triangles;
    const Point *const points = mesh.points;
    const Subsegment s = mesh.subsegments[subsegment];
    const Subsegment whole = mesh.input_segments[mesh.subsegment_origin[subsegment]];
    const Point from = points[whole.from], to = points[whole.to];
    const float64 start = parameter_of(s.from, whole, mesh.vertex_parameter);
    const float64 end = parameter_of(s.to, whole, mesh.vertex_parameter);
    const bool acute_start =
        s.from < mesh.input_vertices && mesh.acute[s.from] && corner_is_one_triangle(s, s.from, mesh);
    const bool acute_end = s.to < mesh.input_vertices && mesh.acute[s.to] && corner_is_one_triangle(s, s.to, mesh);
    float64 t = 0.5 * (start + end);
    if (!acute_start && !acute_end)
        t = start + part_of_half(s, triangles, points, stretch) * (end - start);
    if (acute_start != acute_end) {
        const float64 length = square_root(squared_length(points[s.from], points[s.to]));
        const float64 fraction = shell_distance(length) / length;
        t = acute_start ? start + fraction * (end - start) : end + fraction * (start - end);
    }
    const Corners corners = mesh.corners();
    for (int32 apex : {whole.from, whole.to}) {
        const int32 across = apex == whole.from ? whole.to : whole.from;
        const float64 aligned =
            mesh.acute[apex] ? aligned_distance(s, apex, across, triangles, points, corners, lens) : 0.0;
        const float64 part = aligned / square_root(squared_length(from, to));
        const float64 cut = apex == whole.from ? part : 1.0 - part;
        if (aligned > 0.0 && cut > start && cut < end) {
            t = cut;
            break;
        }
    }
    const Point p = point_on_segment(from, to, t);
    const Point a = points[s.from], b = points[s.to];
    *place = p;
    *parameter = t;
    return resolvable(a, b) && t != start && t != end && (p.x != a.x || p.y != a.y) && (p.x != b.x || p.y != b.y);
}

// ---- Walls --------------------------------------------------------------------------------------------------------

// Whether the straight way from any point inside a triangle to a place crosses one of the walls.
//
// All triangles on the way, up to the first subsegment, have the place in their circumcircles, since the power of the
// place falls from each to the next. So the cavity of the place, however large, meets a subsegment that the place is
// beyond, and that is never split.
OUTLINE bool is_beyond_wall(const Mesh mesh, int32 root, Point p) {
    const Triangle t = without_owner(mesh.triangles[root]);
    for (Index wall = 0; wall < mesh.wall_count; ++wall) {
        const Subsegment s = mesh.subsegments[mesh.walls[wall]];
        const int side = orient2d(mesh.points[s.from], mesh.points[s.to], p);
        const Point a = mesh.points[side < 0 ? s.from : s.to], b = mesh.points[side < 0 ? s.to : s.from];
        bool crosses = side != 0; // from the left of a-b to the right
        for (int k = 0; k < 3 && crosses; ++k) {
            const Point v = mesh.points[t.vertex[k]];
            crosses = orient2d(a, b, v) >= 0 && orient2d(v, p, a) <= 0 && orient2d(v, p, b) >= 0;
        }
        if (crosses)
            return true;
    }
    return false;
}

// ---- One candidate ------------------------------------------------------------------------------------------------

// Grows the cavity of candidate i, a triangle, and records the result.
template <Arithmetic arithmetic, class Walk = Growth<arithmetic>>
INLINE Outcome grow_triangle_candidate(const Mesh &mesh, const Limits &limits, const Cavities &cavities, Index i) {
    Point place;
    bool off_center;
    Extent extent = {0, 0, 0};
    Outcome outcome = grow_around_triangle<arithmetic, Walk>(cavities.at(i), cavities.roots[i], mesh, limits, &place,
                                                             &off_center, &extent);
    if (outcome == OVERFLOWED && mesh.wall_count != 0) { // a large cavity in vain, such as beside a long wall
        if (arithmetic == FILTERED && EXACT_IS_DEAR)
            outcome = DEFERRED;
        else if (is_beyond_wall(mesh, cavities.roots[i], place))
            outcome = BLOCKED;
        if (outcome != OVERFLOWED)
            extent = {0, 0, 0};
    }
    cavities.steiner[i] = place;
    cavities.off_center[i] = off_center;
    cavities.extents[i] = extent;
    cavities.outcomes[i] = outcome;
    return outcome;
}

// The same for a subsegment. A cavity that is grown `again` keeps its point.
INLINE Outcome grow_segment_candidate(const Mesh &mesh, const Limits &limits, const Cavities &cavities, Index i,
                                      bool again) {
    const int32 subsegment = cavities.roots[i];
    Extent extent = {0, 0, 0};
    const bool apart = again || place_on_subsegment(mesh, limits.lens, limits.stretch, subsegment, &cavities.steiner[i],
                                                    &cavities.parameters[i]);
    const Outcome outcome =
        apart ? grow_around_subsegment(cavities.at(i), mesh.subsegments[subsegment], mesh, cavities.steiner[i], &extent)
              : PRECISION;
    cavities.extents[i] = extent;
    cavities.outcomes[i] = outcome;
    return outcome;
}

// Grows the cavity of candidate i. The first `segments` candidates are subsegments.
INLINE Outcome grow_candidate(const Mesh &mesh, const Limits &limits, const Cavities &cavities, Index i, Index segments,
                              bool again) {
    return i < segments ? grow_segment_candidate(mesh, limits, cavities, i, again)
                        : grow_triangle_candidate<EXACT>(mesh, limits, cavities, i);
}
