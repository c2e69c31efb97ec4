// CUDA's cooperative groups: the grid barrier, and the lanes of a warp that run together.
//
// This is separate from portable.cuh because nvcc takes 0.8 s to read CUDA's header: only files that need it include
// this one.
#pragma once

#include "portable/portable.cuh"

#ifdef __CUDACC__

#include <cooperative_groups.h>

#define GRID_BARRIER() cooperative_groups::this_grid().sync()

// Increments a counter in a team's shared memory once for each active lane of a warp; one lane adds for all (Merrill et
// al.'s team primitives). Returns the previous value, as if the lanes came one after the other.
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
