// The part of CUDA C++ that kernels use, for the C++ compiler: with __CUDACC__ defined, it compiles the code for nvcc.
//
// The threads of a block are fibers of one thread (threads.cpp). They take turns in a random order: at barriers and
// shuffles, and sometimes at atomics and at words that others may write.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__ inline
#define __launch_bounds__(...)
#define __shared__ static // blocks run one after the other

struct int4 {
    int x, y, z, w;
};

namespace emulated {

struct Place {
    unsigned x = 0;
};

enum Exchange { FROM_LANE, FROM_BELOW, FROM_ACROSS, ALIKE };

void wait_for_block(int line); // source line of the barrier
void perhaps_others();
std::uint64_t exchange(unsigned lanes, std::uint64_t value, Exchange how, int argument, int width);
void run(unsigned blocks, unsigned threads, const std::function<void()> &kernel);
std::int64_t clock();

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

namespace emulated {

// Runs a child kernel immediately, as one thread that strides over its whole range.
template <class Child> bool run_child(Child child) {
    const Place thread = threadIdx, block = blockIdx, threads = blockDim, blocks = gridDim;
    threadIdx.x = blockIdx.x = 0;
    blockDim.x = gridDim.x = 1;
    child();
    threadIdx = thread, blockIdx = block, blockDim = threads, gridDim = blocks;
    return true;
}

// Takes the next argument. Arguments are stored contiguously, in slots of eight bytes (`Signature.letters`).
template <class T> T take(const std::uint64_t *&slots) {
    T value;
    std::memcpy(static_cast<void *>(&value), slots, sizeof value);
    slots += (sizeof(T) + 7) / 8;
    return value;
}

// A kernel's first parameter is the start of its range, which distinguishes it from other functions of its name.
template <class... Parameters>
void launch(void (*kernel)(std::int64_t, Parameters...), unsigned blocks, unsigned threads, const std::uint64_t *slots) {
    const std::tuple<std::int64_t, Parameters...> arguments{take<std::int64_t>(slots), take<Parameters>(slots)...};
    run(blocks, threads, [&] { std::apply(kernel, arguments); });
}

} // namespace emulated

inline void __syncthreads(int line = __builtin_LINE()) { emulated::wait_for_block(line); }
inline void __syncwarp(unsigned lanes = ~0u) { emulated::exchange(lanes, 0, emulated::FROM_LANE, 0, 32); }
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
inline void __threadfence() {}
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
template <class T> T atomicOr(T *place, T value) {
    return emulated::atomically(place, [=](T before) { return T(before | value); });
}
template <class T> T atomicExch(T *place, T value) {
    return emulated::atomically(place, [=](T) { return value; });
}
