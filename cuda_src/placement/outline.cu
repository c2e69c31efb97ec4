// Vertices on the segments of an outline.
#include "geometry/steiner.cuh"

// places[i] = the point at parameters[i] of the segment ends[2 * segments[i]] -> ends[2 * segments[i] + 1].
KERNEL(points_on_segments, const Point *points, const int32 *ends, const int32 *segments, const float64 *parameters,
       Point *places) {
    for (const Index i : launch) {
        const int32 s = segments[i];
        places[i] = point_on_segment(points[ends[2 * s]], points[ends[2 * s + 1]], parameters[i]);
    }
}
