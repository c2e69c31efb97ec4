// The barrier of a grid, for kernels that call Grid::barrier.
//
// This is separate from cuda.cuh because nvcc takes 0.8 s to read CUDA's header: only files that need it include this
// one.
#pragma once

#include "portable/portable.cuh"

#ifdef __CUDACC__

#include <cooperative_groups.h>

INLINE void Grid::barrier(int) { cooperative_groups::this_grid().sync(); }

#endif
