// A sequence of kernels that starts itself again, as long as none of them says stop.
//
// On a GPU the sequence is a CUDA graph of which this kernel is the last node: it launches the graph that it is part of,
// to run when that has ended (a tail launch). On a CPU the native library goes through the
// sequence again (host_repeat in host.cpp).
#include "portable.cuh"

KERNEL(launch_again, const int32 *stop) {
    FOR_RANGE (once)
        if (!stop[once])
            LAUNCH_GRAPH_AGAIN();
}
