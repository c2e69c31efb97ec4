// Warp-centric traversal (Hong, Kim, Oguntebi, Olukotun: Accelerating CUDA Graph Algorithms at Maximum Warp, 2011): a
// virtual warp processes a node, and its lanes share the edges (`VirtualWarp`). Nodes are distributed statically, or in
// chunks from a work queue (technique 3). A node with too many edges is deferred to a queue that whole teams process.
//
// In breadth-first search, round r follows the edges of the nodes at distance r, and no atomics are needed, because all
// threads write the same value. With weights a node is active if its distance has fallen since its edges were last
// relaxed. `last` keeps the distance at that time; in a round, only the virtual warp or team that processes the node
// accesses its entry. The paper has no such rule, because it does not treat shortest paths.
#pragma once

#include "graph/traversal/distances.cuh"
#include "graph/schemes/rounds.cuh"

template <class Of>
INLINE bool is_due(const Of &of, const Distances &last, Index node, typename Of::Value distance, int32 round) {
    if (!of.goes_on(distance))
        return false;
    if constexpr (Of::kind == HOPS)
        return distance == round;
    else
        return distance < Of::array_of(last)[node];
}

template <class Of>
INLINE void note_relaxed([[maybe_unused]] const Distances &last, [[maybe_unused]] Index node,
                         [[maybe_unused]] typename Of::Value distance) {
    if constexpr (Of::kind != HOPS)
        Of::array_of(last)[node] = distance;
}

// Options of the scheme.
KERNEL_STRUCT(WarpOptions) {
    int64 width;     // lanes per virtual warp
    int64 chunk;     // nodes taken from the queue at a time; 0 for a static distribution
    int64 defer;     // nodes with more edges are left to teams
    int32 *deferred; // the queue of these nodes
};

template <int WIDTH, class Of> struct VirtualWarps {
    using Lanes = VirtualWarp<WIDTH>;

    Of of;
    Distances last;
    WarpOptions options;
    int32 *progress;
    int32 round;
    int64 looked_at;
    bool changed;

    // Processes one task: SISD up to the loop over the lanes. The first lane decides for all lanes, because other
    // threads may write concurrently.
    METHOD void relax(Index node) {
        const auto distance = Lanes::from_leader(of.at(node));
        if (!Lanes::from_leader(int(is_due(of, last, node, distance, round))))
            return;
        const Index begin = of.graph.begin(node), end = of.graph.end(node);
        if (end - begin > options.defer) {
            if (Lanes::leads())
                options.deferred[atomic_add(&progress[DEFERRED], 1)] = int32(node);
            return;
        }
        if (Lanes::leads())
            note_relaxed<Of>(last, node, distance);
        for (const Index edge : Lanes::share(begin, end)) {
            ++looked_at;
            changed |= of.relax(edge, distance, Of::kind != HOPS);
        }
    }
};

// Processes the nodes of a team: one task per virtual warp with a static distribution; otherwise chunks until the queue
// is empty.
template <int WIDTH, class Of>
INLINE void relax_tasks(VirtualWarps<WIDTH, Of> &warps, Index team, Index nodes, int64 *taken) {
    if (warps.options.chunk == 0) {
        const Index tasks = TEAM_SIZE / WIDTH, begin = team * tasks;
        const Index end = begin + tasks < nodes ? begin + tasks : nodes;
        for (const Index node : VirtualWarp<WIDTH>::template tasks<TEAM_SIZE>(begin, end))
            warps.relax(node);
        return;
    }
    const Index chunk = warps.options.chunk;
    for (Index begin = take_chunk(taken, chunk); begin < nodes; begin = take_chunk(taken, chunk)) {
        const Index end = begin + chunk < nodes ? begin + chunk : nodes;
        for (const Index node : VirtualWarp<WIDTH>::template tasks<WARP>(begin, end))
            warps.relax(node);
    }
}

// Calls run(std::integral_constant<int, width>) for a width of 1, 2, 4, 8, 16 or 32 lanes.
template <int WIDTH = 1, class Run> INLINE void for_width(int64 width, const Run &run) {
    if (width == WIDTH)
        run(std::integral_constant<int, WIDTH>{});
    else if constexpr (WIDTH < 32)
        for_width<2 * WIDTH>(width, run);
}

// The kernel for one kind of distance; each kind has a separate file, because nvcc compiles the six widths slowly.
template <DistanceKind KIND>
INLINE void relax_by_virtual_warps(const Csr &graph, const Distances &distances, const Distances &last,
                                   const WarpOptions &options, int32 *progress, int64 *cursors, int64 *relaxed,
                                   const Launch &launch) {
    const auto of = By<KIND>::of(distances, graph);
    const auto with_width = [&](auto width) {
        const int32 round = progress[ROUNDS];
        VirtualWarps<decltype(width)::value, By<KIND>> warps{of, last, options, progress, round, 0, false};
        for (const Team team : launch.teams())
            relax_tasks(warps, team.number, graph.nodes, &cursors[TAKEN]);
        count_up(relaxed, warps.looked_at);
        mark_changed(progress, warps.changed);
    };
    for_width(options.width, with_width);
}
