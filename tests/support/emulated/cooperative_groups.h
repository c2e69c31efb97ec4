// The part of CUDA's header of this name that kernels use: each coalesced group is a single lane, and a grid one block.
#pragma once

namespace cooperative_groups {

struct Alone {
    unsigned thread_rank() const { return 0; }
    unsigned size() const { return 1; }
    template <class T> T shfl(T value, int) const { return value; }
};

struct Grid {
    void sync(int line = __builtin_LINE()) const { emulated::wait_for_block(line); }
};

inline Alone coalesced_threads() { return {}; }
inline Grid this_grid() { return {}; }

} // namespace cooperative_groups
