// Places of points in a mesh, and the nearest edges, in bulk.
#include "geometry/steiner.cuh"
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

// Moves points outside the mesh to the nearest point of its boundary: moved[i] is that point, and found[i], which was
// -1, the triangle of its edge. Points inside stay. ends: three per boundary edge, as for `Background`.
KERNEL(move_to_boundary, BoxTree boundary, const Point *vertices, const int32 *ends, const int32 *owners,
       const Point *points, int32 *found, Point *moved) {
    for (const Index i : launch) {
        moved[i] = points[i];
        if (found[i] >= 0)
            continue;
        const Nearest nearest = nearest_edge(boundary, points[i]);
        const Index edge = nearest.edge;
        found[i] = owners[edge];
        moved[i] = point_on_segment(vertices[ends[3 * edge]], vertices[ends[3 * edge + 1]], nearest.place);
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
