// Direction-optimising breadth-first search by levels (Beamer, Asanovic and Patterson 2012).
//
// A top-down step (a push) follows the edges of the frontier; targets that were not reached before form the next level.
// A bottom-up step (a pull, in two passes) starts from the unreached nodes: each scans its incoming edges for one from
// the frontier, and stops at the first; a bitmap represents the frontier. The bottom-up step examines far fewer edges
// if the frontier is a large part of the graph.
//
// With `parents`, the tree is found meanwhile: the parent of a node is its smallest predecessor one level up. In a
// push, each edge to a node of the next level lowers the parent of its target. In a pull the first edge from the
// frontier has the smallest source, because incoming edges are ordered.
//
// Departure from the paper: the better direction is estimated for every level (`pulls`), because the paper's two
// thresholds pull too often if a search has many levels of medium size, as on web-Stanford. Without the transposed
// graph, every level is pushed.
#pragma once

#include "graph/traversal/distances.cuh"
#include "graph/traversal/rounds.cuh"

constexpr int64 NODES_FOR_AN_EDGE = 4;          // nodes that a sequential pass processes in the time of one edge
constexpr int PULLED = 1024;                    // nodes of a pulled tile
constexpr int WORD = 32, WORDS = 256;           // nodes of a word of bits, words of a tile (likewise)
constexpr Index LONG = 64;                      // edges that one member scans; the team scans the rest
constexpr Index EDGES_PER_SCAN = 4 * TEAM_SIZE; // edges that the team scans before it checks whether one was found

constexpr int32 NO_PARENT = 0x7fffffff; // above all nodes

KERNEL_STRUCT(Levels) {
    uint32 *bits; // (nodes / WORD): the frontier of a pull
    uint32 *seen; // (nodes / WORD), on a CPU: nodes reached before, but maybe not all; unlike the distances, it fits a
                  // cache
    int32 *parents; // (nodes), initially NO_PARENT, and -1 at the sources; or null
};

struct BreadthFirst {
    static constexpr Entry PULL = OTHER;

    Csr graph, incoming; // the graph, and the transposed graph (or one without edges)
    By<HOPS> distances;
    Traversal frontier;
    Levels levels;
    TeamSpace *space;

    METHOD int32 level() const { return frontier.progress[ROUND]; }

    METHOD bool was_seen(Index node) const {
        return ONE_MEMBER && racing_load(levels.seen + node / WORD) >> (node % WORD) & 1;
    }

    template <bool ALONE> METHOD void note_seen(Index node) const {
        if constexpr (ALONE && ONE_MEMBER)
            levels.seen[node / WORD] |= uint32(1) << (node % WORD);
        else if constexpr (ONE_MEMBER)
            atomic_or(levels.seen + node / WORD, uint32(1) << (node % WORD));
    }

    // Follows an edge of the previous level's `source`; returns true to exactly one of the callers that reach a node.
    template <bool ALONE> METHOD bool reach(int32 source, Index node, int32 distance) const {
        if (was_seen(node))
            return false;
        if (levels.parents != nullptr)
            return adopt<ALONE>(source, node, distance);
        if (distances.at(node) != distances.unreached())
            return false;
        if constexpr (ALONE && ONE_MEMBER)
            racing_store(distances.values + node, distance);
        else if (atomic_min(distances.values + node, distance) != distances.unreached())
            return false;
        note_seen<ALONE>(node);
        return true;
    }

    // The same, and lowers the node's parent, unless the node belongs to an earlier level.
    template <bool ALONE> METHOD bool adopt(int32 source, Index node, int32 distance) const {
        int32 parent = racing_load(levels.parents + node);
        if (parent <= source || (parent != NO_PARENT && distances.at(node) < distance))
            return false;
        if constexpr (ALONE && ONE_MEMBER)
            racing_store(levels.parents + node, source);
        else
            parent = atomic_min(levels.parents + node, source);
        if (parent != NO_PARENT)
            return false;
        racing_store(distances.values + node, distance); // others see a value that is not below `distance`
        return true;
    }

    // Calls follow(search, box, start, goes_on, visit), which follows edges of the frontier, and appends the nodes
    // found to the next frontier. `search` is a copy of this object, so that g++ keeps its members in registers: it
    // would read those of *this again after every atomic operation.
    template <bool ALONE, class Follow> METHOD void push(Follow follow) const {
        const BreadthFirst search = *this;
        const int32 distance = level() + 1;
        const auto box = next_frontier<ALONE>(graph, *space, frontier);
        box.open();
        const int64 followed = follow(
            search, box,
            [&](Index node) {
                if (search.levels.parents != nullptr)
                    search.template note_seen<ALONE>(node);
                return int32(node);
            },
            [](int32) { return true; },
            [&](int32 source, Index edge) {
                const int32 target = search.graph.targets[edge];
                if (search.template reach<ALONE>(source, target, distance))
                    box.put(target);
            });
        box.deliver();
        if (Team::leads())
            atomic_add(frontier.totals + FOLLOWED, followed);
    }

    template <bool ALONE> METHOD void push_nodes(Piece nodes) const {
        const int32 *list = frontier.list(frontier.progress[BUFFER]);
        push<ALONE>([=](const auto &search, [[maybe_unused]] const auto &box, auto start, auto goes_on, auto visit) {
            if constexpr (ONE_MEMBER)
                return one_member_follows<ALONE>(search.graph, search.frontier, list, nodes.begin, nodes.end, false,
                                                 start, goes_on, visit);
            else
                return team_follows<int32>(search.graph, search.frontier, list, nodes.begin, nodes.end, *search.space,
                                           start, goes_on, visit, [&] { box.flush_if_full(); });
        });
    }

    METHOD void push_chunk(Index index) const {
        push<false>([=](const auto &search, const auto &, auto start, auto goes_on, auto visit) {
            return follow_chunk(search.graph, search.frontier.chunks[index], start, goes_on, visit);
        });
    }

    // First pass of a pull: the bitmap of the frontier.
    METHOD void mark_frontier(Index index) const {
        const Index begin = index * WORDS, words = (graph.nodes + WORD - 1) / WORD;
        const int32 distance = level();
        for (const Index word : Team::share({begin, begin + WORDS < words ? begin + WORDS : words})) {
            const Index node = word * WORD;
            uint32 set = 0;
            for (int k = 0; k < WORD; ++k) // a fixed count lets all loads be issued before the first one arrives
                set |= uint32(node + k < graph.nodes && distances.values[node + k] == distance) << k;
            levels.bits[word] = set;
        }
    }

    METHOD bool in_frontier(Index node) const { return levels.bits[node / WORD] >> (node % WORD) & 1; }

    // Second pass of a pull: unreached nodes look for a neighbour in the frontier.
    METHOD void pull(Index index) const {
        int32 *waiting = space->far_found, *waiting_count = &space->far_count, *least = &space->flag;
        const int32 distance = level() + 1;
        const auto box = next_frontier<false>(graph, *space, frontier);
        if (Team::leads())
            *waiting_count = 0;
        box.open();
        const Index begin = index * PULLED, end = begin + PULLED < graph.nodes ? begin + PULLED : graph.nodes;
        int64 followed = 0;
        for (const Index node : Team::share({begin, end})) {
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
                if (levels.parents != nullptr)
                    levels.parents[node] = incoming.targets[edge - 1];
                box.put(int32(node));
            } else if (some < last_edge) {
                waiting[Team::take(waiting_count)] = int32(node);
            }
        }
        Team::barrier();
        const int32 long_ones = *waiting_count;
        for (int32 k = 0; k < long_ones; ++k) { // the team scans the edges of one node after another
            const Index node = waiting[k], last_edge = incoming.end(node);
            if (Team::leads())
                *least = NO_PARENT;
            Team::barrier();
            int32 parent = NO_PARENT;
            for (Index edge = incoming.begin(node) + LONG; edge < last_edge && parent == NO_PARENT;
                 edge += EDGES_PER_SCAN) {
                for (const Index e :
                     Team::share({edge, edge + EDGES_PER_SCAN < last_edge ? edge + EDGES_PER_SCAN : last_edge})) {
                    ++followed;
                    const int32 source = incoming.targets[e];
                    if (in_frontier(source) && source < racing_load(least))
                        atomic_min(least, source);
                }
                Team::barrier();
                parent = racing_load(least);
                Team::barrier();
            }
            if (Team::leads())
                if (parent != NO_PARENT) {
                    distances.values[node] = distance;
                    if (levels.parents != nullptr)
                        levels.parents[node] = parent;
                    box.put(int32(node));
                }
            Team::barrier();
        }
        box.deliver();
        const int64 looked = Team::sum(Piece{0, ONE_MEMBER ? 1 : TEAM_SIZE}, [&](Index) {
                                 return Sums<1>{{int32(followed)}}; // graphs that can be transposed have < 2^31 edges
                             }).of[0];
        if (Team::leads())
            atomic_add(frontier.totals + FOLLOWED, looked);
    }

    // The passes of a level. One team alone always pushes.
    template <class Group> METHOD void round(const Group &group) const {
        const int32 *progress = frontier.progress;
        group.pass(TILES, [&](Index index) {
            push_nodes<Group::ALONE>(group.tile(index, progress[TILE_NODES], progress[LISTED]));
        });
        group.pass(CHUNKS, [&](Index index) { push_chunk(index); });
        if constexpr (!Group::ALONE) {
            group.pass(PREPARE, [&](Index index) { mark_frontier(index); });
            group.pass(PULL, [&](Index index) { pull(index); });
        }
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

    // Ends a level and decides the next one; called by one member.
    METHOD void end() const {
        int32 *progress = frontier.progress;
        int64 *totals = frontier.totals;
        swap_frontiers(progress, totals);
        const int32 listed = progress[LISTED];
        totals[UNSEEN] -= listed;
        totals[UNSEEN_EDGES] = totals[UNSEEN_EDGES] > totals[EDGES] ? totals[UNSEEN_EDGES] - totals[EDGES] : 0;
        ++progress[ROUND];
        int32 pass = TILES;
        if (listed == 0 || !distances.goes_on(level()))
            pass = DONE;
        else if (pulls())
            pass = PREPARE;
        else if (frontier.is_small(listed, totals[EDGES]))
            pass = ALONE;
        const Index words = (graph.nodes + WORD - 1) / WORD;
        begin_round(frontier, pass, int32((words + WORDS - 1) / WORDS), int32((graph.nodes + PULLED - 1) / PULLED));
    }
};
