// When each block of a launch ran, and on which multiprocessor (thesis, figure 6.5): one line of the timeline a block,
// by %globaltimer and %smid. On the CPU a block is a piece of the range, and the multiprocessor a thread.
#pragma once

#include "lanes.cuh"

// A timeline without lines records nothing.
KERNEL_STRUCT(Timeline) {
    int64 *lines; // TIMELINE_ENTRIES of each
    int64 room;   // lines that there are
    int64 *used;  // lines that were asked for so far
};

// Line of static_graph/schemes/timeline.py
enum TimelineEntry : int32 { ROUND, PROCESSOR, BEGUN, ENDED, TIMELINE_ENTRIES };

struct BlockClock {
    int64 begun;
};

INLINE BlockClock begin_block(const Timeline &timeline) { return {timeline.room > 0 ? nanoseconds() : 0}; }

// All threads of a block come here at its end.
INLINE void end_block(const Timeline &timeline, const BlockClock &clock, int32 round) {
    if (timeline.room == 0)
        return;
    TEAM_BARRIER();
    FOR_LEADER {
        const int64 line = atomic_add(timeline.used, int64(1));
        if (line < timeline.room) {
            int64 *const entries = timeline.lines + line * TIMELINE_ENTRIES;
            entries[ROUND] = round;
            entries[PROCESSOR] = processor_number();
            entries[BEGUN] = clock.begun;
            entries[ENDED] = nanoseconds();
        }
    }
}
