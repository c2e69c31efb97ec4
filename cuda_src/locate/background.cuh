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
    const int32 *links;   // three per triangle, as in Mesh.neighbours, if no two triangles overlap; otherwise null

    METHOD Point corner(int32 triangle, int k) const { return vertices[corners[3 * Index(triangle) + k]]; }

    // The only triangle that contains a point, if a short walk from another one finds it; otherwise -1.
    METHOD int32 walk(int32 triangle, Point point) const {
        constexpr int MOST_STEPS = 16;
        if (!ONE_MEMBER || !links) // on a GPU, each thread has its own points
            return -1;
        const Point p = with_exact_coordinates(point);
        for (int step = 0; step < MOST_STEPS && triangle >= 0; ++step) {
            bool is_inside = true;
            int32 across = -1;
            for (int k = 0; k < 3; ++k) {
                const int side = orient2d(corner(triangle, (k + 1) % 3), corner(triangle, (k + 2) % 3), p);
                is_inside = is_inside && side > 0;
                across = side < 0 ? links[3 * Index(triangle) + k] : across;
            }
            if (is_inside)
                return triangle;
            triangle = across; // also -1 if the point is on an edge
        }
        return -1;
    }
};

struct Place {
    int32 triangle;     // the one that contains the point, or the owner of the nearest boundary edge
    int32 corner[3];    // vertices
    float64 weights[3]; // not negative, with sum 1
};

// The place of a point. It does not depend on the `guess`, a triangle near the point, or -1.
INLINE Place place_of(const BoxTree &triangles, const BoxTree &boundary, const Background &mesh, Point p, int32 guess) {
    Place place;
    place.triangle = mesh.walk(guess, p);
    if (place.triangle < 0)
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
