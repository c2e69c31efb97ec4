// Places of points in a mesh, and the nearest edges, in bulk.
#include "locate/background.cuh"

// Three corners and weights per point.
KERNEL(place_points, BoxTree triangles, BoxTree boundary, Background mesh, const Point *points, int32 *found,
       int32 *corners, float64 *weights) {
    int32 last = -1; // consecutive points are often near to each other
    for (const Index i : launch) {
        const Place place = place_of(triangles, boundary, mesh, points[i], last);
        found[i] = last = place.triangle;
        for (int k = 0; k < 3; ++k) {
            corners[3 * i + k] = place.corner[k];
            weights[3 * i + k] = place.weights[k];
        }
    }
}

// The edge nearest to each point, and its place there: 0 at its start and 1 at its end.
KERNEL(find_nearest_edges, BoxTree edges, const Point *points, int32 *nearest, float64 *places) {
    for (const Index i : launch) {
        const Nearest found = nearest_edge(edges, points[i]);
        nearest[i] = found.edge;
        places[i] = found.place;
    }
}
