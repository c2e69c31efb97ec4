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

// Jacobi's iteration, by one team: in each step, values[moved[i]] becomes the weighted mean of the values at
// ends[first[i]] to ends[first[i + 1] - 1], all of them at the same time. found: memory for `count` values.
TEAM_KERNEL(average_values, const int32 *moved, const int32 *first, const int32 *ends, const float64 *weights,
            const float64 *totals, int64 count, int32 steps, float64 *found, float64 *values) {
    for (const Team team : launch.teams())
        for (int32 step = 0; step < steps; ++step) {
            for (const Index i : team.share(Piece{0, count})) {
                float64 sum = 0.0;
                for (int32 k = first[i]; k < first[i + 1]; ++k)
                    sum += weights[k] * values[ends[k]];
                found[i] = sum / totals[i];
            }
            team.barrier();
            for (const Index i : team.share(Piece{0, count}))
                values[moved[i]] = found[i];
            team.barrier();
        }
}
