// PageRank by pull as a body of the engine (graph/engine/engine.cuh): a node sums the shares that reach it along the
// edges of the transposed graph. leave_nodes (push.cu) computes the new scores from the sums.
#include "graph/engine/engine.cuh"
#include "graph/pagerank/iteration.cuh"

KERNEL_STRUCT(Pull) {
    const uint64 *shares0; // the buffers of PageRank, of which one pair is null
    const uint64 *shares1;
    const float32 *narrow0;
    const float32 *narrow1;
    const int32 *progress;
    const uint64 *ratios; // of the edges of the transposed graph; null without weights
    uint64 *incoming;     // (nodes)
    using State = int32;  // which buffer has the shares of the iteration
    using Reduction = Sum;

    METHOD bool enter(Index, State & state, const Loop &) const {
        state = progress[ITERATIONS] % 2;
        return true;
    }
    METHOD uint64 edge(Index, State state, Index edge, const Loop &loop) const {
        const Index source = loop.graph.targets[edge];
        const uint64 share =
            narrow0 != nullptr ? units_of((state ? narrow1 : narrow0)[source]) : (state ? shares1 : shares0)[source];
        return ratios != nullptr ? part_of(share, ratios[edge]) : share;
    }
    METHOD void leave(Index node, State, uint64 sum, const Loop &) const { incoming[node] = sum; }
};

ENGINE_KERNELS_WITH_LEAVE(pull_loop, Pull)
