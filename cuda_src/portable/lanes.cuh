// Processor primitives for graph kernels beyond portable.cuh: the second and last file that depends on the compiler.
//
// A virtual warp (Hong et al., Maximum Warp, technique 2) is a part of a warp, of 1, 2, 4, ... 32 lanes, that works on
// one task. FOR_TASKS (WIDTH, GROUP, task, begin, end) distributes the tasks of a range over the virtual warps of a
// GROUP of threads (a team, or the LANES of a warp), in turn: all lanes of a virtual warp execute the body redundantly
// for the same task (the SISD phase). FOR_LANES (WIDTH, i, begin, end), in the body, distributes a range over the lanes
// (the SIMD phase). The first lane reads data that others may write concurrently, and from_first_lane<WIDTH>(value)
// broadcasts its value to all lanes. On the CPU a virtual warp is one thread, and both macros are sequential loops.
//
// FOR_EDGE_SHARE (k, count, coalesced) gives each member of a team its share of a range: every TEAM_SIZE-th index, so
// that neighbours in a warp read neighbouring words, or, if `coalesced` is false, consecutive indices. STEPS_BY_ONE
// tells whether a share is consecutive. On the CPU the single member processes the whole range in order.
//
// A HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL is a COOPERATIVE_TEAM_KERNEL (portable.cuh) with high occupancy: it uses few registers, so that
// several teams fit on a multiprocessor. As many teams as fit are resident, and GRID_BARRIER() of grid.cuh synchronises
// the members of all of them. In such a kernel, launched for `teams` teams, FOR_GRID_TEAMS (index, count, teams)
// distributes `count` tasks over the teams: all members of a team have the same index. On the CPU each thread takes the
// same fraction of the tasks as of the teams. grid_barrier_with(meeting, flag, range_begin, work) is a barrier for the
// members of all teams during which one team does `work`; on a GPU, the last team to arrive. (`flag` belongs to the
// team, `meeting` to all teams.) ONE_MEMBER tells whether a team has a single member, which does everything
// sequentially.
#pragma once

#include "portable/portable.cuh"

constexpr int STRIPES = 4096; // entries of a striped counter (STRIPES of static_graph/traversal/schemes/rounds.py)

#ifdef __CUDACC__

constexpr bool ONE_MEMBER = false;

#define HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(name, ...)                                                                            \
    extern "C" __global__ void __launch_bounds__(TEAM_SIZE, 4)                                                         \
        name(const Index range_begin, const Count range_end, __VA_ARGS__)
#define FOR_GRID_TEAMS(index, count, teams)                                                                            \
    for (Index index = blockIdx.x, grid_end_ = (count); index < grid_end_; index += gridDim.x)

// A custom barrier that replaces two barriers of cooperative_groups with work between them: the last team does the work
// inside the barrier.
template <class Work> INLINE void grid_barrier_with(int32 *meeting, int32 *flag, Index, Work work) {
    int32 *arrived = meeting, *turn = meeting + 1, this_turn = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        this_turn = racing_load(turn);
        __threadfence(); // releases this team's writes before it arrives
        *flag = atomicAdd(arrived, 1) == int(gridDim.x) - 1;
        __threadfence(); // acquires the other teams' writes
    }
    __syncthreads();
    if (*flag) {
        work();
        __syncthreads();
        if (threadIdx.x == 0) {
            *arrived = 0;
            __threadfence();
            racing_store(turn, this_turn + 1);
        }
    } else if (threadIdx.x == 0) {
        while (racing_load(turn) == this_turn) // ends, because all teams are resident
            ;
        __threadfence();
    }
    __syncthreads();
}

constexpr int WARP = 32;

#define FOR_TASKS(WIDTH, GROUP, task, begin, end)                                                                      \
    for (Index task = (begin) + threadIdx.x % (GROUP) / (WIDTH), tasks_end_ = (end); task < tasks_end_;                \
         task += (GROUP) / (WIDTH))
#define FOR_LANES(WIDTH, i, begin, end)                                                                                \
    for (Index i = (begin) + threadIdx.x % (WIDTH), lanes_end_ = (end); i < lanes_end_; i += (WIDTH))
#define FIRST_LANE(WIDTH) (threadIdx.x % (WIDTH) == 0)

#define FOR_EDGE_SHARE(k, count, coalesced)                                                                            \
    for (Index run_ = ((count) + TEAM_SIZE - 1) / TEAM_SIZE, step_ = (coalesced) ? TEAM_SIZE : 1,                      \
               k = ((coalesced) ? 1 : run_) * threadIdx.x,                                                             \
               share_end_ = (coalesced) || k + run_ > (count) ? (count) : k + run_;                                    \
         k < share_end_; k += step_)
#define STEPS_BY_ONE(coalesced) (!(coalesced))

template <int WIDTH, class T> INLINE T from_first_lane(T value) {
    if constexpr (WIDTH == 1)
        return value;
    const unsigned lanes = WIDTH == WARP ? ~0u : ((1u << WIDTH % WARP) - 1u) << (threadIdx.x % WARP / WIDTH * WIDTH);
    return __shfl_sync(lanes, value, 0, WIDTH);
}

// Takes the next `chunk` tasks of a work queue; called by all lanes of a warp; returns the first task.
INLINE Index take_chunk(int64 *taken, Index chunk) {
    int64 first = 0;
    if (FIRST_LANE(WARP))
        first = atomic_add(taken, int64(chunk));
    return from_first_lane<WARP>(first);
}

INLINE int64 atomic_min(int64 *place, int64 value) {
    return static_cast<int64>(atomicMin(reinterpret_cast<long long *>(place), static_cast<long long>(value)));
}

// Increments a counter in the team's shared memory; returns the old value.
INLINE int32 team_take(int32 *counter) { return atomicAdd(counter, 1); }

// Inclusive prefix sum of values in a team's shared memory, by shuffles within warps.
INLINE void team_sums_by_shuffles(int64 *values, int64 *of_warp) {
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int64 sum = values[threadIdx.x];
    for (int reach = 1; reach < WARP; reach *= 2) {
        const int64 lower = __shfl_up_sync(~0u, sum, reach);
        sum += lane >= reach ? lower : 0;
    }
    if (lane == WARP - 1)
        of_warp[warp] = sum;
    __syncthreads();
    for (int other = 0; other < warp; ++other)
        sum += of_warp[other];
    values[threadIdx.x] = sum;
    __syncthreads();
}

// Adds to a striped counter, whose value is the sum of STRIPES entries: adjacent threads add to adjacent entries.
INLINE void count_up(int64 *stripes, int64 value) {
    if (value != 0)
        atomic_add(stripes + (blockIdx.x * blockDim.x + threadIdx.x) % STRIPES, value);
}

INLINE float64 float64_of(int64 bits) { return __longlong_as_double(bits); }

// The number of the current multiprocessor, or of the current CPU thread.
INLINE int64 processor_number() {
    unsigned number;
    asm volatile("mov.u32 %0, %smid;" : "=r"(number));
    return number;
}

#else

constexpr bool ONE_MEMBER = true;

#define HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL KERNEL
#define FOR_GRID_TEAMS(index, count, teams)                                                                            \
    for (Index index = (count) * range_begin / (teams), grid_end_ = (count) * range_end / (teams); index < grid_end_;  \
         ++index)

template <class Work> INLINE void grid_barrier_with(int32 *, int32 *, Index range_begin, Work work) {
    host::wait_for_grid();
    if (range_begin == 0)
        work();
    host::wait_for_grid();
}

#include <atomic>

constexpr int WARP = 1;

#define FOR_TASKS(WIDTH, GROUP, task, begin, end)                                                                      \
    for (Index task = (begin), tasks_end_ = (end); task < tasks_end_; ++task)
#define FOR_LANES(WIDTH, i, begin, end) for (Index i = (begin), lanes_end_ = (end); i < lanes_end_; ++i)
#define FIRST_LANE(WIDTH) true

#define FOR_EDGE_SHARE(k, count, coalesced) for (Index k = 0, share_end_ = (count); k < share_end_; ++k)
#define STEPS_BY_ONE(coalesced) ((void)(coalesced), true)

template <int WIDTH, class T> INLINE T from_first_lane(T value) { return value; }

INLINE Index take_chunk(int64 *taken, Index chunk) { return atomic_add(taken, int64(chunk)); }

INLINE int64 atomic_min(int64 *place, int64 value) {
    int64 seen = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (seen > value && !__atomic_compare_exchange_n(place, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return seen;
}

INLINE int32 team_take(int32 *counter) { return (*counter)++; }

INLINE void team_sums_by_shuffles(int64 *values, int64 *) {
    for (int member = 1; member < TEAM_SIZE; ++member)
        values[member] += values[member - 1];
}

INLINE void count_up(int64 *stripes, int64 value) {
    if (value != 0)
        atomic_add(stripes, value); // once per piece of a range
}

INLINE float64 float64_of(int64 bits) {
    float64 x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline int64 processor_number() {
    static std::atomic<int64> threads{0};
    thread_local const int64 own = threads++;
    return own;
}

#endif
