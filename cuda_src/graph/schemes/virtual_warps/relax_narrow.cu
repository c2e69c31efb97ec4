// Warp-centric traversal (virtual_warps.cuh) with distances of the kind NARROW.
#include "graph/schemes/virtual_warps/virtual_warps.cuh"

TEAM_KERNEL(relax_by_virtual_warps_narrow, Csr graph, Distances distances, Distances last, WarpOptions options,
            int32 *progress, int64 *cursors, int64 *relaxed) {
    relax_by_virtual_warps<NARROW>(graph, distances, last, options, progress, cursors, relaxed, launch);
}
