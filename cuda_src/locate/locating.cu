// Locates points in a mesh.
#include "geometry/curve.cuh"
#include "locate/groups.cuh"

constexpr int SORTED_LEVELS = 12;             // of the curve along which points are sorted, two bits of the key each
constexpr int TOGETHER = ONE_MEMBER ? 32 : 1; // points of a group

// The place of each point on a curve: points that are located one after the other should be close to each other.
KERNEL(key_points, const Point *points, float64 low_x, float64 low_y, float64 scale, uint32 *keys) {
    for_groups_of_cells(
        launch,
        [&](Index i, uint32 &x, uint32 &y) {
            x = curve_cell(points[i].x, low_x, scale, SORTED_LEVELS);
            y = curve_cell(points[i].y, low_y, scale, SORTED_LEVELS);
        },
        [&](Index first, int count, uint32(&x)[KEYED], uint32(&y)[KEYED]) {
            uint32 key[KEYED];
            hilbert_indices(x, y, SORTED_LEVELS, 0, key);
            for (int k = 0; k < count; ++k)
                keys[first + k] = key[k];
        });
}

// The least index of a point with a coordinate that is infinite or not a number; 2^31 - 1 if there is none.
KERNEL(find_not_finite, const Point *points, int32 *least) {
    for (const Index i : launch)
        if (!(magnitude(points[i].x) < INFINITE && magnitude(points[i].y) < INFINITE))
            atomic_min(least, int32(i));
}

KERNEL(scatter_triangles, const int32 *found, const int32 *places, int32 *scattered) {
    for (const Index i : launch)
        scattered[places[i]] = found[i];
}

// found[i]: the triangle that contains points[i], or -1.
KERNEL(locate_points, BoxTree triangles, const Point *points, int32 *found) {
    Index first = 0;
    int count = 0;
    for (const Index i : launch) {
        first = count == 0 ? i : first;
        if (++count < TOGETHER && i + 1 < launch.stop())
            continue;
        find_triangles_of_group<TOGETHER>(triangles, count, points + first, found + first);
        count = 0;
    }
}
