// The triangles around a vertex: its star.
#pragma once

#include "mesh/triangles.cuh"

constexpr int MOST_AROUND = 64; // triangles around a vertex that moves
constexpr float64 NEEDLE = 4.0; // ratio of two edges of a triangle that is left as it is

// Calls visit(triangle, number, place of the vertex in it) for the triangles around a free vertex, counter-clockwise,
// from `first` on. Returns how many there are, at most MOST_AROUND.
template <class Visit>
INLINE int for_triangles_around(const Triangle *triangles, int32 vertex, int32 first, Visit visit) {
    int32 t = first;
    int count = 0;
    do {
        const Triangle one = without_owner(triangles[t]);
        const int k = one.vertex[0] == vertex ? 0 : (one.vertex[1] == vertex ? 1 : 2);
        visit(one, t, k);
        t = link_across(one, next_corner(k));
        ++count;
    } while (t != first && t >= 0 && count < MOST_AROUND);
    return t == first ? count : MOST_AROUND;
}

// The same for the other two corners of each triangle: visit(next, previous).
template <class Visit> INLINE int for_star(const Triangle *triangles, int32 vertex, int32 first, Visit visit) {
    return for_triangles_around(triangles, vertex, first, [&](const Triangle &one, int32, int k) {
        visit(corner(one, next_corner(k)), corner(one, previous_corner(k)));
    });
}
