// Lawson's flips in parallel: they make a valid triangulation constrained Delaunay.
//
// An edge that fails the in-circle test is flipped by the owner of the six triangles that the flip writes: the two that
// share the edge, and the four around them, whose links change. Each flip lowers the lifted surface, so the rounds end.
#include "geometry/predicates.cuh"
#include "mesh/owner.cuh"

// The edge of a triangle that is to be flipped in this round, or NOTHING: the first one that is not a subsegment, fails
// the in-circle test, and belongs to this triangle as the one with the lower number of the two.
INLINE int32 failing_edge(const Triangle *triangles, const Point *points, int32 t) {
    const Triangle mine = triangles[t];
    for (int k = 0; k < 3; ++k) {
        const int32 other = mine.link[k];
        if (other <= t)
            continue;
        const Triangle &across = triangles[other];
        const int32 opposite = across.vertex[edge_that_starts_at(across, edge_to(mine, k))];
        if (incircle(points[mine.vertex[0]], points[mine.vertex[1]], points[mine.vertex[2]], points[opposite]) > 0)
            return k;
    }
    return NOTHING;
}

template <class Visit> INLINE void for_flip_quad(const Triangle *triangles, int32 t, int32 edge, Visit visit) {
    const int32 other = triangles[t].link[edge];
    visit(t);
    visit(other);
    for (int k = 0; k < 3; ++k) {
        if (triangles[t].link[k] >= 0)
            visit(triangles[t].link[k]);
        if (triangles[other].link[k] >= 0)
            visit(triangles[other].link[k]);
    }
}

KERNEL(find_flips, const Triangle *triangles, const Point *points, int32 *edges, int32 *flags) {
    for (const Index t : launch) {
        edges[t] = failing_edge(triangles, points, int32(t));
        flags[t] = edges[t] != NOTHING;
    }
}

// The same for listed triangles; flags[i] belongs to the i-th.
KERNEL(find_listed_flips, const Triangle *triangles, const Point *points, const int32 *listed, int32 *edges,
       int32 *flags) {
    for (const Index i : launch) {
        const int32 t = listed[i];
        edges[t] = failing_edge(triangles, points, t);
        flags[i] = edges[t] != NOTHING;
    }
}

KERNEL(claim_flips, const int32 *flipping, const int32 *edges, uint32 epoch, Triangle *triangles) {
    for (const Index i : launch) {
        const int32 t = flipping[i];
        const uint64 key = cavity_key(epoch, false, 0, t);
        for_flip_quad(triangles, t, edges[t], [&](int32 visited) { atomic_max(&triangles[visited].owner, key); });
    }
}

KERNEL(check_flips, const int32 *flipping, const int32 *edges, uint32 epoch, const Triangle *triangles, int32 *won) {
    for (const Index i : launch) {
        const int32 t = flipping[i];
        const uint64 key = cavity_key(epoch, false, 0, t);
        bool all = true;
        for_flip_quad(triangles, t, edges[t], [&](int32 visited) { all = all && triangles[visited].owner == key; });
        won[i] = all;
    }
}

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
//         / \                    /|\              t = (a, b, c) and other = (d, c, b), across the edge b -> c,
//        / t \                  / | \             become t = (a, b, d) and other = (a, d, c).
//       b-----c      -->       b  |  c
//        \ o /                  \ | /
//         \ /                    \|/
//          d                      d
KERNEL(apply_flips, const int32 *flipping, const int32 *edges, const int32 *won, Triangle *triangles,
       Subsegment *subsegments) {
    for (const Index i : launch) {
        if (!won[i])
            continue;
        const int32 t = flipping[i];
        const int k = edges[t];
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
}

// Sets flags[t] = 1 for the triangles whose edges a step of flips may have made fail, or has left as they were: those
// of the quadrilaterals, and their neighbours.
KERNEL(flag_around_flips, const int32 *flipping, const int32 *edges, const Triangle *triangles, int32 *flags) {
    for (const Index i : launch) {
        const int32 t = flipping[i];
        for_flip_quad(triangles, t, edges[t], [&](int32 visited) { racing_store(&flags[visited], 1); });
    }
}
