// A triangulation of the whole plane: triangles inside the convex hull of the vertices, and ghosts outside of it.
//
//               v                    A ghost face (u, v, GHOST) lies beyond each edge of the hull: thus every edge has
//              /|                    two faces, and a half-plane is a ghost's counterpart of a circumcircle
//      hull   / |  ghost face        (Shewchuk, "Lecture Notes on Delaunay Mesh Generation", section 3.4): p is in
//            /  |  (u, v, GHOST)     conflict with a face if the face must be removed when p is inserted.
//           w---u
//
// Corners of a face run counter-clockwise; edge k is the one opposite corner k and runs from corner k + 1 to corner k +
// 2 (modulo 3), as in cuda_src/mesh/triangles.cuh. A half-edge is face << 2 | edge; each knows its twin.
#pragma once

#include "geometry/ties.cuh"
#include "mesh/triangles.cuh"
#include "threads.hpp"

// Steps for each inserted point: g++ would not inline it into more than one loop, which makes insertion 5% slower.
#define INLINED [[gnu::always_inline]] inline

namespace triangulation {

using HalfEdge = int32;

constexpr int32 GHOST = -1; // the vertex at infinity; NOTHING stands for no face, no half-edge, no segment

struct Face {
    int32 vertex[3];
    HalfEdge twin[3];
};

INLINE HalfEdge half_edge(int32 face, int edge) { return face << 2 | edge; }
INLINE int32 face_of(HalfEdge h) { return h >> 2; }
INLINE int edge_of(HalfEdge h) { return h & 3; }
INLINE HalfEdge next(HalfEdge h) { return half_edge(face_of(h), next_corner(edge_of(h))); }
INLINE HalfEdge previous(HalfEdge h) { return half_edge(face_of(h), previous_corner(edge_of(h))); }

class Plane {
  public:
    Table<Point> points;
    Table<int32> number; // by vertex: the lowest of the points there, in the user's numbers; breaks ties
    Table<Face> faces;
    // If there are segments:
    Table<int32> segment_at; // by half-edge: the segment that contains it, or NOTHING
    Table<int32> face_at;    // by vertex: one of its faces

    int32 from(HalfEdge h) const { return faces[face_of(h)].vertex[next_corner(edge_of(h))]; }
    int32 to(HalfEdge h) const { return faces[face_of(h)].vertex[previous_corner(edge_of(h))]; }
    int32 apex(HalfEdge h) const { return faces[face_of(h)].vertex[edge_of(h)]; }
    HalfEdge twin(HalfEdge h) const { return faces[face_of(h)].twin[edge_of(h)]; }

    bool is_constrained(HalfEdge h) const { return !segment_at.empty() && segment_at[h] != NOTHING; }

    // The next half-edge with the same origin as h, counter-clockwise.
    HalfEdge around(HalfEdge h) const { return twin(previous(h)); }

    bool is_ghost(int32 face) const {
        const Face &f = faces[face];
        return f.vertex[0] == GHOST || f.vertex[1] == GHOST || f.vertex[2] == GHOST;
    }

    void link(HalfEdge h, HalfEdge other) {
        faces[face_of(h)].twin[edge_of(h)] = other;
        faces[face_of(other)].twin[edge_of(other)] = h;
    }

    // Makes two half-edges twins, which a segment contains, or NOTHING.
    void join(HalfEdge h, HalfEdge other, int32 segment) {
        link(h, other);
        segment_at[h] = segment_at[other] = segment;
    }

    void set_face(int32 face, int32 a, int32 b, int32 c) {
        const int32 vertices[3] = {a, b, c};
        for (int k = 0; k < 3; ++k) {
            faces[face].vertex[k] = vertices[k];
            if (vertices[k] != GHOST)
                face_at[vertices[k]] = face;
        }
    }

    // A half-edge that leaves a vertex.
    HalfEdge leaving(int32 vertex) const {
        const Face &f = faces[face_at[vertex]];
        const int k = f.vertex[0] == vertex ? 0 : (f.vertex[1] == vertex ? 1 : 2);
        return half_edge(face_at[vertex], previous_corner(k));
    }

    int side(int32 u, int32 v, Point p) const { return orient2d(points[u], points[v], p); }

    Numbered numbered(int32 vertex) const { return {points[vertex], number[vertex]}; }

    // Whether a face must be removed when p is inserted.
    INLINED bool in_conflict(int32 face, Numbered p) const {
        const Face &f = faces[face];
        for (int k = 0; k < 3; ++k)
            if (f.vertex[k] == GHOST) {
                const Point u = points[f.vertex[next_corner(k)]], v = points[f.vertex[previous_corner(k)]];
                const int sign = orient2d(u, v, p.at);
                return sign > 0 || (sign == 0 && strictly_between(u, v, p.at));
            }
        const int sign = incircle(points[f.vertex[0]], points[f.vertex[1]], points[f.vertex[2]], p.at);
        return sign > 0 ||
               (sign == 0 && broken_tie(numbered(f.vertex[0]), numbered(f.vertex[1]), numbered(f.vertex[2]), p) > 0);
    }

    // The triangle itself, or the one beside a ghost.
    int32 triangle_at(int32 face) const {
        for (int k = 0; k < 3; ++k)
            if (faces[face].vertex[k] == GHOST)
                return face_of(faces[face].twin[k]);
        return face;
    }

    // Returns the face that contains p, its edges included; a ghost if p lies beyond the hull. Starts at a triangle.
    int32 locate(int32 face, Point p) const {
        uint32 walked = 1;
        walk_within(&face, p, walked, [](int32) { return true; });
        return face;
    }

    // Walks from the triangle *face to the face that contains p, across edges of which `has` is true for an end.
    // Returns false if it would have to cross another one. The edge tested first varies from step to step, so that the
    // walk ends even in triangulations that are not Delaunay; `walked` is the state of the pseudo-random choice.
    template <class Has> INLINED bool walk_within(int32 *face, Point p, uint32 &walked, const Has &has) const {
        int first = 0;
        HalfEdge entered = NOTHING;
        bool blocked = false;
        for (int32 at = *face;; *face = at) {
            HalfEdge exit = NOTHING;
            blocked = false;
            for (int turn = 0; turn < 3 && exit == NOTHING; ++turn) {
                const HalfEdge h = half_edge(at, (first + turn) % 3);
                if (h == entered || side(from(h), to(h), p) >= 0)
                    continue;
                if (has(from(h)) || has(to(h)))
                    exit = h;
                else
                    blocked = true;
            }
            if (exit == NOTHING)
                return !blocked;
            entered = twin(exit);
            at = face_of(entered);
            if (is_ghost(at)) {
                *face = at;
                return true;
            }
            walked = walked * 1664525u + 1013904223u;
            first = int((walked >> 16) % 3);
        }
    }
};

} // namespace triangulation
