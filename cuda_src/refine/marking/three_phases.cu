// The three phases in one kernel, as in Nasre, Burtscher and Pingali: grid barriers replace the boundaries between
// launches.
#include "portable/grid.cuh"
#include "refine/marking/marking.cuh"

COOPERATIVE_KERNEL(mark_in_three_phases, Mesh mesh, Cavities cavities, int32 *progress) {
    const Marker marker = {cavities, mesh.triangles};
    for (const Index i : launch)
        if (cavities.outcomes[i] == UNDECIDED)
            marker.mark(i);
    launch.grid().barrier();
    for (const Index i : launch)
        if (cavities.outcomes[i] == UNDECIDED)
            marker.remark(i);
    launch.grid().barrier();
    for (const Index i : launch)
        marker.check(i, progress);
}
