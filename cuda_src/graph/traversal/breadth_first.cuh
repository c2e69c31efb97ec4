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
#include "graph/traversal/node_bits.cuh"
#include "graph/traversal/rounds.cuh"

constexpr int64 NODES_FOR_AN_EDGE = 4;          // nodes that a sequential pass processes in the time of one edge
constexpr int PULLED = 1024;                    // nodes of a pulled tile
constexpr int WORDS = 64;                       // words of nodes of a tile in which the frontier is marked
constexpr Index LONG = 64;                      // edges that one member scans; the team scans the rest
constexpr Index EDGES_PER_SCAN = 4 * TEAM_SIZE; // edges that the team scans before it checks whether one was found

constexpr int PUSHED = 1024;            // nodes of a tile of the graph (is_dense), fewer than an OUTBOX
constexpr Index DENSE_SHARE = 64;       // fraction of the nodes from which a frontier is dense
constexpr Index LEAST_SHARE = 16;       // fraction of the words: fewer nodes of a frontier are not sorted
constexpr int32 NO_PARENT = 0x7fffffff; // above all nodes

KERNEL_STRUCT(Levels) {
    uint32 *bits0; // (nodes / WORD), a double buffer: the frontier of a pull, and the next one
    uint32 *bits1;
    uint32 *seen;   // (nodes / WORD), on a CPU: the nodes reached, which fit in a cache, unlike their distances
    int32 *parents; // (nodes), initially NO_PARENT, and -1 at the sources; or null

    METHOD uint32 *bits(int32 level) const { return level % 2 ? bits1 : bits0; }
};

struct BreadthFirst {
    static constexpr Entry PULL = OTHER;

    Csr graph, incoming; // the graph, and the transposed graph (or one without edges)
    By<HOPS> distances;
    Traversal frontier;
    Levels levels;
    TeamSpace *space;

    METHOD int32 level() const { return frontier.progress[ROUND]; }

    // Reaches a node that may be reached already; returns true to exactly one caller.
    template <bool ALONE> METHOD bool reach(Index node, int32 distance) const {
        if constexpr (ONE_MEMBER) {
            if (contains(levels.seen, node) || !(ALONE ? add_alone : add_together)(levels.seen, node))
                return false;
            racing_store(distances.values + node, distance);
            return true;
        } else {
            return distances.at(node) == distances.unreached() &&
                   atomic_min(distances.values + node, distance) == distances.unreached();
        }
    }

    // Lowers the parent of a node to `source`, unless the node belongs to an earlier level than `distance`; `first`:
    // whether the caller has reached the node.
    template <bool ALONE> METHOD void adopt(int32 source, Index node, int32 distance, bool first) const {
        if constexpr (ALONE && ONE_MEMBER)
            if (first) {
                levels.parents[node] = source;
                return;
            }
        if (racing_load(levels.parents + node) <= source || distances.at(node) < distance)
            return;
        if constexpr (ALONE && ONE_MEMBER)
            levels.parents[node] = source;
        else
            atomic_min(levels.parents + node, source);
    }

    // Follows an edge to the next level.
    template <bool ALONE, class Box>
    METHOD void visit(const Box &box, int32 distance, bool ordered, int32 source, Index edge) const {
        const int32 target = graph.targets[edge];
        const bool first = reach<ALONE>(target, distance);
        if (first)
            box.put(target);
        if (levels.parents != nullptr && (first || !ordered))
            adopt<ALONE>(source, target, distance, first);
    }

    // The same for the edges of a GPU's member, which waits for all of them at each step. A cached distance may be that
    // of an unreached node although the node is reached: what decides is the one that the atomic minimum replaces.
    template <bool ALONE, class Box>
    METHOD void visit(const Box &box, int32 distance, bool, const EdgeGroup<int32> &group) const {
        constexpr int N = SIDE_BY_SIDE;
        int32 targets[N], before[N];
        for (int n = 0; n < N; ++n)
            targets[n] = group.edges[n] >= 0 ? graph.targets[group.edges[n]] : -1;
        for (int n = 0; n < N; ++n)
            before[n] = targets[n] >= 0 ? cached_load(distances.values + targets[n]) : 0;
        const int32 unreached = distances.unreached();
        bool unsure[N];
        for (int n = 0; n < N; ++n) {
            unsure[n] = before[n] == unreached;
            if (unsure[n])
                before[n] = atomic_min(distances.values + targets[n], distance);
        }
        for (int n = 0; n < N; ++n)
            if (unsure[n] && before[n] == unreached)
                box.put(targets[n]);
        if (levels.parents == nullptr)
            return;
        for (int n = 0; n < N; ++n)
            if (targets[n] >= 0 && before[n] >= distance && racing_load(levels.parents + targets[n]) > group.values[n])
                atomic_min(levels.parents + targets[n], group.values[n]);
    }

    // Calls follow(search, box, start, goes_on, visit), which follows edges of the frontier, and appends the nodes
    // found to the next frontier. `search` is a copy of this object, so that g++ keeps its members in registers: it
    // would read those of *this again after every atomic operation.
    template <bool ALONE, class Follow> METHOD void push(bool ordered, Follow follow) const {
        const BreadthFirst search = *this;
        const int32 distance = level() + 1;
        const auto box = next_frontier<ALONE>(graph, *space, frontier);
        box.open();
        const int64 followed = follow(
            search, box, [](Index node) { return int32(node); }, [](int32) { return true; },
            [&](const auto &...edges) { search.template visit<ALONE>(box, distance, ordered, edges...); });
        box.deliver();
        if (Team::leads())
            atomic_add(frontier.totals + FOLLOWED, followed);
    }

    // Sorts a frontier that is a considerable part of the graph: its rows are then read in the order of memory, and the
    // first edge to a node comes from its parent. One member calls this, and no other. Returns whether it was done.
    METHOD bool sort_frontier() const {
        const Index listed = frontier.progress[LISTED], words = words_of(graph.nodes);
        if (listed < words / LEAST_SHARE)
            return false;
        int32 *list = frontier.list(frontier.progress[BUFFER]);
        uint32 *bits = levels.bits(level());
        for (Index word = 0; word < words; ++word)
            bits[word] = 0;
        for (Index i = 0; i < listed; ++i)
            add_alone(bits, list[i]);
        for (Index word = 0; word < words; ++word)
            for (uint32 rest = bits[word]; rest != 0; rest &= rest - 1)
                *list++ = int32(word * WORD + trailing_zeros(rest));
        return true;
    }

    // Adds a node to the set of those that a team finds in its tile.
    METHOD static void add_found(uint32 *set, Index place) {
        if constexpr (ONE_MEMBER)
            add_alone(set, place);
        else
            add_together(set, place);
    }

    // Follows the edges of a piece of a list of `listed` nodes; `ordered`: whether the nodes ascend, and no other team
    // pushes.
    template <bool ALONE>
    METHOD void push_listed(const int32 *list, Piece nodes, [[maybe_unused]] Index listed, bool ordered) const {
        push<ALONE>(
            ordered, [=](const auto &search, [[maybe_unused]] const auto &box, auto start, auto goes_on, auto visit) {
                if constexpr (ONE_MEMBER)
                    return one_member_follows<ALONE>(search.graph, search.frontier, list, nodes.begin, nodes.end,
                                                     listed, false, start, goes_on, visit);
                else
                    return team_follows<int32>(search.graph, search.frontier, list, nodes.begin, nodes.end,
                                               *search.space, start, goes_on, visit, [&] { box.flush_if_full(); });
            });
    }

    template <bool ALONE> METHOD void push_nodes(Piece nodes) const {
        const bool ordered = ALONE && ONE_MEMBER && sort_frontier();
        push_listed<ALONE>(frontier.list(frontier.progress[BUFFER]), nodes, frontier.progress[LISTED], ordered);
    }

    // Whether several CPU threads push the frontier by tiles of the graph's nodes, not by tiles of its list, which has
    // no order: as many nodes are found faster in the array of distances than rows are read at random places.
    METHOD bool is_dense() const { return ONE_MEMBER && frontier.progress[LISTED] >= graph.nodes / DENSE_SHARE; }

    // Pushes those of the nodes `begin` to `end` - 1 of the graph that belong to the frontier.
    METHOD void push_range(Index begin, Index end) const {
        int32 *list = space->far_found, count = 0;
        const int32 distance = level();
        for (Index node = begin; node < end; ++node) { // without a branch, which would often be mispredicted
            list[count] = int32(node);
            count += racing_load(distances.values + node) == distance;
        }
        push_listed<false>(list, {0, count}, count, false);
    }

    METHOD void push_chunk(Index index) const {
        push<false>(false, [=](const auto &search, const auto &, auto start, auto goes_on, auto visit) {
            return follow_chunk(search.graph, search.frontier.chunks[index], start, goes_on, visit);
        });
    }

    // First pass of a pull: the bitmap of the frontier, unless the level before was pulled, too.
    METHOD void mark_frontier(Index index) const {
        const Index begin = index * WORDS, words = words_of(graph.nodes);
        const int32 distance = level();
        Team::set_words(Piece{begin, begin + WORDS < words ? begin + WORDS : words}, levels.bits(distance),
                        [&](Index node) { return node < graph.nodes && distances.values[node] == distance; });
    }

    // Second pass of a pull: unreached nodes look for a neighbour in the frontier. The bitmap of the nodes found is
    // that of the next frontier.
    METHOD void pull(Index index) const {
        static_assert(PULLED / WORD <= TILE, "the bitmap of a tile fits");
        int32 *waiting = space->far_found, *waiting_count = &space->far_count, *least = &space->flag;
        uint32 *const found_bits = reinterpret_cast<uint32 *>(space->places);
        const int32 distance = level() + 1;
        const uint32 *const bits = levels.bits(distance - 1);
        const auto in_frontier = [&](Index node) { return (bits[node / WORD] & bit_of(node)) != 0; };
        const auto box = next_frontier<false>(graph, *space, frontier);
        if (Team::leads())
            *waiting_count = 0;
        for (const Index word : Team::share({0, PULLED / WORD}))
            found_bits[word] = 0;
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
                if constexpr (ONE_MEMBER)
                    add_together(levels.seen, node);
                if (levels.parents != nullptr)
                    levels.parents[node] = incoming.targets[edge - 1];
                add_found(found_bits, node - begin);
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
                    add_found(found_bits, node - begin);
                    box.put(int32(node));
                }
            Team::barrier();
        }
        box.deliver();
        const Index first_word = begin / WORD;
        for (const Index word : Team::share({first_word, words_of(end)}))
            levels.bits(distance)[word] = found_bits[word - first_word];
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
            if constexpr (!Group::ALONE && ONE_MEMBER)
                if (is_dense()) {
                    const Piece range = group.tile(index, progress[TILE_NODES], graph.nodes);
                    return push_range(range.begin, range.end);
                }
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
        const bool is_marked = progress[PASS] == PREPARE || progress[PASS] == PULL; // by the pull that ends
        int32 pass = TILES;
        if (listed == 0 || !distances.goes_on(level()))
            pass = DONE;
        else if (pulls())
            pass = is_marked ? PULL : PREPARE;
        else if (frontier.fits_single_block(listed, totals[EDGES]))
            pass = ALONE;
        const Index words = words_of(graph.nodes);
        begin_round(frontier, pass, int32((words + WORDS - 1) / WORDS), int32((graph.nodes + PULLED - 1) / PULLED));
        if (pass == TILES && is_dense()) {
            progress[TILE_NODES] = PUSHED;
            progress[TILES] = int32((graph.nodes + PUSHED - 1) / PUSHED);
        }
    }
};
