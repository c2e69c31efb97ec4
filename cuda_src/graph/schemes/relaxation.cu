// Breadth-first search and shortest paths on a frontier, by the engine.
#include "graph/engine/engine.cuh"
#include "graph/traversal/distances.cuh"

// The loop body for both searches. A node is pushed once per round: in breadth-first search by the thread that reaches
// it first; with weights, by the first thread that sets its epoch to the round.
template <class Of> struct Relaxation {
    using State = typename Of::Value;
    using Reduction = None;
    using Scope = WholeGraph;

    Of of;
    int32 *epochs; // (nodes): the last round that pushed each node, counted from 1; or null
    int32 round;

    METHOD bool enter(Index node, State &distance, const Loop &) const {
        distance = of.at(node);
        return of.goes_on(distance);
    }

    METHOD void edge(Index, State distance, Index edge, const Loop &loop) const {
        if (!of.relax(edge, distance, true))
            return;
        const Index target = of.graph.targets[edge];
        if (Of::kind == HOPS || (racing_load(epochs + target) < round && atomic_max(epochs + target, round) < round))
            loop.push(target);
    }
};

// The body for the kind of distances; the fields of Distances, and the epochs.
KERNEL_STRUCT(Relaxations) {
    int32 *narrow;
    int64 *wide;
    int64 kind;
    int64 limit;
    int32 *epochs;
    using Reduction = None;
};

template <class Use> INLINE void with_body(const Relaxations &arguments, const Loop &loop, Use use) {
    const Distances distances{arguments.narrow, arguments.wide, arguments.kind, arguments.limit};
    by_kind(distances, loop.graph,
            [&](auto of) { use(Relaxation<decltype(of)>{of, arguments.epochs, loop.round() + 1}); });
}

ENGINE_KERNELS(relax, Relaxations)
