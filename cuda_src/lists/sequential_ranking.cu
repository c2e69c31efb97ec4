// Sequential list ranking by one thread, list after list: the reference for all other methods. If the input is not a
// valid list, at most `count` elements are followed.
#include "lists/lists.cuh"

constexpr int32 STEPS_AT_ONCE = 1 << 13; // elements between two STOP_POINTs

KERNEL(rank_in_sequence, const int32 *successors, int64 count, const int32 *heads, int64 lists_count, int32 *ranks,
       int32 *lists, int32 *lengths) {
    for ([[maybe_unused]] const Index once : launch) {
        for (Index list = 0; list < lists_count; ++list) {
            int32 rank = 0;
            for (int32 at = heads[list], next;; at = next, ++rank) {
                if (rank % STEPS_AT_ONCE == 0)
                    STOP_POINT();
                next = successors[at];
                ranks[at] = rank;
                if (lists != nullptr)
                    lists[at] = int32(list);
                if (ends_list(at, next) || rank + 1 >= count)
                    break;
            }
            lengths[list] = rank + 1;
        }
    }
}
