// A mesh on a device, as kernels take it (DeviceMesh.view in dmr/pipeline/device_mesh.py), and the bounds of a run.
#pragma once

#include "corners.cuh"

KERNEL_STRUCT(Mesh) {
    Triangle *triangles;
    Point *points;
    Subsegment *subsegments;
    uint32 *quality;                  // a word a triangle (quality.cuh)
    int32 *rivals;                    // by triangle: who beat it in urgency last, plus 1; 0 for nobody (candidates.cuh)
    int32 *wishes;                    // what each subsegment waits for: a Wish (encroachment.cuh)
    int32 *vertex_origin;             // by vertex: where it comes from (triangles.cuh)
    float64 *vertex_parameter;        // and where on its input segment it lies
    int32 *subsegment_origin;         // the input segment that a subsegment is a piece of
    const Subsegment *input_segments;
    const int32 *anchor;              // by input vertex: an acute corner that an input segment joins it to (corners.cuh)
    const uint8 *acute;               // by input vertex: 1 where a corner is below 60 degrees
    int64 any_acute;                  // 1 where one of them is
    int64 input_vertices;
    int64 input_subsegments;          // as many as input segments
    int32 *ancestor;                  // the input triangle that a triangle descends from; none where they carry nothing
    const float64 *area_bounds;       // by input triangle, or none
    float64 *attributes;              // of vertices, row by row, or none
    int64 width;                      // columns of them

    METHOD Corners corners() const { return {vertex_origin, input_segments, anchor, any_acute != 0}; }
};

// What triangles and Steiner points are held to (dmr/pipeline/thresholds.py).
KERNEL_STRUCT(Limits) {
    float64 cosine_squared;   // of the angle bound; 2 where there is none
    float64 doubled_area;     // twice the largest area; infinity where there is none
    float64 lens;             // when a point encroaches on a subsegment (encroachment.cuh)
    float64 off_center_limit; // how far off-centers lie from their edge (steiner.cuh)
    float64 clearance;        // least squared distance, in shortest edges, of other points; infinity: none (petal.cuh)
    float64 stretch;          // how long pieces of segments are to be, in distances to what faces them; infinity: by halves
    int64 worst_first;        // 1: of skinny triangles the smallest angle is the most urgent, not the shortest edge
    int64 grouped;            // 1: lengths that are nearly the same are told apart by cells of a grid (urgency.cuh)
    int64 first;              // 1: the first points are inserted, and bounds on areas wait (dmr/pipeline/first_points.py)
};

// For a loop that grows cavities around listed triangles: their words, the corners and neighbours of those, and of their
// neighbours, and the corners of these.
INLINE void prefetch_surroundings(const int32 *listed, Index i, Index end, const Mesh &mesh) {
    constexpr Index FAR = 16, NEAR = 12, NEARER = 8, NEAREST = 4;
    if (!PREFETCHES)
        return;
    const Triangle *const triangles = mesh.triangles;
    const Point *const points = mesh.points;
    if (i + FAR < end) {
        prefetch(&triangles[listed[i + FAR]]);
        prefetch(&mesh.quality[listed[i + FAR]]);
    }
    if (i + NEAR < end) {
        prefetch_corners(triangles[listed[i + NEAR]], points);
        prefetch_neighbours(triangles[listed[i + NEAR]], triangles);
    }
    if (i + NEARER < end)
        for (int32 across : triangles[listed[i + NEARER]].link)
            if (across >= 0) {
                prefetch_corners(triangles[across], points);
                prefetch_neighbours(triangles[across], triangles);
            }
    if (i + NEAREST < end)
        for (int32 across : triangles[listed[i + NEAREST]].link)
            for (int k = 0; across >= 0 && k < 3; ++k)
                if (triangles[across].link[k] >= 0)
                    prefetch_corners(triangles[triangles[across].link[k]], points);
}
