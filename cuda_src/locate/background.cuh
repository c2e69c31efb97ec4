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
    int64 is_simple;      // whether the boundary touches itself nowhere

    METHOD Point corner(int32 triangle, int k) const { return vertices[corners[3 * Index(triangle) + k]]; }

    // The triangle with the lowest number that contains a point, if a short walk from another one finds it; otherwise
    // -1.
    METHOD int32 walk(int32 triangle, Point point) const {
        constexpr int MOST_STEPS = 16;
        if (!ONE_MEMBER || !links) // on a GPU, each thread has its own points
            return -1;
        const Point p = with_exact_coordinates(point);
        for (int step = 0; step < MOST_STEPS && triangle >= 0; ++step) {
            bool is_outside = false;
            int on_edges = 0, edge = 0, edges = 0; // those that the point is on: how many, the last, the sum
            int32 across = -1;
            for (int k = 0; k < 3; ++k) {
                const int side = orient2d(corner(triangle, (k + 1) % 3), corner(triangle, (k + 2) % 3), p);
                if (side < 0)
                    is_outside = true, across = links[3 * Index(triangle) + k];
                else if (side == 0)
                    ++on_edges, edge = k, edges += k;
            }
            if (!is_outside)
                return on_edges == 0   ? triangle
                       : on_edges == 1 ? lowest_across(triangle, edge)
                                       : lowest_around(triangle, 3 - edges);
            triangle = across;
        }
        return -1;
    }

    // The lowest number of the triangles on an edge; -1 where others may touch it.
    METHOD int32 lowest_across(int32 triangle, int edge) const {
        const int32 across = links[3 * Index(triangle) + edge];
        return across < 0 ? (is_simple ? triangle : -1) : across < triangle ? across : triangle;
    }

    // The lowest number of the triangles around a corner; -1 where others may touch it, and if there are very many.
    METHOD int32 lowest_around(int32 triangle, int at) const {
        constexpr int MOST_AROUND = 32;
        const int32 vertex = corners[3 * Index(triangle) + at];
        int32 lowest = triangle;
        for (int way = 1; way <= (is_simple ? 2 : 1); ++way) { // counter-clockwise, and from the boundary on clockwise
            int32 t = triangle;
            for (int turn = 0; turn < MOST_AROUND && t >= 0; ++turn) {
                const int32 *const of = corners + 3 * Index(t);
                const int k = of[0] == vertex ? 0 : of[1] == vertex ? 1 : 2;
                t = links[3 * Index(t) + (k + way) % 3];
                if (t == triangle)
                    return lowest;
                lowest = t >= 0 && t < lowest ? t : lowest;
            }
            if (t >= 0)
                return -1;
        }
        return is_simple ? lowest : -1;
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
