// Steiner points: circumcenters and off-centers for triangles, midpoints and concentric shells for segments.
#pragma once

#include "geometry/predicates.cuh"

// Sets a coordinate to zero if it is smaller than the predicates are exact for.
INLINE float64 admitted(float64 x) { return x < SMALLEST_COORDINATE && x > -SMALLEST_COORDINATE ? 0.0 : x; }

// Whether the predicates are exact for a point. The circumcenter of a needle may lie outside their range.
INLINE bool in_range(Point p) {
    return p.x < LARGEST_COORDINATE && p.x > -LARGEST_COORDINATE && p.y < LARGEST_COORDINATE &&
           p.y > -LARGEST_COORDINATE;
}

// Whether the coordinates can represent points between a and b. They cannot if the distance of the two is less than
// 2^-48 of the largest coordinate, 16 to 32 units in the last place: rounded points would land too far from where they
// are meant to be, and edges could shrink without end in one coordinate that the other cannot follow. The checker uses
// the same fraction, and that of `on_line` (dmr/validation/bounds/unrefined.py).
INLINE float64 larger(float64 x, float64 y) { return magnitude(x) > magnitude(y) ? magnitude(x) : magnitude(y); }
INLINE float64 resolution(Point a, Point b) { return 0x1p-48 * larger(larger(a.x, a.y), larger(b.x, b.y)); }
INLINE bool resolvable(Point a, Point b) {
    const float64 least = resolution(a, b);
    return squared_length(a, b) >= least * least;
}

// Whether the distance of p from the line through a and b is less than 2^-49 of the largest coordinate, 8 to 16 units
// in the last place: a piece of ab on which p does not encroach would be too short to be resolved.
INLINE bool on_line(Point a, Point b, Point p) {
    const float64 cross = (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x), least = 0.5 * resolution(a, b);
    return cross * cross < least * least * squared_length(a, b);
}

// The frame of a triangle's shortest edge: p is (0, 0), q is (1, 0), and the third corner lies above them.
struct Frame {
    Point p;
    float64 dx, dy, scale;

    METHOD Frame(Point p, Point q) : p(p), dx(q.x - p.x), dy(q.y - p.y), scale(1.0 / squared_length()) {}

    METHOD float64 squared_length() const { return dx * dx + dy * dy; } // of pq

    // Maps a point from the frame to the plane. Computed relative to p, so that a large offset of the coordinates costs
    // only one rounding.
    METHOD Point place(Point in_frame) const {
        return {admitted(p.x + (in_frame.x * dx - in_frame.y * dy)),
                admitted(p.y + (in_frame.x * dy + in_frame.y * dx))};
    }

    METHOD Point of(Point place) const {
        const float64 x = place.x - p.x, y = place.y - p.y;
        return {(x * dx + y * dy) * scale, (y * dx - x * dy) * scale};
    }
};

struct SteinerPoint {
    Frame frame;          // of the shortest edge
    float64 height;       // of the point over it, in units of its length
    float64 circumcenter; // likewise, of the circumcenter
    bool off_center;

    METHOD Point place() const { return frame.place({0.5, height}); }
};

// The off-center of triangle abc (Ungor, "Off-centers: a new type of Steiner points", 2004), or its circumcenter if
// that is nearer. Both lie on the bisector of the shortest edge pq, at a height of h |pq| over its midpoint:
//
//     circumcenter    h = cot(angle at r) / 2          r being the third corner
//     off-center      h = limit = cot(bound / 2) / 2, a little less: the new triangle pq + point has just the bound
//
// With limit = infinity it is always the circumcenter.
INLINE SteinerPoint steiner_point(Point a, Point b, Point c, float64 limit) {
    const float64 ab = squared_length(a, b), bc = squared_length(b, c), ca = squared_length(c, a);
    const Point corners[] = {a, b, c};
    const int first = int((bc < ab) & (bc <= ca)) + 2 * int((ca < ab) & (ca < bc)); // no branches, see one_of
    const Point p = one_of(corners, first), q = one_of(corners, next_corner(first)),
                r = one_of(corners, previous_corner(first));
    const float64 ux = p.x - r.x, uy = p.y - r.y, vx = q.x - r.x, vy = q.y - r.y;
    const float64 height = 0.5 * ((ux * vx + uy * vy) / (ux * vy - uy * vx));
    const bool off_center = !(height <= limit); // also where a needle's area rounds to zero
    const float64 h = off_center ? limit : height;
    return {Frame(p, q), h, height, off_center};
}

// One coordinate of a + t (b - a), rounded once to within half an ulp (and a trifle) of the exact value.
INLINE float64 interpolate(float64 a, float64 b, float64 t) {
    const Pair length = exact_difference(b, a);
    const Pair way = exact_product(t, length.high);
    const float64 sum = a + way.high; // a + way.high = sum + error exactly (Knuth)
    const float64 way_virtual = sum - a, a_virtual = sum - way_virtual;
    const float64 error = (a - a_virtual) + (way.high - way_virtual);
    return admitted(sum + (error + (way.low + t * length.low)));
}

// The point with parameter t on an input segment, computed from the original ends, so that pieces of pieces stay on it.
INLINE Point point_on_segment(Point from, Point to, float64 t) {
    return {interpolate(from.x, to.x, t), interpolate(from.y, to.y, t)};
}

// The distance from an acute input corner at which a piece of this length that starts there is cut: a power of two
// between a third and two thirds of the length, so that all segments that meet there are cut at the same distances
// (Ruppert 1995, section 5: concentric shells).
INLINE float64 shell_distance(float64 length) {
    float64 distance = 1.0;
    while (length > 3.0 * distance)
        distance *= 2.0;
    while (length < 1.5 * distance)
        distance *= 0.5;
    return distance;
}
