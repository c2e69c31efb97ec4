// Samples of a mesh: places in its triangles, more of them in larger ones, and the area that each stands for.
#include "mesh/triangles.cuh"

INLINE float64 area_of(const Triangle &t, const Point *points) {
    const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
    return 0.5 * magnitude((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
}

// The fraction of x >= 0, which is far below 2^63.
INLINE float64 fraction(float64 x) { return x - float64(int64(x)); }

KERNEL(triangle_areas, const Triangle *triangles, const Point *points, float64 *areas) {
    for (const Index t : launch)
        areas[t] = area_of(triangles[t], points);
}

// counts[t] = samples of triangle t, one more than `all` times its share of the area of the mesh, rounded down.
KERNEL(count_samples, const float64 *areas, float64 area, float64 all, int32 *counts) {
    for (const Index t : launch)
        counts[t] = 1 + int32(all * areas[t] / area);
}

// Places samples by a low-discrepancy sequence (Roberts 2018, "The Unreasonable Effectiveness of Quasirandom
// Sequences"). demands[k] = area of sample k over the smaller of its triangle's own bound, if that is above 0, and
// `everywhere`. `bounds` are those of ancestors, or of the triangles themselves.
KERNEL(place_samples, const Triangle *triangles, const Point *points, const float64 *areas, const int32 *offsets,
       const int32 *ancestor, const float64 *bounds, float64 everywhere, Point *places, float64 *shares,
       float64 *demands) {
    for (const Index t : launch) {
        const Point a = points[triangles[t].vertex[0]], b = points[triangles[t].vertex[1]];
        const Point c = points[triangles[t].vertex[2]];
        const float64 share = areas[t] / (offsets[t + 1] - offsets[t]);
        const float64 own = bounds == nullptr ? 0.0 : bounds[ancestor == nullptr ? t : Index(ancestor[t])];
        const float64 bound = own > 0 && own < everywhere ? own : everywhere;
        for (Index k = offsets[t]; k < offsets[t + 1]; ++k) {
            const float64 u = fraction((k + 1) * 0.7548776662466927), v = fraction((k + 1) * 0.5698402909980532);
            const bool outside = u + v > 1.0; // of the triangle, inside the other half of the parallelogram
            const float64 x = outside ? 1.0 - u : u, y = outside ? 1.0 - v : v;
            places[k] = {a.x + x * (b.x - a.x) + y * (c.x - a.x), a.y + x * (b.y - a.y) + y * (c.y - a.y)};
            shares[k] = share;
            demands[k] = share / bound;
        }
    }
}

// Raises demands to the area of a sample over that of a square whose sides are a length at its place.
KERNEL(raise_demands, const float64 *shares, const float64 *lengths, float64 factor, float64 *demands) {
    for (const Index k : launch) {
        const float64 demand = factor * shares[k] / (lengths[k] * lengths[k]);
        if (demand > demands[k])
            demands[k] = demand;
    }
}
