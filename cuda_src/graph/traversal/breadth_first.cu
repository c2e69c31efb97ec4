// Direction-optimising breadth-first search by levels (Beamer, Asanovic and Patterson 2012).
//
// A top-down step (PUSH) follows the edges of the frontier; targets that were not reached before form the next level. A
// bottom-up step (OTHER: a pull, in two passes) starts from the unreached nodes: each scans its incoming edges for one
// from the frontier, and stops at the first; a bitmap represents the frontier. The bottom-up step examines far fewer
// edges if the frontier is a large part of the graph. The better direction is estimated for every level (`pulls`).
// Beamer's two thresholds pull too often if a search has many levels of medium size, as on web-Stanford. Without the
// transposed graph, every level is pushed.
#include "graph/traversal/traversal.cuh"

constexpr int64 NODES_FOR_AN_EDGE = 4; // nodes that a sequential pass processes in the time of one edge
constexpr int PULLED = 1024; // nodes of a pulled tile (PULLED of static_graph/traversal/frontiers/direction_optimising.py)
constexpr int WORD = 32, WORDS = 256; // nodes of a word of bits, words of a tile (likewise)
constexpr Index LONG = 64;  // edges that one member scans; the team scans the rest

struct BreadthFirst {
    Csr graph, incoming; // the graph, and the transposed graph (or one without edges)
    By<HOPS> distances;
    Traversal frontier;
    uint32 *bits; // (nodes / WORD)
    TeamSpace *space;

    METHOD int32 level() const { return frontier.progress[ROUND]; }

    // Reaches a node from the previous level; returns true to exactly one caller.
    template <bool ALONE> METHOD bool reach(Index node, int32 distance) const {
        if (distances.at(node) != distances.unreached())
            return false;
        if constexpr (ALONE && ONE_MEMBER) {
            racing_store(distances.values + node, distance);
            return true;
        }
        return atomic_min(distances.values + node, distance) == distances.unreached();
    }

    // Calls follow(box, start, goes_on, visit), which follows edges of the frontier, and appends the nodes found to the
    // next frontier.
    template <bool ALONE, class Follow> METHOD void push(Follow follow) const {
        const int32 distance = level() + 1;
        const auto box = next_frontier<ALONE>(graph, *space, frontier);
        box.open();
        const int64 followed = follow(box, [=](Index) { return distance; }, [](int32) { return true; },
                                      [&](int32 further, Index edge) {
                                          const int32 target = graph.targets[edge];
                                          if (reach<ALONE>(target, further))
                                              box.put(target);
                                      });
        box.deliver();
        FOR_LEADER
            atomic_add(frontier.totals + FOLLOWED, followed);
    }

    template <bool ALONE> METHOD void push_nodes(Index begin, Index end) const {
        const int32 *list = frontier.list(frontier.progress[SIDE]);
        push<ALONE>([&](const auto &box, auto start, auto goes_on, auto visit) {
            if constexpr (ONE_MEMBER)
                return one_member_follows<ALONE>(graph, frontier, list, begin, end, false, start, goes_on, visit);
            else
                return team_follows<int32>(graph, frontier, list, begin, end, *space, start, goes_on, visit,
                                           [&] { box.flush_if_full(); });
        });
    }

    METHOD void tile(Index index) const {
        const Index nodes = frontier.progress[TILE_NODES], begin = index * nodes, listed = frontier.progress[LISTED];
        push_nodes<false>(begin, begin + nodes < listed ? begin + nodes : listed);
    }

    METHOD void chunk(Index index) const {
        push<false>([&](const auto &, auto start, auto goes_on, auto visit) {
            return follow_chunk(graph, frontier.chunks[index], start, goes_on, visit);
        });
    }

    // First pass of a pull: the bitmap of the frontier.
    METHOD void first(Index index) const {
        const Index begin = index * WORDS, words = (graph.nodes + WORD - 1) / WORD;
        const int32 distance = level();
        FOR_SHARE (word, begin, begin + WORDS < words ? begin + WORDS : words) {
            const Index node = word * WORD;
            uint32 set = 0;
            for (int k = 0; k < WORD; ++k) // a fixed count lets all loads be issued before the first one arrives
                set |= uint32(node + k < graph.nodes && distances.values[node + k] == distance) << k;
            bits[word] = set;
        }
    }

    METHOD bool in_frontier(Index node) const { return bits[node / WORD] >> (node % WORD) & 1; }

    // Second pass of a pull: unreached nodes look for a neighbour in the frontier.
    METHOD void last(Index index) const {
        int32 *waiting = space->far_found, *waiting_count = &space->far_count, *hit = &space->flag;
        const int32 distance = level() + 1;
        const auto box = next_frontier<false>(graph, *space, frontier);
        FOR_LEADER
            *waiting_count = 0;
        box.open();
        const Index begin = index * PULLED, end = begin + PULLED < graph.nodes ? begin + PULLED : graph.nodes;
        int64 followed = 0;
        FOR_SHARE (node, begin, end) {
            if (distances.values[node] != distances.unreached())
                continue;
            const Index first_edge = incoming.begin(node), last_edge = incoming.end(node);
            const Index some = ONE_MEMBER || last_edge - first_edge <= LONG ? last_edge : first_edge + LONG;
            Index edge = first_edge;
            bool found = false;
            while (edge < some && !found) {
                bool is_in[SIDE_BY_SIDE];
                for (int k = 0; k < SIDE_BY_SIDE; ++k)
                    is_in[k] = edge + k < some && in_frontier(incoming.targets[edge + k]);
                for (int k = 0; k < SIDE_BY_SIDE && edge < some && !found; ++k) {
                    found = is_in[k];
                    ++edge;
                }
            }
            followed += edge - first_edge;
            if (found) {
                distances.values[node] = distance;
                box.put(int32(node));
            } else if (some < last_edge) {
                waiting[team_take(waiting_count)] = int32(node);
            }
        }
        TEAM_BARRIER();
        const int32 long_ones = *waiting_count;
        for (int32 k = 0; k < long_ones; ++k) { // the team scans the edges of one node after another
            const Index node = waiting[k], last_edge = incoming.end(node);
            FOR_LEADER
                *hit = 0;
            TEAM_BARRIER();
            constexpr Index STRETCH = 4 * TEAM_SIZE;
            bool seen = false;
            for (Index edge = incoming.begin(node) + LONG; edge < last_edge && !seen; edge += STRETCH) {
                FOR_SHARE (e, edge, edge + STRETCH < last_edge ? edge + STRETCH : last_edge) {
                    ++followed;
                    if (in_frontier(incoming.targets[e]))
                        racing_store(hit, 1);
                }
                TEAM_BARRIER();
                seen = racing_load(hit);
                TEAM_BARRIER();
            }
            FOR_LEADER
                if (seen) {
                    distances.values[node] = distance;
                    box.put(int32(node));
                }
            TEAM_BARRIER();
        }
        box.deliver();
        const int64 looked = team_sum<1>(0, ONE_MEMBER ? 1 : TEAM_SIZE, [&](Index) {
                                 return Sums<1>{{int32(followed)}}; // graphs that can be transposed have < 2^31 edges
                             }).of[0];
        FOR_LEADER
            atomic_add(frontier.totals + FOLLOWED, looked);
    }

    // Processes one level by one team.
    METHOD void few() const {
        push_nodes<true>(0, frontier.progress[LISTED]);
        TEAM_BARRIER();
        for (Index index = 0; index < frontier.progress[CHUNKS]; ++index)
            chunk(index);
    }

    // Returns whether a pull of the next level is estimated to be cheaper than a push. A push examines all edges of the
    // frontier. A pull passes over all nodes; unreached ones scan their incoming edges until one comes from the
    // frontier, or to the end. One in `rarity` of the edges from unfinished nodes comes from the frontier.
    METHOD bool pulls() const {
        const int64 *totals = frontier.totals, edges = totals[EDGES];
        if (incoming.nodes == 0 || edges == 0 || edges < graph.nodes / NODES_FOR_AN_EDGE)
            return false;
        const int64 rarity = 1 + totals[UNSEEN_EDGES] / edges, degree = 1 + graph.edges / graph.nodes;
        return graph.nodes / NODES_FOR_AN_EDGE + totals[UNSEEN] * (rarity < degree ? rarity : degree) < edges;
    }

    // Ends a level and decides the next step; called by one member.
    METHOD void end() const {
        int32 *progress = frontier.progress;
        int64 *totals = frontier.totals;
        turn_sides(progress, totals);
        const int32 listed = progress[LISTED];
        totals[UNSEEN] -= listed;
        totals[UNSEEN_EDGES] = totals[UNSEEN_EDGES] > totals[EDGES] ? totals[UNSEEN_EDGES] - totals[EDGES] : 0;
        ++progress[ROUND];
        int32 step = PUSH;
        if (listed == 0 || !distances.goes_on(level()))
            step = DONE;
        else if (pulls())
            step = OTHER;
        else if (listed <= frontier.few_nodes && totals[EDGES] <= frontier.few_edges)
            step = FEW;
        const Index words = (graph.nodes + WORD - 1) / WORD;
        enter_step(frontier, step, int32((words + WORDS - 1) / WORDS), int32((graph.nodes + PULLED - 1) / PULLED));
    }
};

INLINE BreadthFirst breadth_first(const Csr &graph, const Csr &incoming, const Distances &distances,
                                  const Traversal &frontier, uint32 *bits, TeamSpace *space) {
    return {graph, incoming, {distances.narrow, int32(distances.limit), graph}, frontier, bits, space};
}

// Initialises the search: only the source is reached, if there is a single one (otherwise set_sources follows).
TEAM_KERNEL(begin_levels, Csr graph, Csr incoming, Distances distances, Traversal frontier, int64 sources,
            int64 source) {
    const BreadthFirst rounds = breadth_first(graph, incoming, distances, frontier, nullptr, nullptr);
    FOR_TEAMS (team) {
        const Index begin = team * BEGINNING, end = begin + BEGINNING;
        FOR_SHARE (v, begin, end < graph.nodes ? end : graph.nodes)
            rounds.distances.values[v] = v == source ? 0 : rounds.distances.unreached();
        if (team > 0)
            continue;
        FOR_LEADER {
            begin_numbers(graph, frontier, sources, source, -1);
            frontier.totals[UNSEEN] = graph.nodes;
            frontier.totals[UNSEEN_EDGES] = graph.edges;
            rounds.end();
        }
    }
}

TEAM_KERNEL(few_levels, Csr graph, Csr incoming, Distances distances, Traversal frontier) {
    TEAM_SHARED(TeamSpace, space, 1);
    FOR_TEAMS (team)
        run_few(breadth_first(graph, incoming, distances, frontier, nullptr, space));
}

TEAM_KERNEL(push_tiles, Csr graph, Distances distances, Traversal frontier) {
    TEAM_SHARED(TeamSpace, space, 1);
    const BreadthFirst rounds = breadth_first(graph, graph, distances, frontier, nullptr, space);
    FOR_TEAMS (tile)
        rounds.tile(tile);
}

TEAM_KERNEL(push_chunks, Csr graph, Distances distances, Traversal frontier) {
    TEAM_SHARED(TeamSpace, space, 1);
    const BreadthFirst rounds = breadth_first(graph, graph, distances, frontier, nullptr, space);
    FOR_TEAMS (chunk)
        rounds.chunk(chunk);
}

TEAM_KERNEL(mark_frontier, Csr graph, Distances distances, Traversal frontier, uint32 *bits) {
    TEAM_SHARED(TeamSpace, space, 1);
    const BreadthFirst rounds = breadth_first(graph, graph, distances, frontier, bits, space);
    FOR_TEAMS (tile)
        rounds.first(tile);
}

TEAM_KERNEL(pull_tiles, Csr graph, Csr incoming, Distances distances, Traversal frontier, uint32 *bits) {
    TEAM_SHARED(TeamSpace, space, 1);
    const BreadthFirst rounds = breadth_first(graph, incoming, distances, frontier, bits, space);
    FOR_TEAMS (tile)
        rounds.last(tile);
}

KERNEL(end_level, Csr graph, Csr incoming, Distances distances, Traversal frontier) {
    FOR_RANGE (once)
        breadth_first(graph, incoming, distances, frontier, nullptr, nullptr).end();
}

// The whole search in one launch.
HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL(search_breadth_first, Csr graph, Csr incoming, Distances distances, Traversal frontier,
                         uint32 *bits, int64 teams) {
    TEAM_SHARED(TeamSpace, space, 1);
    traverse(breadth_first(graph, incoming, distances, frontier, bits, space), range_begin, range_end, teams);
}
