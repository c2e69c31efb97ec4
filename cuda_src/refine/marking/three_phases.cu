// The three phases in one kernel, as in Nasre, Burtscher and Pingali: grid barriers replace the boundaries between
// launches.
#include "portable/grid.cuh"
#include "refine/marking/marking.cuh"

COOPERATIVE_KERNEL(mark_in_three_phases, Mesh mesh, Cavities cavities, int32 *progress) {
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
