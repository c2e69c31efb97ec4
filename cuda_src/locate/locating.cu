// Locates points in a mesh.
#include "geometry/curve.cuh"
#include "locate/containing.cuh"

constexpr int SORTED_LEVELS = 8;             // of the curve along which points are sorted, two bits of the key each
constexpr Index PREFETCHED = 16;             // points ahead
constexpr int TOGETHER = ONE_MEMBER ? 8 : 1; // searches of a thread at the same time

// The place of each point on a curve: points that are located one after the other should be close to each other.
KERNEL(key_points, const Point *points, float64 low_x, float64 low_y, float64 scale, uint32 *keys) {
    for (const Index i : launch)
        keys[i] = hilbert_index<uint32>(curve_cell(points[i].x, low_x, scale, SORTED_LEVELS),
                                        curve_cell(points[i].y, low_y, scale, SORTED_LEVELS), SORTED_LEVELS);
}

// The least index of a point with a coordinate that is infinite or not a number; 2^31 - 1 if there is none.
KERNEL(find_not_finite, const Point *points, int32 *least) {
    for (const Index i : launch)
        if (!(magnitude(points[i].x) < INFINITE && magnitude(points[i].y) < INFINITE))
            atomic_min(least, int32(i));
}

// found[i]: the triangle that contains points[i], or -1. Points are located in the order `order`; null: as they are.
KERNEL(locate_points, BoxTree triangles, const Point *points, const int32 *order, int32 *found) {
    Index places[TOGETHER];
    Point given[TOGETHER];
    int32 numbers[TOGETHER];
    int count = 0;
    for (const Index i : launch) {
        if (PREFETCHES && order != nullptr && i + PREFETCHED < launch.stop()) {
            prefetch(&points[order[i + PREFETCHED]]);
            prefetch(&found[order[i + PREFETCHED]]);
        }
        places[count] = order != nullptr ? order[i] : i;
        given[count] = points[places[count]];
        if (++count < TOGETHER && i + 1 < launch.stop())
            continue;
        find_triangles(triangles, count, given, numbers);
        for (int k = 0; k < count; ++k)
            found[places[k]] = numbers[k];
        count = 0;
    }
}
