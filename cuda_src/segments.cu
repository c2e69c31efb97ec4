// Where subsegments are split.
#include "cavity.cuh"
#include "corners.cuh"

// The parameter of a vertex on an input segment: 0 and 1 at its ends.
INLINE float64 parameter_of(int32 vertex, const Subsegment &segment, const float64 *vertex_parameter) {
    return vertex == segment.from ? 0.0 : (vertex == segment.to ? 1.0 : vertex_parameter[vertex]);
}

// Whether one triangle fills the corner between subsegment s and another one at its end `apex`, on either side of s.
INLINE bool corner_is_one_triangle(const Subsegment &s, int32 apex, const Triangle *triangles) {
    bool one = false;
    if (s.left != NOTHING) {
        const Triangle &t = triangles[s.left];
        const int e = edge_that_starts_at(t, s.from);
        one = t.link[apex == s.from ? previous_corner(e) : next_corner(e)] < 0;
    }
    if (s.right != NOTHING && !one) {
        const Triangle &t = triangles[s.right];
        const int e = edge_that_starts_at(t, s.to);
        one = t.link[apex == s.to ? previous_corner(e) : next_corner(e)] < 0;
    }
    return one;
}

// How far from the acute corner `apex` a vertex lies that encroaches on s, where it lies on another segment that starts
// there: the distance at which s is to be cut as well. Cut anywhere else, the pieces of the two segments would encroach on
// each other along the whole wedge between them, down to its width (shells of every radius; compare Ruppert 1995,
// section 5). 0 where there is no such vertex, or where that cut would leave a piece much shorter than the wedge is wide.
INLINE float64 aligned_distance(const Subsegment &s, int32 apex, int32 beyond, const Triangle *triangles, const Point *points,
                                const Corners &corners, float64 lens) {
    const Point o = points[apex], a = points[s.from], b = points[s.to], far = points[beyond];
    for (int side = 0; side < 2; ++side) {
        const int32 t = side == 0 ? s.left : s.right;
        if (t == NOTHING)
            continue;
        const int32 v = triangles[t].vertex[edge_that_starts_at(triangles[t], side == 0 ? s.from : s.to)];
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

// The split point of each listed subsegment: its middle; beside an acute input corner, where it meets the corner's
// concentric shells, or where a vertex on a neighbouring segment does. The outcome is PRECISION where no coordinate lies
// between the ends, else UNDECIDED.
KERNEL(place_on_subsegments, const int32 *listed, const Triangle *triangles, const Subsegment *subsegments,
       const Subsegment *input_segments, const int32 *subsegment_origin, const Point *points,
       const int32 *vertex_origin, const float64 *vertex_parameter, const int32 *anchor, const uint8 *acute,
       float64 lens, int32 input_vertices, Point *steiner, float64 *parameters, int32 *outcomes) {
    FOR_RANGE (i) {
        const Subsegment s = subsegments[listed[i]];
        const Subsegment whole = input_segments[subsegment_origin[listed[i]]];
        const Point from = points[whole.from], to = points[whole.to];
        const float64 start = parameter_of(s.from, whole, vertex_parameter);
        const float64 end = parameter_of(s.to, whole, vertex_parameter);
        const bool acute_start = s.from < input_vertices && acute[s.from] && corner_is_one_triangle(s, s.from, triangles);
        const bool acute_end = s.to < input_vertices && acute[s.to] && corner_is_one_triangle(s, s.to, triangles);
        float64 t = 0.5 * (start + end);
        if (acute_start != acute_end) {
            const float64 length = square_root(squared_length(points[s.from], points[s.to]));
            const float64 fraction = shell_distance(length) / length;
            t = acute_start ? start + fraction * (end - start) : end + fraction * (start - end);
        }
        const Corners corners = {vertex_origin, input_segments, anchor};
        for (int32 apex : {whole.from, whole.to}) {
            const int32 beyond = apex == whole.from ? whole.to : whole.from;
            const float64 aligned = acute[apex] ? aligned_distance(s, apex, beyond, triangles, points, corners, lens) : 0.0;
            const float64 part = aligned / square_root(squared_length(from, to));
            const float64 cut = apex == whole.from ? part : 1.0 - part;
            if (aligned > 0.0 && cut > start && cut < end) {
                t = cut;
                break;
            }
        }
        const Point p = point_on_segment(from, to, t);
        const Point a = points[s.from], b = points[s.to];
        const bool apart = resolvable(a, b) && t != start && t != end && (p.x != a.x || p.y != a.y) &&
                           (p.x != b.x || p.y != b.y);
        steiner[i] = p;
        parameters[i] = t;
        outcomes[i] = apart ? UNDECIDED : PRECISION;
    }
}
