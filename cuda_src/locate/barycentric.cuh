// Barycentric coordinates of a point in a triangle that contains it.
#pragma once

#include "geometry/points.cuh"

// A triangle counts as thin if its area is not above the rounding of the two products that it is the difference of:
// this multiple of their magnitudes.
constexpr float64 THIN = 256 * 0x1p-53;

INLINE float64 cross(Point u, Point v) { return u.x * v.y - u.y * v.x; }
INLINE Point minus(Point p, Point q) { return {p.x - q.x, p.y - q.y}; }

INLINE float64 between_0_and_1(float64 x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }

// The place of the point of an edge that is nearest to p: 0 at u and 1 at v.
INLINE float64 place_along(Point u, Point v, Point p) {
    const Point along = minus(v, u), rest = minus(p, u);
    const float64 length = along.x * along.x + along.y * along.y;
    return length > 0.0 ? between_0_and_1((rest.x * along.x + rest.y * along.y) / length) : 0.0;
}

// The weights in a triangle that rounding makes a line: those of the nearest point on its longest edge, except at a
// corner.
INLINE void barycentric_in_thin(const Point (&corner)[3], Point p, float64 (&weights)[3]) {
    int longest = 0; // the edge opposite this corner
    float64 most = -1.0;
    for (int k = 0; k < 3; ++k) {
        const float64 length = squared_length(corner[k == 2 ? 0 : k + 1], corner[k == 0 ? 2 : k - 1]);
        longest = length > most ? k : longest;
        most = length > most ? length : most;
    }
    const int start = longest == 2 ? 0 : longest + 1, stop = longest == 0 ? 2 : longest - 1;
    const bool is_apex = p.x == corner[longest].x && p.y == corner[longest].y;
    const float64 place = place_along(corner[start], corner[stop], p);
    weights[longest] = is_apex ? 1.0 : 0.0;
    weights[start] = is_apex ? 0.0 : 1.0 - place;
    weights[stop] = is_apex ? 0.0 : place;
}

// weights: not negative, with sum 1 up to rounding, and exactly 1 at a corner.
INLINE void barycentric(const Point (&corner)[3], Point p, float64 (&weights)[3]) {
    const Point u = minus(corner[1], corner[0]), v = minus(corner[2], corner[0]);
    const float64 left = u.x * v.y, right = u.y * v.x, twice_area = left - right;
    const bool is_thin = magnitude(twice_area) <= THIN * (magnitude(left) + magnitude(right));
    const float64 sign = twice_area < 0.0 ? -1.0 : 1.0;
    const Point a = minus(corner[0], p), b = minus(corner[1], p), c = minus(corner[2], p);
    const float64 areas[] = {sign * cross(b, c), sign * cross(c, a), sign * cross(a, b)};
    float64 whole = 0.0;
    for (int k = 0; k < 3; ++k) {
        weights[k] = areas[k] > 0.0 ? areas[k] : 0.0; // rounding may have made it negative
        whole += weights[k];
    }
    // Two corners that are near to each other may coincide in the differences from a point that is far from both.
    if (is_thin || magnitude(whole - magnitude(twice_area)) > 0.5 * magnitude(twice_area)) {
        barycentric_in_thin(corner, p, weights);
        return;
    }
    for (int k = 0; k < 3; ++k)
        weights[k] /= whole;
}
