// Kernels of the quality check, one for each way to balance the load.
#include "refine/quality/quality_check.cuh"

constexpr int RUNGS = 3; // angle bounds of dmr/refinement/strategies/first_points.py

// The squared cosine of a triangle's smallest angle, which is opposite the shortest edge.
INLINE float64 largest_cosine_squared(Point a, Point b, Point c) {
    float64 largest = 0.0;
    const Point corners[3] = {a, b, c};
    for (int k = 0; k < 3; ++k) {
        const Point o = corners[k], u = corners[next_corner(k)], v = corners[previous_corner(k)];
        const float64 dot = (u.x - o.x) * (v.x - o.x) + (u.y - o.y) * (v.y - o.y);
        const float64 squared = dot > 0.0 ? dot * dot / (squared_length(o, u) * squared_length(o, v)) : 0.0;
        largest = squared > largest ? squared : largest;
    }
    return largest;
}

// Checks the triangles of a list (work stealing: every thread has an equal share).
KERNEL(check_listed, Mesh mesh, Limits limits, const int32 *slots, const float64 *sizes, const float64 *area_roots,
       int64 *shares) {
    check_triangles(launch, slots, QualityCheck{mesh, limits, sizes, area_roots, shares});
}

// Checks the new triangles of each cavity with one thread (no balancing: a thread checks all that its cavity made).
KERNEL(check_by_cavity, Mesh mesh, Limits limits, const int32 *slots, const float64 *sizes, const float64 *area_roots,
       int64 *shares, const int32 *fresh_places) {
    const QualityCheck of_triangle = {mesh, limits, sizes, area_roots, shares};
    for (const Index i : launch) {
        for (int32 j = fresh_places[i]; j < fresh_places[i + 1]; ++j) // none if the cavity did not win
            of_triangle.check(slots[j], j);
        of_triangle.count_share(fresh_places[i + 1] - fresh_places[i]);
    }
}

// found[RUNGS * team + rung] = number of triangles of the piece with an angle below that rung (an angle bound, given by
// its squared cosine).
TEAM_KERNEL(survey_needles, const Triangle *triangles, int32 count, const Point *points, const float64 *cosines_squared,
            int32 *found) {
    for (const Team team : launch.teams()) {
        const Sums<RUNGS> sums = team.sum(piece_of(team.number, count), [&](Index i) {
            const Triangle t = without_owner(triangles[i]);
            const float64 cosine_squared =
                largest_cosine_squared(points[t.vertex[0]], points[t.vertex[1]], points[t.vertex[2]]);
            Sums<RUNGS> below = {};
            for (int rung = 0; rung < RUNGS; ++rung)
                below.of[rung] = cosine_squared > cosines_squared[rung];
            return below;
        });
        store_sums(team, sums, found);
    }
}

// The places at which the sizes of listed triangles are evaluated.
KERNEL(centroids, const int32 *slots, const Triangle *triangles, const Point *points, Point *places) {
    for (const Index i : launch) {
        const Triangle &t = triangles[slots[i]];
        const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
        places[i] = {a.x + ((b.x - a.x) + (c.x - a.x)) / 3.0, a.y + ((b.y - a.y) + (c.y - a.y)) / 3.0};
    }
}

// Whether a triangle is the one whose corners were stored for its slot; only the first `known` slots have entries.
INLINE bool is_known(const Triangle &t, const int32 *corners, Index slot, Index known) {
    const int32 *const stored = corners + 3 * slot;
    return slot < known && stored[0] == t.vertex[0] && stored[1] == t.vertex[1] && stored[2] == t.vertex[2];
}

// flags[t] = 1 if the size of a triangle has not been stored (dmr/refinement/steps/known_sizes.py).
KERNEL(flag_unknown, const Triangle *triangles, const int32 *corners, int64 known, int32 *flags) {
    for (const Index t : launch)
        flags[t] = !is_known(triangles[t], corners, t, known);
}

KERNEL(store_known, const int32 *slots, const Triangle *triangles, const float64 *sizes, int32 *corners,
       float64 *stored) {
    for (const Index i : launch) {
        for (int k = 0; k < 3; ++k)
            corners[3 * Index(slots[i]) + k] = triangles[slots[i]].vertex[k];
        stored[slots[i]] = sizes[i];
    }
}

// Removes what was stored for listed slots.
KERNEL(forget_known, const int32 *slots, int64 known, int32 *corners) {
    for (const Index i : launch)
        if (slots[i] < known)
            corners[3 * Index(slots[i])] = NOTHING;
}

// Lowers the sizes of listed triangles to those stored for them.
KERNEL(lower_to_known, const int32 *slots, const Triangle *triangles, const int32 *corners, const float64 *stored,
       int64 known, float64 *sizes) {
    for (const Index i : launch)
        if (is_known(triangles[slots[i]], corners, slots[i], known) && stored[slots[i]] < sizes[i])
            sizes[i] = stored[slots[i]];
}

// flags[t] = 1 if a triangle was given up.
KERNEL(flag_given_up, const uint32 *quality, int32 *flags) {
    for (const Index t : launch)
        flags[t] = (quality[t] & GIVEN_UP) != 0;
}

// Sets the grouped urgency of listed triangles that wait for their point (urgency.cuh). The other bits of their quality
// words do not change.
KERNEL(group_listed, Mesh mesh, const int32 *slots) {
    for (const Index i : launch) {
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
