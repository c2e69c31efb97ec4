// Checks, and conversions to the dtypes of a graph, of arrays that another library has made on the device.
//
// `fault` gets the index of the first wrong element; before, it has a larger number than any index.
#include "graph/csr.cuh"

// Checks that no offset is below the one before; the fault is a node.
KERNEL(check_offsets, Csr graph, int64 *fault) {
    for (const Index node : launch)
        if (graph.end(node) < graph.begin(node))
            atomic_min(fault, int64(node));
}

// Checks that edges lead to nodes.
KERNEL(check_targets, Csr graph, int64 *fault) {
    for (const Index edge : launch)
        if (graph.targets[edge] < 0 || graph.targets[edge] >= graph.nodes)
            atomic_min(fault, int64(edge));
}

// Converts targets, and checks that edges lead to nodes.
KERNEL(narrow_targets, const int64 *given, int64 nodes, int32 *targets, int64 *fault) {
    for (const Index edge : launch) {
        targets[edge] = int32(given[edge]);
        if (given[edge] < 0 || given[edge] >= nodes)
            atomic_min(fault, int64(edge));
    }
}

KERNEL(widen_weights, const float32 *given, float64 *weights) {
    for (const Index edge : launch)
        weights[edge] = float64(given[edge]);
}

// Checks that weights are not negative, and finds the largest.
KERNEL(check_whole_weights, Csr graph, int64 *fault, int64 *largest) {
    int64 most = 0;
    for (const Index edge : launch) {
        const int64 weight = graph.whole_weight(edge);
        if (weight < 0)
            atomic_min(fault, int64(edge));
        most = weight > most ? weight : most;
    }
    if (most > 0)
        atomic_max(largest, most);
}

// Checks that weights are finite and not negative.
KERNEL(check_real_weights, Csr graph, int64 *fault) {
    for (const Index edge : launch) {
        const float64 weight = graph.real_weights[edge];
        if (!(weight >= 0 && weight - weight == 0)) // infinity - infinity is NaN
            atomic_min(fault, int64(edge));
    }
}
