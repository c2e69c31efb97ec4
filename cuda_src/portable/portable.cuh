// The only file that depends on the compiler.
//
// A kernel is written once, as a loop over the index range of its launch:
//
//     KERNEL(scale, float64 *values, float64 factor) {
//         FOR_RANGE (i) values[i] *= factor;
//     }
//
// nvcc compiles it to a __global__ function whose threads stride over the range. The C++ compiler compiles it to a
// plain function over [range_begin, range_end); host.cpp gives each thread one piece of the range at a time. Nothing
// else differs, so no kernel may depend on how the range is cut.
//
// FOR_PART (i, begin, end) loops over a part of the range only, with all of the threads.
//
// The end of the range, and every parameter of type Count, is either a number from the host or a number that an earlier
// kernel left in device memory: the host can launch a kernel before it knows the range.
//
// A TEAM_KERNEL assigns a thread block (team) to each index: FOR_TEAMS (team) loops over the range, TEAM_SHARED
// declares memory that the members of a team share, and each FOR_MEMBERS (member) { ... } ends with a barrier. On the
// CPU, FOR_MEMBERS is an ordinary loop.
//
// If output places depend on the order of a list, the list is cut into pieces (piece_of), one per team. One kernel sums
// over each piece (team_sum), and the next one adds the sums of the preceding pieces (team_in_order). The boundary
// between the two launches is the barrier. All members of a team call both functions together, with the same arguments.
// FOR_SHARE (i, begin, end) gives each member its share of a range, and TEAM_BARRIER() waits for all of them. On the
// CPU, where one member does all the work, FOR_SHARE is the whole range in order. FOR_LEADER { ... } is executed by one
// member.
//
// If each of a few indices has an inner loop with independent iterations, a sub-warp tile of the team's members
// shares that loop: FOR_TILES (i, begin, end) gives each tile its share of a range, and FOR_TILE_SHARE (j, count)
// gives each member of a tile its iterations. On the CPU a tile is one member.
//
// A HIGH_OCCUPANCY_KERNEL or HIGH_OCCUPANCY_TEAM_KERNEL is a high-occupancy kernel: its threads mostly wait for memory, so it gets
// fewer registers per thread, and more threads run at once.
//
// Members come in groups of LANES that run in lockstep: a warp on the GPU, the whole team on the CPU, where its members
// run one after the other. All members of a group call take_in_order(counters, k) together. It increments counters[k]
// once for each of them, as if they had come one after the other, and returns the previous value; members with k < 0
// count nothing.
//
// A COOPERATIVE_KERNEL is launched cooperatively: all of its threads run at once, so that GRID_BARRIER() of grid.cuh can hold
// them until the last one arrives. On the CPU each thread then has one piece of the range, and waits likewise.
//
// A COOPERATIVE_TEAM_KERNEL is a COOPERATIVE_KERNEL of whole teams, launched over MOST_PIECES of them. FOR_PIECES (team, pieces)
// gives each team its share of the pieces of a list, FOR_ALL (i, count) gives each member of each team its share of
// `count` indices, and FOR_FIRST_LEADER { ... } is executed by one member of one team, the FIRST_TEAM. A list has one
// piece for each of the TEAMS that run.
//
// A kernel that may take long for one index has a STOP_POINT() in its loop, every few thousand iterations: on the CPU,
// Ctrl-C ends the launch there. On the GPU it does nothing.
//
// A kernel launches a CHILD_KERNEL, which the host cannot name, by LAUNCH_CHILD(kernel, begin, end, ...); the result is
// 1 if the child was launched. Nothing waits for the child, but the launching kernel ends after it. nvcc compiles a
// file with this word as relocatable code, to be linked with the device runtime. On the CPU a child is a function call.
// LAUNCH_GRAPH_AGAIN(), in a kernel of a CUDA graph, launches that graph once more after it has ended.
//
// Python reads the names and parameter types of kernels from these declarations (dmr/memory/signatures.py): keep each
// declaration to one KERNEL( ... ) { head, with parameters of the form `type name` or `type *name`. Parameters that
// many kernels share form a KERNEL_STRUCT(name) { ... }: its fields, one per line and eight bytes each, are parameters
// like any other.
#pragma once

#include <cstdint>

using int32 = std::int32_t;
using int64 = std::int64_t;
using uint8 = std::uint8_t;
using uint32 = std::uint32_t;
using uint64 = std::uint64_t;
using float32 = float;
using float64 = double;
using Index = int64;

#define KERNEL_STRUCT(name) struct name

constexpr int TEAM_SIZE = 256; // members per team; a TEAM_KERNEL is launched with blocks of this many threads

// Sums that are computed together.
template <int N> struct Sums {
    int32 of[N];
};

// Time slice in nanoseconds. A GPU kernel that repeats itself stops after it, and the host launches it again: in
// between, the host handles signals such as that of Ctrl-C.
constexpr int64 SLICE = 50'000'000;

#ifdef __CUDACC__

#if __CUDACC_VER_MAJOR__ < 12
#error "CUDA 12 or later is needed: kernels are launched from the device"
#endif

#define INLINE __device__ __forceinline__
#define METHOD __device__ __forceinline__ // INLINE, for a member of a struct
#define OUTLINE __device__ __noinline__ // rare paths: not inlined, so that they do not cost the callers registers
#define ROLLED _Pragma("unroll 1") // loop of a rare path: not unrolled, because unrolling it costs nvcc much time
#define KERNEL(name, ...) extern "C" __global__ void name(const Index range_begin, const Count range_end, __VA_ARGS__)
#define HIGH_OCCUPANCY_KERNEL(name, ...)                                                                                      \
    extern "C" __global__ void __launch_bounds__(128, 6) name(const Index range_begin, const Count range_end, __VA_ARGS__)
#define TEAM_KERNEL KERNEL
#define HIGH_OCCUPANCY_TEAM_KERNEL(name, ...)                                                                                 \
    extern "C" __global__ void __launch_bounds__(TEAM_SIZE, 8)                                                         \
        name(const Index range_begin, const Count range_end, __VA_ARGS__)
#define COOPERATIVE_KERNEL KERNEL
#define COOPERATIVE_TEAM_KERNEL KERNEL
#define CHILD_KERNEL KERNEL
#define FOR_RANGE(i)                                                                                                   \
    for (Index end_ = range_end, i = share_of(range_begin, end_, blockIdx.x, gridDim.x, blockDim.x); i < end_;         \
         i += Index(gridDim.x) * blockDim.x)
#define FOR_PART(i, begin, end)                                                                                        \
    for (Index end_ = (end), i = share_of((begin), end_, blockIdx.x, gridDim.x, blockDim.x); i < end_;                 \
         i += Index(gridDim.x) * blockDim.x)
#define FOR_TEAMS(team)                                                                                                \
    for (Index team = range_begin + blockIdx.x, end_ = range_end; team < end_; team += gridDim.x)
#define FOR_MEMBERS(member)                                                                                            \
    for (int member = threadIdx.x, turn_ = 0; turn_ < 1; ++turn_, __syncthreads())
#define FOR_SHARE(i, begin, end)                                                                                       \
    for (Index share_end_ = (end), i = share_of((begin), share_end_, 0, 1, TEAM_SIZE); i < share_end_; i += TEAM_SIZE)
#define FOR_TILES(i, begin, end)                                                                                      \
    for (Index i = (begin) + tile_number(), tiles_end_ = (end); i < tiles_end_; i += TEAM_SIZE / TILE_LANES)
#define FOR_TILE_SHARE(j, count) for (int j = threadIdx.x % TILE_LANES, tile_end_ = (count); j < tile_end_; j += TILE_LANES)
#define FOR_LEADER if (threadIdx.x == 0)
#define FOR_PIECES(team, pieces)                                                                                       \
    for (Index team = blockIdx.x, pieces_ = (pieces); team < pieces_; team += gridDim.x)
#define FOR_ALL(i, count)                                                                                              \
    for (Index all_ = (count), i = share_of(0, all_, blockIdx.x, gridDim.x, TEAM_SIZE); i < all_;                      \
         i += Index(gridDim.x) * TEAM_SIZE)
#define FIRST_TEAM (blockIdx.x == 0)
#define TEAMS Index(gridDim.x)
#define FOR_FIRST_LEADER if (FIRST_TEAM && threadIdx.x == 0)
#define TEAM_BARRIER() __syncthreads()
#define TEAM_SHARED(type, name, count) __shared__ type name[count]

constexpr int LANES = 32;

// Number of members of each warp that take part when `warps` warps share `count` indices. Diverging members of a warp
// wait for each other, so few indices are spread over all warps.
INLINE int lanes_for(Index count, unsigned warps) {
    return count >= Index(warps) * LANES ? LANES : count <= warps ? 1 : int((unsigned(count) + warps - 1) / warps);
}

// First index of this thread in a range that `blocks` blocks share, or the end if it has none. One iteration of all
// threads covers a range that is spread; in longer ones each thread advances by the number of threads.
INLINE Index share_of(Index begin, Index end, unsigned block, unsigned blocks, unsigned block_size) {
    const int lanes = lanes_for(end - begin, blocks * (block_size / LANES)), lane = threadIdx.x % LANES;
    const unsigned warp = block * (block_size / LANES) + threadIdx.x / LANES;
    return lane < lanes ? begin + Index(warp) * lanes + lane : end;
}

constexpr int TILE_LANES = 8;

// Tiles with consecutive numbers are in different warps.
INLINE int tile_number() {
    return int(threadIdx.x % LANES / TILE_LANES * (TEAM_SIZE / LANES) + threadIdx.x / LANES);
}

INLINE int32 take_in_order(int32 *counters, int k) {
    const unsigned alike = __match_any_sync(0xffffffffu, k), before = alike & ((1u << (threadIdx.x % LANES)) - 1u);
    const int32 seen = k < 0 ? 0 : counters[k];
    __syncwarp();
    if (k >= 0 && before == 0) // the first member counts for all of them
        counters[k] = seen + __popc(alike);
    __syncwarp();
    return seen + __popc(before);
}

constexpr int CHILD_SIZE = 128; // threads per block of a child, if there is work for that many
#define LAUNCH_CHILD(kernel, begin, end, ...)                                                                          \
    (kernel<<<child_blocks((end) - (begin)), child_threads((end) - (begin)), 0, cudaStreamFireAndForget>>>(            \
         begin, Count{nullptr, end}, __VA_ARGS__),                                                                     \
     cudaGetLastError() == cudaSuccess)
struct Count {
    const int32 *place; // in device memory; if null, `value` is the count
    int64 value;
    __device__ __forceinline__ operator Index() const { return place != nullptr ? Index(*place) : value; }
};

INLINE unsigned child_blocks(Index count) { return unsigned((count + CHILD_SIZE - 1) / CHILD_SIZE); }
INLINE unsigned child_threads(Index count) { return count < CHILD_SIZE ? unsigned(count + 31) / 32 * 32 : CHILD_SIZE; }

INLINE uint64 atomic_max(uint64 *place, uint64 value) {
    return atomicMax(reinterpret_cast<unsigned long long *>(place), static_cast<unsigned long long>(value));
}
INLINE int32 atomic_add(int32 *place, int32 value) { return atomicAdd(place, value); }
INLINE int64 atomic_add(int64 *place, int64 value) {
    return static_cast<int64>(
        atomicAdd(reinterpret_cast<unsigned long long *>(place), static_cast<unsigned long long>(value)));
}
INLINE int32 atomic_min(int32 *place, int32 value) { return atomicMin(place, value); }
INLINE void atomic_or(uint32 *place, uint32 bits) { atomicOr(place, bits); }
INLINE int32 atomic_max(int32 *place, int32 value) { return atomicMax(place, value); }
INLINE int64 atomic_max(int64 *place, int64 value) {
    return static_cast<int64>(atomicMax(reinterpret_cast<long long *>(place), static_cast<long long>(value)));
}

// Plain stores and loads of a word that other threads may write at the same time, if any of the values will do.
template <class T> INLINE void racing_store(T *place, T value) { *const_cast<volatile T *>(place) = value; }
template <class T> INLINE T racing_load(const T *place) { return *const_cast<const volatile T *>(place); }

#define STOP_POINT() ((void)0)

#define LAUNCH_GRAPH_AGAIN() cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch)

constexpr bool EXACT_IS_DEAR = true;      // see predicates.cuh
constexpr bool READS_WHOLE_RECORDS = true; // memory is read in whole sectors, whichever words are needed
constexpr int MOST_PIECES = 1024; // pieces per list at most, and entries per piece at least (CudaDevice.most_pieces and
constexpr int LEAST_PIECE = 8;   // least_piece in dmr/memory/cuda/device.py)
constexpr int WARPS = TEAM_SIZE / 32;

INLINE int32 sum_of_warp(int32 value) {
#if __CUDA_ARCH__ >= 800
    return int32(__reduce_add_sync(~0u, unsigned(value)));
#else
    for (int reach = 16; reach > 0; reach /= 2)
        value += __shfl_xor_sync(~0u, value, reach);
    return value;
#endif
}

// The sums of value(i) over a range, returned to every member of the team.
template <int N, class Value> INLINE Sums<N> team_sum(Index begin, Index end, Value value) {
    __shared__ Sums<N> of_warp[WARPS];
    Sums<N> mine = {};
    FOR_SHARE (i, begin, end) {
        const Sums<N> one = value(i);
        for (int n = 0; n < N; ++n)
            mine.of[n] += one.of[n];
    }
    for (int n = 0; n < N; ++n)
        mine.of[n] = sum_of_warp(mine.of[n]);
    __syncthreads(); // the sums of an earlier call have been read
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    Sums<N> all = {};
    for (int warp = 0; warp < WARPS; ++warp)
        for (int n = 0; n < N; ++n)
            all.of[n] += of_warp[warp].of[n];
    return all;
}

// Calls visit(i, sums of value over the entries before i, plus `before`) for each i of a range; value(i) is called
// once, before visit(i). Returns the sums over the whole range, plus `before`.
template <int N, class Value, class Visit>
INLINE Sums<N> team_in_order(Index begin, Index end, Sums<N> before, Value value, Visit visit) {
    __shared__ Sums<N> of_warp[WARPS];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, lanes = lanes_for(end - begin, WARPS);
    for (Index start = begin; start < end; start += TEAM_SIZE) {
        const Index i = lane < lanes ? start + warp * lanes + lane : end;
        Sums<N> mine = {};
        if (i < end)
            mine = value(i);
        Sums<N> up_to = mine; // sums over the warp's members up to this one
        for (int reach = 1; reach < 32; reach *= 2)
            for (int n = 0; n < N; ++n) {
                const int32 lower = __shfl_up_sync(~0u, up_to.of[n], reach);
                up_to.of[n] += lane >= reach ? lower : 0;
            }
        __syncthreads(); // the sums of the previous iteration have been read
        if (lane == 31)
            of_warp[warp] = up_to;
        __syncthreads();
        Sums<N> place = before;
        for (int other = 0; other < WARPS; ++other)
            for (int n = 0; n < N; ++n) {
                const int32 sum = of_warp[other].of[n];
                place.of[n] += other < warp ? sum : 0;
                before.of[n] += sum;
            }
        for (int n = 0; n < N; ++n)
            place.of[n] += up_to.of[n] - mine.of[n];
        if (i < end)
            visit(i, place);
    }
    return before;
}

// Stores a record of 32 bytes; other threads may read a word of it at the same time.
template <class T> INLINE void store_record(T *place, const T &record) {
    static_assert(sizeof(T) == 2 * sizeof(int4) && alignof(T) == sizeof(T), "one sector of memory");
    reinterpret_cast<int4 *>(place)[0] = reinterpret_cast<const int4 *>(&record)[0];
    reinterpret_cast<int4 *>(place)[1] = reinterpret_cast<const int4 *>(&record)[1];
}

// A monotonic clock.
INLINE int64 nanoseconds() {
    int64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

INLINE uint64 bits_of(float64 x) { return static_cast<uint64>(__double_as_longlong(x)); }
INLINE float64 magnitude(float64 x) { return fabs(x); }
INLINE float64 square_root(float64 x) { return __dsqrt_rn(x); } // correctly rounded, as IEEE 754 requires

// Prefetches a cache line. Only the CPU does: its threads wait for memory, whereas a GPU runs other threads meanwhile.
INLINE void prefetch(const void *) {}
constexpr bool PREFETCHES = false;
constexpr int SIDE_BY_SIDE = 4; // independent loads of a loop that a thread waits for together; a CPU prefetches
#define IN_VECTORS
constexpr bool CHECKS_AT_ONCE = false; // see retriangulation.cu: on a GPU the checks have a separate kernel

// First entry of a record of `length` entries among many, and the stride between its entries. A GPU's threads, one per
// record, read neighbouring words; a CPU's thread reads a record from end to end.
INLINE Index record_start(Index record, Index) { return record; }
INLINE Index record_stride(Index records) { return records; }

#else

#include <cstring>

#include "portable/host.hpp"

#define INLINE static inline
#define METHOD inline
#define OUTLINE [[gnu::noinline]] static
#define ROLLED
#define KERNEL(name, ...)                                                                                              \
    static void name(Index, Index, __VA_ARGS__);                                                                       \
    extern "C" void kernel_##name(Index begin, Index end, const host::Slot *arguments) {                               \
        host::invoke(name, begin, end, arguments);                                                                     \
    }                                                                                                                  \
    static void name([[maybe_unused]] const Index range_begin, [[maybe_unused]] const Index range_end, __VA_ARGS__)
#define HIGH_OCCUPANCY_KERNEL KERNEL
#define TEAM_KERNEL KERNEL
#define HIGH_OCCUPANCY_TEAM_KERNEL KERNEL
#define COOPERATIVE_KERNEL KERNEL
#define COOPERATIVE_TEAM_KERNEL KERNEL

struct Count {
    int64 value; // on the CPU the launching code looks it up
    operator Index() const { return value; }
};

#define CHILD_KERNEL(name, ...) static void name(const Index range_begin, const Index range_end, __VA_ARGS__)
#define FOR_RANGE(i) for (Index i = range_begin; i < range_end; ++i)
#define FOR_PART(i, begin, end)                                                                                        \
    for (Index part_ = (end), i = (begin) > range_begin ? (begin) : range_begin; i < part_ && i < range_end; ++i)
#define FOR_TEAMS(team) for (Index team = range_begin; team < range_end; ++team)
#define FOR_MEMBERS(member) for (int member = 0; member < TEAM_SIZE; ++member)
#define FOR_SHARE(i, begin, end) for (Index i = (begin), share_end_ = (end); i < share_end_; ++i)
#define FOR_TILES(i, begin, end) FOR_SHARE (i, begin, end)
#define FOR_TILE_SHARE(j, count) for (int j = 0, tile_end_ = (count); j < tile_end_; ++j)
#define FOR_LEADER if (true)
#define FOR_PIECES(team, pieces)                                                                                       \
    for (Index team = range_begin, pieces_ = (pieces); team < range_end && team < pieces_; ++team)
#define FOR_ALL(i, count)                                                                                              \
    for (Index all_ = (count), i = all_ * range_begin / MOST_PIECES, part_ = all_ * range_end / MOST_PIECES; i < part_; ++i)
#define FIRST_TEAM (range_begin == 0)
#define TEAMS Index(MOST_PIECES)
#define FOR_FIRST_LEADER if (FIRST_TEAM)
#define TEAM_BARRIER() ((void)0)
#define TEAM_SHARED(type, name, count) type name[count]
#define STOP_POINT() host::stop_point()

constexpr int LANES = TEAM_SIZE;
INLINE int32 take_in_order(int32 *counters, int k) { return k < 0 ? 0 : counters[k]++; }

#define LAUNCH_CHILD(kernel, begin, end, ...) (kernel(begin, end, __VA_ARGS__), true)

template <class T> INLINE T atomic_max(T *place, T value) {
    T seen = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (seen < value && !__atomic_compare_exchange_n(place, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return seen;
}
INLINE int32 atomic_add(int32 *place, int32 value) { return __atomic_fetch_add(place, value, __ATOMIC_RELAXED); }
INLINE int64 atomic_add(int64 *place, int64 value) { return __atomic_fetch_add(place, value, __ATOMIC_RELAXED); }
INLINE void atomic_or(uint32 *place, uint32 bits) { __atomic_fetch_or(place, bits, __ATOMIC_RELAXED); }
INLINE int32 atomic_min(int32 *place, int32 value) {
    int32 seen = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (seen > value && !__atomic_compare_exchange_n(place, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return seen;
}

template <class T> INLINE void racing_store(T *place, T value) { __atomic_store_n(place, value, __ATOMIC_RELAXED); }
template <class T> INLINE T racing_load(const T *place) { return __atomic_load_n(place, __ATOMIC_RELAXED); }

template <class T> INLINE void store_record(T *place, const T &record) {
    uint64 words[sizeof(T) / sizeof(uint64)];
    std::memcpy(words, &record, sizeof record);
    for (unsigned k = 0; k < sizeof(T) / sizeof(uint64); ++k)
        racing_store(reinterpret_cast<uint64 *>(place) + k, words[k]);
}

#define LAUNCH_GRAPH_AGAIN() ((void)0) // host_repeat does this (host.cpp)

constexpr bool EXACT_IS_DEAR = false;
constexpr bool READS_WHOLE_RECORDS = false;
constexpr int MOST_PIECES = 256; // pieces per list at most, and entries per piece at least (HostDevice.most_pieces and
constexpr int LEAST_PIECE = 256; // least_piece in dmr/memory/host/device.py)

template <int N, class Value> INLINE Sums<N> team_sum(Index begin, Index end, Value value) {
    Sums<N> all = {};
    for (Index i = begin; i < end; ++i) {
        const Sums<N> one = value(i);
        for (int n = 0; n < N; ++n)
            all.of[n] += one.of[n];
    }
    return all;
}

template <int N, class Value, class Visit>
INLINE Sums<N> team_in_order(Index begin, Index end, Sums<N> before, Value value, Visit visit) {
    for (Index i = begin; i < end; ++i) {
        const Sums<N> one = value(i);
        visit(i, before);
        for (int n = 0; n < N; ++n)
            before.of[n] += one.of[n];
    }
    return before;
}

INLINE int64 nanoseconds() { return host::nanoseconds(); }

INLINE uint64 bits_of(float64 x) {
    uint64 bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

// One instruction. For `x < 0 ? -x : x` g++ generates a branch, which goes either way half of the time.
INLINE float64 magnitude(float64 x) { return __builtin_fabs(x); }
INLINE float64 square_root(float64 x) { return __builtin_sqrt(x); }

// GCC considers a function that only prefetches to have no effect, and drops the calls of it: an empty statement that
// it may not drop prevents that.
INLINE void prefetch(const void *place) {
    __builtin_prefetch(place);
    asm volatile("");
}
constexpr bool PREFETCHES = true;
constexpr int SIDE_BY_SIDE = 1;
#define IN_VECTORS _Pragma("GCC unroll 1") // short loop, which g++ would unroll first, and then not vectorise
constexpr bool CHECKS_AT_ONCE = true;

INLINE Index record_start(Index record, Index length) { return record * length; }
INLINE Index record_stride(Index) { return 1; }

#endif

// The piece of a list of `count` entries that a team processes, the same in every kernel over the list. There are
// enough pieces for every core, and few enough that each team can add up the sums of all.
struct Piece {
    Index begin, end;
};

INLINE Piece piece_of(Index team, Index count, Index most = MOST_PIECES) {
    const Index even = (count + most - 1) / most;
    const Index length = (even + LEAST_PIECE - 1) / LEAST_PIECE * LEAST_PIECE, begin = team * length;
    return {begin, begin + length < count ? begin + length : count};
}

INLINE Index pieces_of(Index count, Index most = MOST_PIECES) {
    const Index length = piece_of(0, count, most).end;
    return length ? (count + length - 1) / length : 0;
}

// The sums of the pieces [from, to).
template <int N> INLINE Sums<N> sum_of_pieces(const int32 *sums, Index from, Index to) {
    return team_sum<N>(from, to, [&](Index piece) {
        Sums<N> one;
        for (int n = 0; n < N; ++n)
            one.of[n] = sums[piece * N + n];
        return one;
    });
}
