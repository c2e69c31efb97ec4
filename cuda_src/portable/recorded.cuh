// A recorded sequence of launches on a CPU. dmr/memory/host/loops.py reads these declarations, and fills arrays of
// them.
#pragma once

#include <cstdint>

using int32 = std::int32_t;
using int64 = std::int64_t;
using uint64 = std::uint64_t;

struct Timed; // of host.cpp

// An argument that is a number in memory, and that is looked up just before the launch.
struct Lookup {
    int64 slot; // index among the arguments
    const int32 *place;
};

// A launch.
struct Step {
    Timed *timed;
    int64 count;
    const int32 *place; // of the count; if null, `count` applies
    uint64 *arguments;  // in slots (host::Slot)
    const Lookup *lookups;
    int64 lookups_count;
    int64 grid; // 1 if it is a COOPERATIVE_KERNEL
};
