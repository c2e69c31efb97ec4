// The quality check by kernels that a kernel launches (dynamic parallelism; thesis, section 5.3).
//
// The device runtime keeps a bounded number of launches pending, 2,048 unless the host raises it; one beyond that stalls
// or fails. So the host says how many cavities share a child, and how many children a launch may have (balancing.py).
// There is no waiting for a child on the device: children are fire-and-forget, and the parent's grid ends with them.
#include "quality_check.cuh"

CHILD_KERNEL(child_check, const int32 *slots, QualityCheck of_triangle) {
    FOR_RANGE (i) {
        of_triangle.check(slots[i], i);
        of_triangle.count_share(1);
    }
}

// Index i launches a child with a thread for each new triangle of its cavities: `share` of them, from first + share * i.
KERNEL(check_by_children, int64 first, int64 share, int64 cavities, const int32 *fresh_offsets, const int32 *slots,
       const float64 *sizes, const Triangle *triangles, const Point *points, const int32 *vertex_origin,
       const Subsegment *input_segments, const int32 *anchor, const int32 *ancestor, const float64 *area_bounds,
       float64 cosine_squared, float64 doubled_area, float64 lens, int32 worst_first, uint32 *quality, int32 *wishes,
       int64 *shares, int64 *children) {
    const QualityCheck of_triangle = {sizes, triangles, points, {vertex_origin, input_segments, anchor}, ancestor,
                                      area_bounds, cosine_squared, doubled_area, lens, worst_first, quality, wishes,
                                      shares};
    FOR_RANGE (i) {
        const Index begin = first + share * i, end = begin + share < cavities ? begin + share : cavities;
        const Index from = fresh_offsets[begin], to = fresh_offsets[end];
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
