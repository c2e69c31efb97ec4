// Runs a kernel of the C++ build: arguments in eight-byte slots, and a range cut into pieces for a pool of threads.
#pragma once

#include <cstdint>
#include <cstring>

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

// Whether the launch that this thread works on has no other thread. Its atomic operations then need no locked
// instructions, which take ten to twenty times as long as plain ones.
#if defined(__linux__)
__attribute__((tls_model("initial-exec"))) // without a call for each access
#endif
LIBRARY_ONLY inline thread_local bool alone = false;

// Sets `alone` until the end of the scope.
class Alone {
  public:
    explicit Alone(bool is_alone) : before_(alone) { alone = is_alone; }
    ~Alone() { alone = before_; }
    Alone(const Alone &) = delete;
    Alone &operator=(const Alone &) = delete;

  private:
    const bool before_; // a signal handler may make calls itself
};

// Waits, inside a launch of a COOPERATIVE_KERNEL, until every thread of it is here. (The end of a kernel needs no
// call.)
void wait_for_grid();

// The number of indices of the COOPERATIVE_KERNEL that this thread takes part in.
Index grid_size();

} // namespace host
