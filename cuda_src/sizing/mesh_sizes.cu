// Sizes on the vertices or triangles of a mesh; a point outside it takes the size at the nearest point of the mesh.
#include "locate/background.cuh"
#include "sizing/interpolation.cuh"

KERNEL(lower_by_mesh, BoxTree triangles, BoxTree boundary, Background mesh, const Point *points, const float64 *values,
       int32 on_triangles, float64 *sizes) {
    int32 last = -1; // consecutive points are often near to each other
    for (const Index i : launch) {
        const Place place = place_of(triangles, boundary, mesh, points[i], last);
        last = place.triangle;
        if (on_triangles) {
            lower(sizes[i], values[place.triangle]);
            continue;
        }
        const float64 around[3] = {values[place.corner[0]], values[place.corner[1]], values[place.corner[2]]};
        lower(sizes[i], weighted_mean(place.weights, around));
    }
}
