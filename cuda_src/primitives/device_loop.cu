// Sequence of kernels that repeats itself until one of them requests a stop.
//
// On a GPU the sequence is a CUDA graph of which this kernel is the last node: it launches the same graph again, to run
// after this run has ended (a tail launch). It stops doing so after a time slice, so that the host can handle signals
// and launch the graph again. On a CPU the native library repeats the sequence (host_repeat in host.cpp).
#include "portable/portable.cuh"

// `slice_begun` is 0 at the beginning of a slice, and a null pointer on a CPU.
KERNEL(launch_again, const int32 *stop, int64 *slice_begun) {
    for (const Index once : launch) {
        if (stop[once] || slice_begun == nullptr)
            continue;
        const int64 now = nanoseconds();
        if (*slice_begun == 0)
            *slice_begun = now;
        if (now - *slice_begun < SLICE)
            LAUNCH_GRAPH_AGAIN();
    }
}
