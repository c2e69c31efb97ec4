// Lawson's flips in parallel: they make a valid triangulation constrained Delaunay.
//
// An edge that fails the in-circle test is flipped by the owner of the six triangles that the flip writes: the two that
// share the edge, and the four around them, whose links change. Each flip lowers the lifted surface, so the rounds end.
#include "mesh/failing_edge.cuh"
#include "mesh/flip.cuh"
#include "mesh/owner.cuh"

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

KERNEL(apply_flips, const int32 *flipping, const int32 *edges, const int32 *won, Triangle *triangles,
       Subsegment *subsegments) {
    for (const Index i : launch) {
        if (won[i])
            flip_edge(triangles, subsegments, flipping[i], edges[flipping[i]]);
    }
}

// Lists the triangles whose edges a step of flips may have made fail, or has left as they were, in any order: those of
// the quadrilaterals, and their neighbours. flags[t] = 1 for those that are listed; the others have 0.
KERNEL(list_around_flips, const int32 *flipping, const int32 *edges, const Triangle *triangles, int32 *flags,
       int32 *listed, int32 *count) {
    for (const Index i : launch) {
        const int32 t = flipping[i];
        for_flip_quad(triangles, t, edges[t], [&](int32 visited) {
            if (racing_load(&flags[visited]) == 0 && compare_and_swap(&flags[visited], 0, 1) == 0)
                listed[atomic_add(count, 1)] = visited;
        });
    }
}
