// Checks of the rounds of an optimisation: angles before and after, and bounds of triangles that have changed.
#include "geometry/predicates.cuh"
#include "mesh/mesh.cuh"
#include "optimize/shape.cuh"
#include "refine/quality/quality.cuh"

constexpr uint32 UNREFINED = BAD | GIVEN_UP | FORCED | HELD;

// For each triangle the smallest angle in degrees, and its cotangent; 0 instead of that if the triangle misses a bound.
KERNEL(survey_angles, const Triangle *triangles, const Point *points, const uint32 *quality, float64 *degrees,
       float64 *cotangents) {
    for (const Index t : launch) {
        const Triangle &one = triangles[t];
        const Point a = points[one.vertex[0]], b = points[one.vertex[1]], c = points[one.vertex[2]];
        const SmallestAngle angle = smallest_angle_of(a, b, c);
        degrees[t] = degrees_of(angle);
        cotangents[t] = quality[t] & UNREFINED ? 0.0 : angle.cotangent();
    }
}

// flags[t] = 1 if triangle t has another corner than before, or a corner that has moved.
KERNEL(flag_changed, const Triangle *before, const Triangle *triangles, const int32 *moved, int32 *flags) {
    for (const Index t : launch) {
        flags[t] = 0;
        for (int k = 0; k < 3; ++k)
            flags[t] |= triangles[t].vertex[k] != before[t].vertex[k] || moved[triangles[t].vertex[k]];
    }
}

// flags[t] = 1 if triangle t has a corner that has moved, and its smallest angle has a cotangent above `steepest`, or
// it is not counter-clockwise.
KERNEL(flag_spoilt, const Triangle *triangles, const Point *points, const int32 *moved, float64 steepest,
       int32 *flags) {
    for (const Index t : launch) {
        const Triangle &one = triangles[t];
        flags[t] = 0;
        if (!moved[one.vertex[0]] && !moved[one.vertex[1]] && !moved[one.vertex[2]])
            continue;
        const Point a = points[one.vertex[0]], b = points[one.vertex[1]], c = points[one.vertex[2]];
        const SmallestAngle angle = smallest_angle_of(a, b, c);
        flags[t] = orient2d_by_filter(a, b, c) != 1 || angle.dot > steepest * angle.cross;
    }
}

// flags[i] = 1 if the i-th triangle of a list misses a bound, or one of its subsegments is to be split.
KERNEL(flag_violations, Mesh mesh, const int32 *listed, int32 *flags) {
    for (const Index i : launch) {
        const int32 t = listed[i];
        flags[i] = (mesh.quality[t] & UNREFINED) != 0;
        for (const int32 link : mesh.triangles[t].link)
            flags[i] |= link < 0 && mesh.split_states[~link] == TO_BE_SPLIT;
    }
}

// Lists the triangle across each edge, in place of a subsegment the triangle itself.
KERNEL(list_neighbours, const Triangle *triangles, const int32 *listed, int32 *neighbours) {
    for (const Index i : launch)
        for (int k = 0; k < 3; ++k) {
            const int32 link = triangles[listed[i]].link[k];
            neighbours[3 * i + k] = link < 0 ? listed[i] : link;
        }
}
