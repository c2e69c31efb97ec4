// Timeline of the blocks of a launch (thesis, figure 6.5): one record (`line`) per block, with its times (%globaltimer)
// and multiprocessor (%smid). On the CPU a block is a piece of the range, and the multiprocessor is a thread.
#pragma once

#include "portable/lanes.cuh"

// A timeline with a capacity of 0 records nothing.
KERNEL_STRUCT(Timeline) {
    int64 *lines; // records of TIMELINE_ENTRIES entries
    int64 capacity;   // capacity in records
    int64 *used;  // records requested so far
};

// Line of static_graph/traversal/schemes/timeline.py
enum TimelineEntry : int32 { ROUND, PROCESSOR, BEGUN, ENDED, TIMELINE_ENTRIES };

struct BlockClock {
    int64 begun;
};

INLINE BlockClock begin_block(const Timeline &timeline) { return {timeline.capacity > 0 ? nanoseconds() : 0}; }

// Called by all threads of a block at its end.
INLINE void end_block(const Timeline &timeline, const BlockClock &clock, int32 round) {
    if (timeline.capacity == 0)
        return;
    TEAM_BARRIER();
    FOR_LEADER {
        const int64 line = atomic_add(timeline.used, int64(1));
        if (line < timeline.capacity) {
            int64 *const entries = timeline.lines + line * TIMELINE_ENTRIES;
            entries[ROUND] = round;
            entries[PROCESSOR] = processor_number();
            entries[BEGUN] = clock.begun;
            entries[ENDED] = nanoseconds();
        }
    }
}
