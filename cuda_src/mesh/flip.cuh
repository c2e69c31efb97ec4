// The flip of an edge between two triangles.
#pragma once

#include "mesh/triangles.cuh"

// Redirects the neighbour across an edge that passes from one triangle to another.
INLINE void hand_over(Triangle *triangles, Subsegment *subsegments, int32 across, int32 from, int32 to, int32 slot) {
    if (across >= 0)
        triangles[across].link[edge_that_starts_at(triangles[across], to)] = slot;
    else if (subsegments[~across].from == from)
        subsegments[~across].left = slot;
    else
        subsegments[~across].right = slot;
}

//          a                      a
//         / \                    /|\              t = (a, b, c) and other = (d, c, b), across edge k of t, b -> c,
//        / t \                  / | \             become t = (a, b, d) and other = (a, d, c).
//       b-----c      -->       b  |  c
//        \ o /                  \ | /
//         \ /                    \|/
//          d                      d
INLINE void flip_edge(Triangle *triangles, Subsegment *subsegments, int32 t, int k) {
    Triangle &mine = triangles[t];
    const int32 other = mine.link[k];
    Triangle &across = triangles[other];
    const int32 a = mine.vertex[k], b = edge_from(mine, k), c = edge_to(mine, k);
    const int e = edge_that_starts_at(across, c); // c -> b, opposite d
    const int32 d = across.vertex[e];
    const int32 ca = mine.link[next_corner(k)], ab = mine.link[previous_corner(k)];
    const int32 bd = across.link[next_corner(e)], dc = across.link[previous_corner(e)];
    mine.vertex[0] = a, mine.vertex[1] = b, mine.vertex[2] = d;
    mine.link[0] = bd, mine.link[1] = other, mine.link[2] = ab;
    across.vertex[0] = a, across.vertex[1] = d, across.vertex[2] = c;
    across.link[0] = dc, across.link[1] = ca, across.link[2] = t;
    hand_over(triangles, subsegments, bd, b, d, t);
    hand_over(triangles, subsegments, ca, c, a, other);
}
