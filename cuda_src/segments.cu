// Where subsegments are split.
#include "cavity.cuh"

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

// The split point of each listed subsegment: its middle; beside an acute input corner, where it meets the corner's
// concentric shells. The outcome is PRECISION where no coordinate lies between the ends, else UNDECIDED.
KERNEL(place_on_subsegments, const int32 *listed, const Triangle *triangles, const Subsegment *subsegments,
       const Subsegment *input_segments, const int32 *subsegment_origin, const Point *points, const float64 *vertex_parameter, const uint8 *acute,
       int32 input_vertices, Point *steiner, float64 *parameters, int32 *outcomes) {
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
        const Point p = point_on_segment(from, to, t);
        const Point a = points[s.from], b = points[s.to];
        const bool apart = resolvable(a, b) && t != start && t != end && (p.x != a.x || p.y != a.y) && (p.x != b.x || p.y != b.y);
        steiner[i] = p;
        parameters[i] = t;
        outcomes[i] = apart ? UNDECIDED : PRECISION;
    }
}
