// The canonical numbering of triangles: it depends on the triangulation only, not on how it was made.
//
// A triangle begins with its lowest vertex, by the user's numbers. Triangles are sorted along the curve by that vertex
// (vertices in one cell of the curve by number), and those with the same lowest vertex by their second vertex.
#pragma once

#include "delaunay.hpp"

namespace triangulation {

constexpr size_t FACES_AT_ONCE = 1 << 14; // faces between two stop points

struct Numbering {
    Table<HalfEdge> faces; // by triangle: its face << 2 | the corner where it begins
    Table<int32> of;       // by face: its triangle << 2 | that corner; NOTHING for ghosts

    int32 triangle(int32 face) const { return of[face] == NOTHING ? NOTHING : of[face] >> 2; }

    // A half-edge by triangle; NOTHING beyond the hull.
    HalfEdge half_edge(HalfEdge h) const {
        const int32 number = of[face_of(h)];
        return number == NOTHING ? NOTHING : (number & ~3) | (edge_of(h) + 3 - (number & 3)) % 3;
    }
};

Numbering number_faces(const Delaunay &delaunay, int threads);

} // namespace triangulation
