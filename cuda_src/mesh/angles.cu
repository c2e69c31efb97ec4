// The smallest and the largest angle of a mesh, by their cosines, and the aspect ratios of its triangles.
#include "primitives/extremes.cuh"
#include "mesh/triangles.cuh"

constexpr int ITEMS = 16;               // triangles per member
constexpr int TILE = TEAM_SIZE * ITEMS; // triangles per team
constexpr Index AHEAD = 8;              // a CPU prefetches the points of a triangle this many iterations ahead

// Margin for a squared cosine with its sign: far more than rounding accounts for, and far less than angles differ by.
// Roots and quotients are computed only for angles that may be the smallest or the largest so far.
constexpr float64 MARGIN = 0x1p-40;

INLINE float64 signed_square(float64 x) { return x * magnitude(x); }

// Widens the range from low to high so that it holds the cosines of the triangle's angles.
INLINE void widen(const Triangle &t, const Point *points, float64 &low, float64 &high) {
    float64 squared[3]; // of the edge opposite each corner
    for (int k = 0; k < 3; ++k)
        squared[k] = squared_length(points[edge_from(t, k)], points[edge_to(t, k)]);
    for (int k = 0; k < 3; ++k) {
        const Point p = points[t.vertex[k]], q = points[edge_from(t, k)], r = points[edge_to(t, k)];
        const float64 dot = (q.x - p.x) * (r.x - p.x) + (q.y - p.y) * (r.y - p.y);
        const float64 to_q = squared[previous_corner(k)], to_r = squared[next_corner(k)], scale = to_q * to_r;
        if (signed_square(dot) > (signed_square(low) + MARGIN) * scale &&
            signed_square(dot) < (signed_square(high) - MARGIN) * scale)
            continue;
        const float64 cosine = dot / (square_root(to_q) * square_root(to_r));
        low = cosine < low ? cosine : low;
        high = cosine > high ? cosine : high;
    }
}

TEAM_KERNEL(angle_tiles, const Triangle *triangles, const Point *points, int64 count, float64 *tile_low,
            float64 *tile_high) {
    TEAM_SHARED(float64, low, TEAM_SIZE);
    TEAM_SHARED(float64, high, TEAM_SIZE);
    // A thread that does the work of several members continues with the extremes that it has found: the narrower the
    // range, the more roots are spared. Those of the whole mesh are the same.
    float64 found_low = 1.0, found_high = -1.0;
    find_extremes(launch, low, high, tile_low, tile_high, [&](Index tile, int member, float64 &least, float64 &most) {
        least = ONE_MEMBER ? found_low : 1.0;
        most = ONE_MEMBER ? found_high : -1.0;
        const Index begin = tile * TILE + Index(member) * ITEMS;
        const Index end = begin + ITEMS < count ? begin + ITEMS : count;
        for (Index i = begin; i < end; ++i) {
            if (i + AHEAD < count)
                for (int k = 0; k < 3; ++k)
                    prefetch(&points[triangles[i + AHEAD].vertex[k]]);
            widen(triangles[i], points, least, most);
        }
        found_low = least;
        found_high = most;
    });
}

// The longest edge of each triangle over its height there, at most `most`.
KERNEL(aspect_ratios, const Triangle *triangles, const Point *points, float64 most, float64 *ratios) {
    for (const Index t : launch) {
        const Point a = points[triangles[t].vertex[0]], b = points[triangles[t].vertex[1]];
        const Point c = points[triangles[t].vertex[2]];
        const float64 ab = squared_length(a, b), bc = squared_length(b, c), ca = squared_length(c, a);
        const float64 longest = ab > bc ? (ab > ca ? ab : ca) : (bc > ca ? bc : ca);
        const float64 ratio = longest / magnitude((b.x - a.x) * (a.y - c.y) - (b.y - a.y) * (a.x - c.x));
        ratios[t] = ratio < most ? ratio : most; // also where it is not a number
    }
}

// ratios[i] = area of the i-th triangle over the smaller of its ancestor's bound, if that is above 0, and `everywhere`.
KERNEL(area_ratios, const Triangle *triangles, const Point *points, const int32 *ancestor, const float64 *bounds,
       float64 everywhere, float64 *ratios) {
    for (const Index i : launch) {
        const Triangle &t = triangles[i];
        const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
        float64 bound = everywhere;
        if (bounds != nullptr) {
            const float64 own = bounds[ancestor[i]];
            if (own > 0 && own < bound)
                bound = own;
        }
        ratios[i] = 0.5 * ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)) / bound;
    }
}
