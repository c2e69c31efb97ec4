// Launches of emulated kernels.
#pragma once

#include <tuple>

#include "portable/portable.cuh"

namespace emulated {

void run(unsigned blocks, unsigned threads, const std::function<void()> &kernel);

// Takes the next argument. Arguments are stored contiguously, in slots of eight bytes (`Signature.letters`).
template <class T> T take(const std::uint64_t *&slots) {
    T value;
    std::memcpy(static_cast<void *>(&value), slots, sizeof value);
    slots += (sizeof(T) + 7) / 8;
    return value;
}

// A kernel's first parameter is its Launch, which distinguishes it from other functions of its name.
template <class... Parameters>
void launch(void (*kernel)(Launch, Parameters...), unsigned blocks, unsigned threads, const std::uint64_t *slots) {
    const std::tuple<Launch, Parameters...> arguments{take<Launch>(slots), take<Parameters>(slots)...};
    run(blocks, threads, [&] { std::apply(kernel, arguments); });
}

} // namespace emulated
