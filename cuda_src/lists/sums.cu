// Sums along ranked lists: the values are put in list order, summed by a scan, and gathered.
#include "lists/lists.cuh"

// ordered[k] = the value of the k-th element in list order, one list after another.
KERNEL(order_values, const int64 *values, const int32 *ranks, const int32 *lists, const int32 *begins, int64 *ordered) {
    for (const Index i : launch)
        ordered[Index(begins[lists[i]]) + ranks[i]] = values[i];
}

// sums[i] = the sum of the values before element i on its list; `prefix` is the exclusive scan of the ordered ones.
KERNEL(fetch_sums, const int64 *prefix, const int32 *ranks, const int32 *lists, const int32 *begins, int64 *sums) {
    for (const Index i : launch) {
        const Index begin = begins[lists[i]];
        sums[i] = prefix[begin + ranks[i]] - prefix[begin];
    }
}
