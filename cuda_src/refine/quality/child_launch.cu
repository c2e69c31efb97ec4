// Quality check by child kernels, which a kernel launches (dynamic parallelism; thesis, section 5.3).
//
// The device runtime keeps a bounded number of launches pending, 2,048 unless the host raises it; one more stalls or
// fails. The host therefore decides how many cavities share a child, and how many children a launch may have
// (balancing.py). The device cannot wait for a child: children are fire-and-forget, and the parent's grid ends with
// them.
#include "refine/quality/quality_check.cuh"

CHILD_KERNEL(child_check, const int32 *slots, QualityCheck of_triangle) {
    for (const Index i : launch) {
        of_triangle.check(slots[i], i);
        of_triangle.count_share(1);
    }
}

// Index i launches a child with a thread for each new triangle of its cavities: `share` cavities, from first + share *
// i.
KERNEL(check_by_children, Mesh mesh, Limits limits, const int32 *slots, const float64 *sizes, const float64 *area_roots,
       int64 *shares, const int32 *fresh_places, int64 first, int64 share, int64 cavities, int64 *children) {
    const QualityCheck of_triangle = {mesh, limits, sizes, area_roots, shares};
    for (const Index i : launch) {
        const Index begin = first + share * i, end = begin + share < cavities ? begin + share : cavities;
        const Index from = fresh_places[begin], to = fresh_places[end];
        if (from == to)
            continue;
        if (LAUNCH_CHILD(child_check, from, to, slots, of_triangle)) {
            atomic_add(&children[CHILDREN], int64(1));
            continue;
        }
        atomic_add(&children[REFUSED], int64(1));
        for (Index j = from; j < to; ++j)
            of_triangle.check(slots[j], j);
        of_triangle.count_share(int32(to - from));
    }
}
