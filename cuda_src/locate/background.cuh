// The place of a point in a mesh, as corners and weights, also outside: there, that of the nearest point of the mesh.
#pragma once

#include "locate/containing.cuh"
#include "locate/nearest.cuh"

// Data of places beside the trees of the triangles and of the boundary edges.
KERNEL_STRUCT(Background) {
    const Point *vertices;
    const int32 *corners; // three per triangle
    const int32 *ends;    // three per boundary edge: its start, its end, and its end again
    const int32 *owners;  // of each boundary edge: a triangle
};

struct Place {
    int32 triangle;     // the one that contains the point, or the owner of the nearest boundary edge
    int32 corner[3];    // vertices
    float64 weights[3]; // not negative, with sum 1
};

INLINE Place place_of(const BoxTree &triangles, const BoxTree &boundary, const Background &mesh, Point p) {
    Place place;
    place.triangle = containing_triangle(triangles, p);
    if (place.triangle >= 0) {
        Point corner[3];
        for (int k = 0; k < 3; ++k) {
            place.corner[k] = mesh.corners[3 * Index(place.triangle) + k];
            corner[k] = mesh.vertices[place.corner[k]];
        }
        barycentric(corner, p, place.weights);
        return place;
    }
    const Nearest nearest = nearest_edge(boundary, p);
    place.triangle = mesh.owners[nearest.edge];
    for (int k = 0; k < 3; ++k)
        place.corner[k] = mesh.ends[3 * Index(nearest.edge) + k];
    place.weights[0] = 1.0 - nearest.place;
    place.weights[1] = nearest.place;
    place.weights[2] = 0.0;
    return place;
}
