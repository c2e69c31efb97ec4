// Gathers points of which the host needs a few.
#include "geometry/points.cuh"

KERNEL(gather_points, const Point *points, const int32 *places, Point *gathered) {
    for (const Index i : launch)
        gathered[i] = points[places[i]];
}
