// Colour propagation: the colour of a node is the largest number of a node from which it can be reached (Slota,
// Rajamanickam, Madduri 2015, "Color propagation"). Colours only rise, to a unique fixed point: the result does not
// depend on the order.
//
// Without atomics, a store may overwrite a larger colour that another thread stored in the same round. Then its sender
// would not send it again. So a node that stores a colour is pushed, too, and compares its colour with those of its
// targets in the next round. The rounds end: a thread stores only above the colour that it has read, so that no colour
// falls from the beginning of one round to the next, and it rises wherever a colour was stored.
//
// Departure from the paper, on request: colours go out in phases, the largest ones first. All nodes at once send many
// colours that larger ones replace later: on a path whose numbers fall, n * n / 2 of them. If the largest colours have
// reached their nodes before others leave theirs, few are sent in vain.
#include "graph/engine/engine.cuh"

// The colours that the current phase sends.
enum ColourBound : int32 { LEAST_COLOUR, END_COLOUR, COLOUR_BOUNDS };

KERNEL_STRUCT(Colours) {
    int32 *colours;
    int32 *epochs; // (nodes): the last round that pushed each node, counted from 1
    int32 *bounds;
    int64 atomic;
    using State = int32;
    using Reduction = None;

    METHOD bool enter(Index u, State & colour, const Loop &) const {
        colour = racing_load(colours + u);
        return bounds[LEAST_COLOUR] <= colour && colour < bounds[END_COLOUR];
    }

    METHOD void edge(Index u, State colour, Index edge, const Loop &loop) const {
        const Index target = loop.graph.targets[edge];
        if (racing_load(colours + target) >= colour)
            return;
        if (atomic) {
            if (atomic_max(colours + target, colour) >= colour)
                return;
        } else {
            racing_store(colours + target, colour);
            push_once(u, loop);
        }
        push_once(target, loop);
    }

    METHOD void push_once(Index node, const Loop &loop) const {
        const int32 round = loop.round() + 1;
        if (racing_load(epochs + node) < round && atomic_max(epochs + node, round) < round)
            loop.push(node);
    }
};

ENGINE_KERNELS_WITH_ALONE(propagate, Colours)

KERNEL(begin_colours, int32 *colours) {
    for (const Index node : launch)
        colours[node] = int32(node);
}

// Rounds of few nodes along the edges and against them, by one team.
TEAM_KERNEL(propagate_both_alone, Csr graph, Csr incoming, Frontier frontier, Collapse how, Colours body) {
    TEAM_SHARED(AloneSpace, space, 1);
    Index examined = 0;
    for ([[maybe_unused]] const Team team : launch.teams())
        examined += follow_both_alone(graph, incoming, frontier, how, body, body, space[0]);
    count_up(frontier.totals + 1, examined);
}

// Begins the next phase if the frontier is empty, with all nodes as the frontier: each phase sends `growth` times as
// many colours as all phases before.
KERNEL(end_phase, Frontier frontier, Colours body, int64 nodes, int64 growth) {
    for ([[maybe_unused]] const Index once : launch) {
        const int64 end = body.bounds[LEAST_COLOUR], sent = (nodes - end) * growth;
        if (frontier.progress[FRONTIER] > 0 || end == 0)
            continue;
        body.bounds[END_COLOUR] = int32(end);
        body.bounds[LEAST_COLOUR] = int32(sent < end ? end - sent : 0);
        frontier.progress[FRONTIER] = int32(nodes);
        frontier.progress[WHOLE] = 1;
        begin_round(frontier, false);
    }
}
