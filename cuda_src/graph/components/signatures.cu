// Strong components from all pivots at once, by signatures (ECL-SCC: Alabandi, Sands, Biros and Burtscher 2023).
//
// Every node is a pivot, with a rank. The signature of a node is the least rank of a node that reaches it, and the
// least rank of a node that it reaches. Nodes of one component have the same signature; a node whose two ranks are
// equal is in the component of that pivot. An edge between nodes with different signatures leads from one component to
// another, and is removed, as are the edges within the components that were found. A round on the remaining edges has
// three passes:
//
//     MARK     the signature of the ends of every edge is their own rank
//     SPREAD   the least ranks spread along the edges and against them; repeated until nothing changes
//     CUT      the edges whose ends have the same signature, and no component yet, are kept for the next round
//
// Departures from the paper: ranks are drawn anew for each round, by a bijective hash, so that the expected number of
// rounds is logarithmic (Blelloch, Gu, Shun and Sun 2016) for every numbering of the nodes. A rank also identifies its
// node, whose signature then shortens the way (pointer jumping): what reaches the pivot reaches the node, too. On a
// long path that does not suffice, because a least rank still walks to the pivot of the next section, and sections
// grow. So on a CPU, after DEEP passes, a node whose two ranks are equal keeps that pivot, which is in its component,
// and shares its ranks with it in both directions (hooking): a renumbered path of 100,000 nodes takes 41 passes instead
// of 2,715. (On a GPU it still takes 1,030, and web-Stanford takes longer than without.) All rounds are one launch,
// with a barrier of all teams between two passes. The last team to arrive decides the next pass, and does the passes
// alone while few edges remain.
#include "graph/edge_blocks.cuh"
#include "portable/grid.cuh"
#include "primitives/hash.cuh"

constexpr int SWEEPS = 4;           // over a member's edges, before the barrier
constexpr int32 DEEP = 16;          // passes of one round after which nodes share their ranks with their pivots
constexpr int64 FEW_EDGES = 2048;   // that one team processes alone
constexpr uint32 SALT = 0x9e3779b9; // between the ranks of two rounds

enum SignaturePass : int32 { OVER, MARK, SPREAD, CUT };

// Indices into Signatures::progress.
enum SignatureEntry : int32 {
    CURRENT,    // the pass; OVER at the end
    BY_ONE,     // whether one team does the passes
    EDGE_LIST,  // which list of the double buffer has the edges
    EDGE_COUNT, // their number
    KEPT_COUNT, // the number of those for the next round
    CHANGED,    // whether a signature changed in this pass
    ROUNDS_DONE,
    PASSES_DONE,
    SPREADS,     // passes of this round that spread ranks
    PAUSED_PASS, // the pass before which the launch ended because its SLICE was over; otherwise 0
    SIGNATURE_ENTRIES
};

KERNEL_STRUCT(Signatures) {
    int32 *sources0; // a double buffer of the edges
    int32 *sources1;
    int32 *targets0;
    int32 *targets1;
    uint32 *above; // (nodes): the least rank of a node that reaches this one
    uint32 *below; // (nodes): the least rank of a node that this one reaches
    int32
        *pivots; // (nodes): the pivot of each node's component, or before that a node of it; initially the node itself
    int32 *progress;
    int64 *begun;    // (1): when the launch began, in nanoseconds
    uint64 *meeting; // (MEETING), initially zero: for Grid::barrier_with

    METHOD int32 *sources(int32 list) const { return list ? sources1 : sources0; }
    METHOD int32 *targets(int32 list) const { return list ? targets1 : targets0; }

    METHOD uint32 salt() const { return SALT * uint32(progress[ROUNDS_DONE]); }
    METHOD static uint32 rank_of(int32 node, uint32 salt) { return hash32(uint32(node) ^ salt); }
    METHOD static int32 node_of(uint32 rank, uint32 salt) { return int32(unhash32(rank) ^ salt); }

    // Lowers a rank, and returns whether it was higher.
    METHOD static bool lower(uint32 * place, uint32 rank) {
        return racing_load(place) > rank && atomic_min(place, rank) > rank;
    }

    // The rank of a node's signature, or the lower one that its pivot has found.
    METHOD static uint32 shortened(const uint32 *ranks, int32 node, uint32 salt) {
        const uint32 rank = racing_load(ranks + node), further = racing_load(ranks + node_of(rank, salt));
        return further < rank ? further : rank;
    }

    // Shares the ranks of a node and of the one that it keeps as its pivot, which is in its component; returns whether
    // one has changed. Then keeps the pivot of its signature, if that is in its component, too.
    METHOD bool share_with_pivot(int32 node, uint32 salt) const {
        const uint32 reached_by = racing_load(above + node), reaches = racing_load(below + node);
        const int32 pivot = racing_load(pivots + node);
        bool changed = false;
        if (pivot != node) {
            changed |= lower(above + pivot, reached_by) | lower(below + pivot, reaches);
            changed |=
                lower(above + node, racing_load(above + pivot)) | lower(below + node, racing_load(below + pivot));
        }
        if (reached_by == reaches && node_of(reaches, salt) != pivot)
            racing_store(pivots + node, node_of(reaches, salt));
        return changed;
    }

    template <class Share> METHOD void mark(Share edges) const {
        const int32 *sources = this->sources(progress[EDGE_LIST]), *targets = this->targets(progress[EDGE_LIST]);
        const uint32 salt = this->salt();
        for (const Index edge : edges)
            for (const int32 node : {sources[edge], targets[edge]}) {
                racing_store(above + node, rank_of(node, salt));
                racing_store(below + node, rank_of(node, salt));
            }
    }

    template <class Share> METHOD void spread(Share edges) const {
        const int32 *sources = this->sources(progress[EDGE_LIST]), *targets = this->targets(progress[EDGE_LIST]);
        const uint32 salt = this->salt();
        const bool deep = ONE_MEMBER && progress[SPREADS] >= DEEP;
        bool changed = true;
        for (int sweep = 0; sweep < SWEEPS && changed; ++sweep) {
            changed = false;
            for (const Index edge : edges) {
                const int32 source = sources[edge], target = targets[edge];
                changed |= lower(above + target, shortened(above, source, salt));
                changed |= lower(below + source, shortened(below, target, salt));
                if (deep)
                    changed |= share_with_pivot(source, salt) | share_with_pivot(target, salt);
            }
            if (changed)
                racing_store(progress + CHANGED, 1);
        }
    }

    template <class Share> METHOD void cut(Share edges) const {
        const int32 list = progress[EDGE_LIST], *sources = this->sources(list), *targets = this->targets(list);
        const uint32 salt = this->salt();
        for (const Index edge : edges) {
            const int32 source = sources[edge], target = targets[edge];
            const uint32 reached_by = above[source], reaches = below[source];
            if (reached_by != above[target] || reaches != below[target])
                continue;
            if (reached_by == reaches) {
                const int32 pivot = node_of(reaches, salt);
                racing_store(pivots + source, pivot);
                racing_store(pivots + target, pivot);
                continue;
            }
            const int32 place = take_place(progress + KEPT_COUNT);
            this->sources(1 - list)[place] = source;
            this->targets(1 - list)[place] = target;
        }
    }

    // Increments a counter that all teams share; returns the old value.
    METHOD static int32 take_place(int32 * counter) {
        if constexpr (ONE_MEMBER)
            return atomic_add(counter, 1);
        else
            return Team::take_together(counter);
    }

    template <class Share> METHOD void run(int32 pass, Share edges) const {
        if (pass == MARK)
            mark(edges);
        else if (pass == SPREAD)
            spread(edges);
        else
            cut(edges);
    }

    // Ends a pass and decides the next one; called by one member.
    METHOD void end() const {
        int32 pass = progress[CURRENT];
        ++progress[PASSES_DONE];
        progress[SPREADS] = pass == SPREAD ? progress[SPREADS] + 1 : 0;
        if (pass == MARK || (pass == SPREAD && progress[CHANGED])) {
            pass = SPREAD;
        } else if (pass == SPREAD) {
            pass = CUT;
        } else {
            progress[EDGE_LIST] = 1 - progress[EDGE_LIST];
            progress[EDGE_COUNT] = progress[KEPT_COUNT];
            progress[KEPT_COUNT] = 0;
            ++progress[ROUNDS_DONE];
            pass = progress[EDGE_COUNT] > 0 ? MARK : OVER;
        }
        progress[CHANGED] = 0;
        progress[BY_ONE] = progress[EDGE_COUNT] <= FEW_EDGES;
        if (pass != OVER && nanoseconds() - begun[0] > SLICE) {
            progress[PAUSED_PASS] = pass;
            pass = OVER;
        }
        progress[CURRENT] = pass;
    }
};

// Lists the edges between different nodes that are not FINISHED, and that the two searches, if there are any, have both
// reached or both not reached. progress[EDGE_COUNT] becomes their number.
KERNEL(list_remaining_edges, Csr graph, const int32 *numbers, const int32 *forward, const int32 *backward,
       Signatures signatures) {
    constexpr int32 UNREACHED = 0x7fffffff;
    const auto reached = [&](Index node) {
        return forward == nullptr ? 0 : 2 * (forward[node] != UNREACHED) + (backward[node] != UNREACHED);
    };
    for_rows_of_edge_blocks(graph, launch, [&](Index node, Index first, Index end) {
        if (numbers[node] != 0)
            return;
        const auto remains = [&](int32 target) {
            return target != node && numbers[target] == 0 && reached(target) == reached(node);
        };
        int32 count = 0;
        for (Index edge = first; edge < end; ++edge)
            count += remains(graph.targets[edge]);
        int32 place = count == 0 ? 0 : atomic_add(signatures.progress + EDGE_COUNT, count);
        for (Index edge = first; edge < end && count > 0; ++edge)
            if (remains(graph.targets[edge])) {
                signatures.sources0[place] = int32(node);
                signatures.targets0[place++] = graph.targets[edge];
                --count;
            }
    });
}

// Decides the first pass.
KERNEL(begin_signatures, Signatures signatures) {
    for ([[maybe_unused]] const Index once : launch) {
        int32 *progress = signatures.progress;
        progress[CURRENT] = progress[EDGE_COUNT] > 0 ? MARK : OVER;
        progress[BY_ONE] = progress[EDGE_COUNT] <= FEW_EDGES;
    }
}

// All rounds in one launch, or as many passes as fit in a SLICE of time.
COOPERATIVE_TEAM_KERNEL(match_signatures, Signatures signatures) {
    TEAM_SHARED(MeetingSpace, space, 1);
    const Grid grid = launch.grid();
    const int32 *progress = signatures.progress;
    const auto next_pass = [&] { // the pass, whether one team does it, and the number of edges
        return uint64(racing_load(progress + CURRENT)) << 33 | uint64(racing_load(progress + BY_ONE)) << 32 |
               uint64(racing_load(progress + EDGE_COUNT));
    };
    if (grid.leads())
        signatures.begun[0] = nanoseconds();
    uint64 next = grid.begin_meetings(signatures.meeting, *space, next_pass);
    for (;;) {
        const int32 pass = int32(next >> 33);
        if (pass == OVER)
            return;
        const bool by_one = next >> 32 & 1;
        if (!by_one)
            signatures.run(pass, grid.share(Index(uint32(next))));
        next = grid.barrier_with(signatures.meeting, *space, [&] {
            Team::barrier();
            if (!by_one && Team::leads())
                signatures.end();
            Team::barrier();
            while (racing_load(progress + BY_ONE) && racing_load(progress + CURRENT) != OVER) {
                STOP_POINT();
                signatures.run(racing_load(progress + CURRENT), Team::share({0, racing_load(progress + EDGE_COUNT)}));
                Team::barrier();
                if (Team::leads())
                    signatures.end();
                Team::barrier();
            }
            return next_pass();
        });
    }
}
