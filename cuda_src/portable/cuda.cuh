// The definitions of portable.cuh for nvcc.
#pragma once

#if __CUDACC_VER_MAJOR__ < 12
#error "CUDA 12 or later is needed: kernels are launched from the device"
#endif

#define INLINE __device__ __forceinline__
#define METHOD __device__ __forceinline__ // INLINE, for a member of a struct
#define OUTLINE __device__ __noinline__   // rare paths: not inlined, so that they do not cost the callers registers
#define ROLLED _Pragma("unroll 1") // loop of a rare path: not unrolled, because unrolling it costs nvcc much time
#define KERNEL(name, ...) extern "C" __global__ void name(const Launch launch, __VA_ARGS__)
#define HIGH_OCCUPANCY_KERNEL(name, ...)                                                                               \
    extern "C" __global__ void __launch_bounds__(BLOCK_SIZE, HIGH_OCCUPANCY_BLOCKS)                                    \
        name(const Launch launch, __VA_ARGS__)
#define TEAM_KERNEL KERNEL
#define HIGH_OCCUPANCY_TEAM_KERNEL(name, ...)                                                                          \
    extern "C" __global__ void __launch_bounds__(TEAM_SIZE, HIGH_OCCUPANCY_TEAMS) name(const Launch launch, __VA_ARGS__)
#define COOPERATIVE_KERNEL KERNEL
#define COOPERATIVE_TEAM_KERNEL KERNEL
#define HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(name, ...)                                                              \
    extern "C" __global__ void __launch_bounds__(TEAM_SIZE, HIGH_OCCUPANCY_COOPERATIVE_TEAMS)                          \
        name(const Launch launch, __VA_ARGS__)
#define MEDIUM_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(name, ...)                                                            \
    extern "C" __global__ void __launch_bounds__(TEAM_SIZE, MEDIUM_OCCUPANCY_COOPERATIVE_TEAMS)                        \
        name(const Launch launch, __VA_ARGS__)
#define CHILD_KERNEL KERNEL
#define TEAM_SHARED(type, name, count) __shared__ type name[count]

constexpr int MOST_PIECES = 1024; // pieces per list at most, and entries per piece at least (CudaDevice.most_pieces and
constexpr int LEAST_PIECE = 8;    // least_piece in dmr/memory/cuda/device.py)

#include "portable/words.cuh"

namespace gpu {

// Waits for the other members of the team. `line` is the line of the source, which the emulator compares.
INLINE void wait_for_team(int) { __syncthreads(); }

// Barriers of all teams, in the terms of PTX's memory model. They take less time than fences (__threadfence), which are
// sequentially consistent, and discard the first cache of the multiprocessor while its other teams still use it.

// Stores a value; who acquires it sees what this thread's team has written and acquired before.
INLINE void release(uint64 *place, uint64 value) {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" : : "l"(__cvta_generic_to_global(place)), "l"(value) : "memory");
}

// Loads a released value.
INLINE uint64 acquired(const uint64 *place) {
    uint64 value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(place)) : "memory");
    return value;
}

// Counts a team that arrives, of `teams`; returns whether it is the last one. The count is 0 again then, and this
// thread sees what all teams wrote before they arrived.
INLINE bool arrive_last(uint32 *arrived, uint32 teams) {
    const auto place = __cvta_generic_to_global(arrived);
    uint32 before;
    asm volatile("atom.release.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(place), "r"(teams - 1)
                 : "memory");
    if (before != teams - 1)
        return false;
    // Of an acquiring load whose value is not used, ptxas 13.0 removes the load, and does not discard the cache either.
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
    return true;
}

} // namespace gpu

// Plain stores and loads of a word that other threads may write at the same time, if any of the values will do.
template <class T> INLINE void racing_store(T *place, T value) { *const_cast<volatile T *>(place) = value; }
template <class T> INLINE T racing_load(const T *place) { return *const_cast<const volatile T *>(place); }

// A load that may be an earlier value of the word, from a cache that other multiprocessors' writes do not reach.
template <class T> INLINE T cached_load(const T *place) { return __ldca(place); }

// A load of what is read once, or so rarely that other data should stay in the caches instead.
template <class T> INLINE T streamed_load(const T *place) { return __ldcs(place); }

// A monotonic clock.
INLINE int64 nanoseconds() {
    int64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

// The number of the current multiprocessor, or of the current CPU thread.
INLINE int64 processor_number() {
    unsigned number;
    asm volatile("mov.u32 %0, %smid;" : "=r"(number));
    return number;
}

#include "portable/gpu.cuh"

#define LAUNCH_CHILD(kernel, begin, end, ...)                                                                          \
    (kernel<<<gpu::child_blocks((end) - (begin)), gpu::child_threads((end) - (begin)), 0, cudaStreamFireAndForget>>>(  \
         Launch{begin, Count{nullptr, end}}, __VA_ARGS__),                                                             \
     cudaGetLastError() == cudaSuccess)
#define LAUNCH_GRAPH_AGAIN() cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch)
