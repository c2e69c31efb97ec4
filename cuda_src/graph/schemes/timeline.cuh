// Timeline of the blocks of a launch (thesis, figure 6.5): one record per block, with its times (%globaltimer)
// and multiprocessor (%smid). On the CPU a block is a piece of the range, and the multiprocessor is a thread.
#pragma once

#include "portable/portable.cuh"

// A timeline with a capacity of 0 records nothing.
KERNEL_STRUCT(Timeline) {
    int64 *records; // of TIMELINE_ENTRIES entries
    int64 capacity; // in records
    int64 *used;    // records requested so far
};

// Columns of a record.
enum TimelineEntry : int32 { ROUND, PROCESSOR, BEGUN, ENDED, TIMELINE_ENTRIES };

struct BlockClock {
    int64 begun;
};

INLINE BlockClock begin_block(const Timeline &timeline) { return {timeline.capacity > 0 ? nanoseconds() : 0}; }

// Called by all threads of a block at its end.
INLINE void end_block(const Timeline &timeline, const BlockClock &clock, int32 round) {
    if (timeline.capacity == 0)
        return;
    Team::barrier();
    if (Team::leads()) {
        const int64 record = atomic_add(timeline.used, int64(1));
        if (record < timeline.capacity) {
            int64 *const entries = timeline.records + record * TIMELINE_ENTRIES;
            entries[ROUND] = round;
            entries[PROCESSOR] = processor_number();
            entries[BEGUN] = clock.begun;
            entries[ENDED] = nanoseconds();
        }
    }
}
