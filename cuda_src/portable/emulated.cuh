// The definitions of portable.cuh for the tests' emulator: a C++ compiler compiles the text that nvcc would.
//
// The threads of a block are fibers of one thread (tests/support/emulated/threads.cpp). They take turns in a random
// order: at barriers and shuffles, and sometimes at atomics and at words that others may write. Blocks run one after
// the other; a grid is one block.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

// ---- CUDA's definitions -------------------------------------------------------------------------------------------

struct int4 {
    int x, y, z, w;
};

#define __shared__ static

namespace emulated {

struct Place {
    unsigned x = 0;
};

enum Exchange { FROM_LANE, FROM_BELOW, FROM_ACROSS, ALIKE };

void wait_for_block(int line); // source line of the barrier
void perhaps_others();
std::uint64_t exchange(unsigned lanes, std::uint64_t value, Exchange how, int argument, int width);
std::int64_t clock();

// Runs a child kernel immediately, as one thread that strides over its whole range.
bool run_child(const std::function<void()> &child);

template <class T> T exchanged(unsigned lanes, T value, Exchange how, int argument, int width) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits = exchange(lanes, bits, how, argument, width);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T, class Change> T atomically(T *place, Change change) {
    perhaps_others();
    const T before = *place;
    *place = change(before);
    return before;
}

} // namespace emulated

extern emulated::Place threadIdx, blockIdx, blockDim, gridDim;

inline void __syncwarp(unsigned lanes = ~0u) { emulated::exchange(lanes, 0, emulated::FROM_LANE, 0, 32); }
inline unsigned __activemask() { return 1u << threadIdx.x % 32; } // no lane is sure to run beside this one
template <class T> T __shfl_sync(unsigned lanes, T value, int lane, int width = 32) {
    return emulated::exchanged(lanes, value, emulated::FROM_LANE, lane, width);
}
template <class T> T __shfl_up_sync(unsigned lanes, T value, int reach, int width = 32) {
    return emulated::exchanged(lanes, value, emulated::FROM_BELOW, reach, width);
}
template <class T> T __shfl_xor_sync(unsigned lanes, T value, int mask, int width = 32) {
    return emulated::exchanged(lanes, value, emulated::FROM_ACROSS, mask, width);
}
inline unsigned __match_any_sync(unsigned lanes, int value) {
    return unsigned(emulated::exchange(lanes, std::uint64_t(unsigned(value)), emulated::ALIKE, 0, 32));
}
inline unsigned __ballot_sync(unsigned lanes, bool value) {
    const unsigned alike = __match_any_sync(lanes, value);
    return value ? alike : lanes & ~alike;
}
inline void __threadfence() {}
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
inline std::int64_t __double_as_longlong(double x) {
    std::int64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline double __longlong_as_double(std::int64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
template <class T> T atomicAdd(T *place, T value) {
    return emulated::atomically(place, [=](T before) { return T(before + value); });
}
template <class T> T atomicMin(T *place, T value) {
    return emulated::atomically(place, [=](T before) { return value < before ? value : before; });
}
template <class T> T atomicMax(T *place, T value) {
    return emulated::atomically(place, [=](T before) { return before < value ? value : before; });
}
template <class T> T atomicCAS(T *place, T expected, T desired) {
    return emulated::atomically(place, [=](T before) { return before == expected ? desired : before; });
}
template <class T> T atomicExch(T *place, T value) {
    return emulated::atomically(place, [=](T) { return value; });
}
template <class T> T atomicOr(T *place, T value) {
    return emulated::atomically(place, [=](T before) { return T(before | value); });
}

// ---- The definitions of cuda.cuh ----------------------------------------------------------------------------------

#define INLINE inline
#define METHOD inline
#define OUTLINE inline
#define ROLLED
#define KERNEL(name, ...) void name(const Launch launch, __VA_ARGS__)
#include "portable/plain_kernels.cuh"
#define CHILD_KERNEL KERNEL
#define TEAM_SHARED(type, name, count) __shared__ type name[count]

constexpr int MOST_PIECES = 16; // few: idle teams cost as much as others here
constexpr int LEAST_PIECE = 8;

#include "portable/words.cuh"

namespace gpu {

INLINE void wait_for_team(int line) { emulated::wait_for_block(line); }

INLINE void release(uint64 *place, uint64 value) {
    emulated::perhaps_others();
    *place = value;
}
INLINE uint64 acquired(const uint64 *place) {
    emulated::perhaps_others();
    return *place;
}
INLINE bool arrive_last(uint32 *arrived, uint32 teams) {
    return emulated::atomically(arrived, [=](uint32 before) { return before == teams - 1 ? 0 : before + 1; }) ==
           teams - 1;
}

} // namespace gpu

template <class T> INLINE void racing_store(T *place, T value) {
    emulated::perhaps_others();
    *const_cast<volatile T *>(place) = value;
}
template <class T> INLINE T racing_load(const T *place) {
    emulated::perhaps_others();
    return *const_cast<const volatile T *>(place);
}

template <class T> INLINE T cached_load(const T *place) { return racing_load(place); }
template <class T> INLINE T streamed_load(const T *place) { return *place; }

INLINE int64 nanoseconds() { return emulated::clock(); }
INLINE int64 processor_number() { return blockIdx.x; }

#include "portable/gpu.cuh"

INLINE void Grid::barrier(int line) { emulated::wait_for_block(line); }

#define LAUNCH_CHILD(kernel, begin, end, ...)                                                                          \
    emulated::run_child([&] { kernel(Launch{begin, Count{nullptr, end}}, __VA_ARGS__); })
#define LAUNCH_GRAPH_AGAIN() ((void)0) // the emulated device repeats its sequence (emulator.py)
