// How the C++ build runs a kernel: arguments in eight-byte slots, and a range cut into pieces for a pool of threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

namespace host {

using Index = std::int64_t;
using Slot = std::uint64_t; // one argument: a pointer, or the bytes of a scalar, from the slot's first byte on
using Kernel = void (*)(Index begin, Index end, const Slot *arguments);

template <class T> T from_slot(const Slot &slot) {
    static_assert(sizeof(T) <= sizeof(Slot), "kernel parameters are pointers and scalars");
    T value;
    std::memcpy(&value, &slot, sizeof value);
    return value;
}

template <class... Parameters, std::size_t... Place>
void invoke_with(void (*kernel)(Index, Index, Parameters...), Index begin, Index end, const Slot *arguments,
                 std::index_sequence<Place...>) {
    kernel(begin, end, from_slot<Parameters>(arguments[Place])...);
}

template <class... Parameters>
void invoke(void (*kernel)(Index, Index, Parameters...), Index begin, Index end, const Slot *arguments) {
    invoke_with(kernel, begin, end, arguments, std::index_sequence_for<Parameters...>{});
}

// Inside a launch of a GRID_KERNEL: waits until every thread of it has come here. (The end of each kernel needs no call.)
void wait_for_grid();

std::int64_t nanoseconds();

} // namespace host
