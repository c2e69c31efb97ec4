// Runs a kernel of the C++ build: arguments in eight-byte slots, and a range cut into pieces for a pool of threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "portable/interrupts.hpp"

namespace host {

using Index = std::int64_t;
using Slot = std::uint64_t; // one argument: a pointer, or the bytes of a scalar, at the start of the slot
using Kernel = void (*)(Index begin, Index end, const Slot *arguments);

// Number of slots that a parameter takes: one, or one per field of a KERNEL_STRUCT (all of eight bytes).
template <class T> constexpr std::size_t SLOTS = sizeof(T) <= sizeof(Slot) ? 1 : sizeof(T) / sizeof(Slot);

template <class T> T from_slots(const Slot *first) {
    static_assert(sizeof(T) <= sizeof(Slot) || sizeof(T) % sizeof(Slot) == 0, "fields are of eight bytes");
    T value;
    std::memcpy(static_cast<void *>(&value), first, sizeof value);
    return value;
}

template <class... Parameters, std::size_t... Place>
void invoke_with(void (*kernel)(Index, Index, Parameters...), Index begin, Index end, const Slot *arguments,
                 std::index_sequence<Place...>) {
    constexpr std::size_t taken[] = {SLOTS<Parameters>...};
    const auto before = [&](std::size_t place) { // slots of the parameters before this one
        std::size_t slots = 0;
        for (std::size_t k = 0; k < place; ++k)
            slots += taken[k];
        return slots;
    };
    kernel(begin, end, from_slots<Parameters>(arguments + before(Place))...);
}

template <class... Parameters>
void invoke(void (*kernel)(Index, Index, Parameters...), Index begin, Index end, const Slot *arguments) {
    invoke_with(kernel, begin, end, arguments, std::index_sequence_for<Parameters...>{});
}

// Waits, inside a launch of a GRID_KERNEL, until every thread of it is here. (The end of a kernel needs no call.)
void wait_for_grid();

} // namespace host
