// The star of a vertex: the triangles around it.
//
//         ring[2]-------ring[1]      Triangle i has the corners v, ring[i] and ring[i + 1], counter-clockwise. Around
//          /   \   1   /   \         a vertex inside the mesh the ring is closed: ring[count] is ring[0]. Around one
//         /  2  \     /  0  \        on the boundary, ring[0] and ring[count] are its neighbours there.
//        /       \   /       \       .
//    ring[3]-------v-------ring[0]
//
// A star reaches across subsegments.
#pragma once

#include "mesh/mesh.cuh"

constexpr int MOST_NEIGHBOURS = 16; // triangles around a vertex that is moved: at 30 degrees there are at most 12

INLINE int corner_at(const Triangle &t, int32 vertex) {
    return t.vertex[0] == vertex ? 0 : (t.vertex[1] == vertex ? 1 : 2);
}

// The triangle across an edge, also across a subsegment; NOTHING on the boundary.
INLINE int32 neighbour_across(const Mesh &mesh, int32 t, int edge) {
    const int32 link = mesh.triangles[t].link[edge];
    if (link >= 0)
        return link;
    const Subsegment s = mesh.subsegments[~link];
    return s.left == t ? s.right : s.left;
}

struct Star {
    int32 ring[MOST_NEIGHBOURS + 1];
    int32 triangle[MOST_NEIGHBOURS];
    int count;

    // Collects the star from one of its triangles, which decides where it begins unless v is on the boundary. The
    // caller knows that v has at most MOST_NEIGHBOURS triangles.
    METHOD Star(const Mesh &mesh, int32 v, int32 start) : count(0) {
        int32 begin = start;
        if (!collect(mesh, v, begin)) { // begin again where the boundary does
            for (int steps = 1; steps < MOST_NEIGHBOURS; ++steps) {
                const int32 before = neighbour_across(mesh, begin, clockwise(mesh, v, begin));
                if (before == NOTHING)
                    break;
                begin = before;
            }
            count = 0;
            collect(mesh, v, begin);
        }
    }

  private:
    // The edge of triangle t that leads to the next triangle around v, in either sense.
    METHOD static int clockwise(const Mesh &mesh, int32 v, int32 t) {
        return previous_corner(corner_at(mesh.triangles[t], v));
    }

    // Collects counter-clockwise; returns whether it comes back to where it began.
    METHOD bool collect(const Mesh &mesh, int32 v, int32 begin) {
        int32 t = begin;
        while (count < MOST_NEIGHBOURS) {
            const Triangle &one = mesh.triangles[t];
            const int k = corner_at(one, v);
            triangle[count] = t;
            ring[count++] = one.vertex[next_corner(k)];
            ring[count] = one.vertex[previous_corner(k)];
            t = neighbour_across(mesh, t, next_corner(k));
            if (t == NOTHING || t == begin)
                break;
        }
        return t == begin;
    }
};
