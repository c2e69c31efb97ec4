// The three phases in one kernel, as Nasre, Burtscher and Pingali have them: a barrier of the whole grid stands where
// otherwise a launch ends and the next begins.
#include "grid.cuh"
#include "marking.cuh"

GRID_KERNEL(mark_in_three_phases, Mesh mesh, Cavities cavities, int32 *progress) {
    const Marker marker = {cavities, mesh.triangles};
    FOR_RANGE (i)
        if (cavities.outcomes[i] == UNDECIDED)
            marker.mark(i);
    GRID_BARRIER();
    FOR_RANGE (i)
        if (cavities.outcomes[i] == UNDECIDED)
            marker.remark(i);
    GRID_BARRIER();
    FOR_RANGE (i)
        marker.check(i, progress);
}
