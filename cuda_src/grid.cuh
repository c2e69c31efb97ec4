// CUDA's cooperative groups: the barrier of a whole grid, and the lanes of a warp that run together.
//
// It is apart from portable.cuh because nvcc takes 0.8 s to read CUDA's header: only files that need it include this one.
#pragma once

#include "portable.cuh"

#ifdef __CUDACC__

#include <cooperative_groups.h>

#define GRID_BARRIER() cooperative_groups::this_grid().sync()

// One more of something that a team counts in its shared memory, for all lanes of a warp that are here: one of them counts
// for all (Merrill et al.'s team primitives). Returns what was there before.
INLINE int32 team_take_together(int32 *counter) {
    const auto here = cooperative_groups::coalesced_threads();
    int32 first = 0;
    if (here.thread_rank() == 0)
        first = atomicAdd(counter, int32(here.size()));
    return here.shfl(first, 0) + int32(here.thread_rank());
}

#else

#define GRID_BARRIER() host::wait_for_grid()

INLINE int32 team_take_together(int32 *counter) { return (*counter)++; }

#endif
