// The quality check of triangles, by who does it.
#include "quality_check.cuh"

// Checks the triangles of a list (work stealing: every thread has the same share of it).
KERNEL(check_listed, Mesh mesh, Limits limits, const int32 *slots, const float64 *sizes, int64 *shares) {
    const QualityCheck of_triangle = {mesh, limits, sizes, shares};
    FOR_RANGE (i) {
        prefetch_triangles(slots, i, range_end, mesh.triangles, mesh.points);
        of_triangle.check(slots[i], i);
        of_triangle.count_share(1);
    }
}

// Checks the new triangles of each cavity by one thread (no balance: as many as the cavity made).
KERNEL(check_by_cavity, Mesh mesh, Limits limits, const int32 *slots, const float64 *sizes, int64 *shares,
       const int32 *fresh_places) {
    const QualityCheck of_triangle = {mesh, limits, sizes, shares};
    FOR_RANGE (i) {
        for (int32 j = fresh_places[i]; j < fresh_places[i + 1]; ++j) // none where the cavity did not win
            of_triangle.check(slots[j], j);
        of_triangle.count_share(fresh_places[i + 1] - fresh_places[i]);
    }
}

// Where the sizes of listed triangles are asked for.
KERNEL(centroids, const int32 *slots, const Triangle *triangles, const Point *points, Point *places) {
    FOR_RANGE (i) {
        const Triangle &t = triangles[slots[i]];
        const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
        places[i] = {a.x + ((b.x - a.x) + (c.x - a.x)) / 3.0, a.y + ((b.y - a.y) + (c.y - a.y)) / 3.0};
    }
}

// flags[t] = 1 where a triangle was given up.
KERNEL(flag_given_up, const uint32 *quality, int32 *flags) {
    FOR_RANGE (t)
        flags[t] = (quality[t] & GIVEN_UP) != 0;
}

// Enters the grouped urgency of listed triangles that wait for their point (urgency.cuh). All else that is known of them
// stays as it is.
KERNEL(group_listed, Mesh mesh, const int32 *slots) {
    FOR_RANGE (i) {
        const uint32 q = mesh.quality[slots[i]];
        if (!to_refine(q) || !(q & SKINNY))
            continue;
        const Triangle t = mesh.triangles[slots[i]];
        int apex = 0;
        float64 least = INFINITE;
        for (int k = 0; k < 3; ++k) {
            const float64 length = squared_length(mesh.points[edge_from(t, k)], mesh.points[edge_to(t, k)]);
            if (length < least)
                least = length, apex = k;
        }
        const Point end = mesh.points[edge_from(t, apex)];
        mesh.quality[slots[i]] = (q & ~(SKINNY - 1)) | urgency_of_edge(least, end, true);
    }
}
