// Breadth-first search in the order of a sequential queue.
//
// The sequential search takes nodes from a queue, and appends the targets of their edges, in stored order, that it has
// not seen before. The rank of a node is its place in the queue. Number the edges in the order in which the sequential
// search examines them: the edges of rank 0, then those of rank 1, and so on. The number of an edge is its position.
// The first edge to a node is the one with the least position, so that edge's source is the parent, and the nodes of a
// level are ranked by their first edges. A level has three passes:
//
//     CLAIM   each edge lowers the claim of its target to its position: claims of nodes seen before are less already
//     COUNT   counts the first edges, and the edges that leave their targets, for each piece of the level's edges
//     PLACE   appends the targets of the first edges to the queue: their places follow from the sums over the pieces
//
// All of them divide the level's edges evenly, in runs. A CPU's thread that is alone searches sequentially.
#pragma once

#include "graph/traversal/distances.cuh"
#include "graph/traversal/node_bits.cuh"
#include "graph/traversal/rounds.cuh"

constexpr Index RUN = ONE_MEMBER ? 32 : 8; // consecutive edges per index: 32 bytes of targets on a GPU

KERNEL_STRUCT(Queue) {
    int32 *order;   // (nodes): nodes by rank
    int32 *begins;  // (nodes): the position of the first edge, by rank
    int32 *parents; // (nodes), by node; -1 at sources and unreached nodes
    int32 *claims;  // (nodes), by node: the least position of an edge to it so far; -1 at sources
    uint32 *seen;   // (nodes / WORD), on a CPU: the nodes in the queue, for the sequential search
    int32 *sums;    // (2 MOST_PIECES): for each piece the number of first edges, and of edges that leave their targets
};

constexpr int32 UNCLAIMED = 0x7fffffff; // above all positions

struct QueueSearch {
    static constexpr Entry CLAIM = PREPARE, COUNT = OTHER, PLACE = CHUNKS;

    Csr graph;
    By<HOPS> distances;
    Traversal frontier;
    Queue queue;
    TeamSpace *space;

    // The ranks of the frontier, the last level in the queue.
    METHOD Piece ranks() const {
        const Index end = graph.nodes - frontier.totals[UNSEEN];
        return {end - frontier.progress[LISTED], end};
    }

    // The position of the first edge of the frontier, and that of the next level.
    METHOD Index first_position() const { return frontier.totals[FOLLOWED]; }
    METHOD Index next_position() const { return frontier.totals[FOLLOWED] + frontier.totals[EDGES]; }

    METHOD Index runs() const { return (frontier.totals[EDGES] + RUN - 1) / RUN; }

    // Calls visit(node, target, position) for the edges of a run, in order.
    template <class Visit> METHOD void for_run(Index run, Visit visit) const {
        const Piece level = ranks();
        const Index all = next_position();
        Index position = first_position() + run * RUN, rank = level.begin;
        const Index end = position + RUN < all ? position + RUN : all;
        for (Index above = level.end; above - rank > 1;) { // rank: the last one whose edges begin at `position` at most
            const Index middle = (rank + above) / 2;
            (queue.begins[middle] <= position ? rank : above) = middle;
        }
        for (; position < end; ++rank) {
            const int32 node = queue.order[rank];
            const Index begin = queue.begins[rank], row_end = begin + graph.degree(node);
            const int32 *row = graph.targets + graph.begin(node);
            for (; position < row_end && position < end; ++position)
                visit(node, row[position - begin], int32(position));
        }
    }

    METHOD void claim(Index run) const {
        for_run(run, [&](int32, int32 target, int32 position) {
            if (racing_load(queue.claims + target) > position)
                atomic_min(queue.claims + target, position);
        });
    }

    // The numbers of first edges of a run, and of edges that leave their targets.
    METHOD Sums<2> count(Index run) const {
        Sums<2> found = {};
        for_run(run, [&](int32, int32 target, int32 position) {
            if (queue.claims[target] == position)
                found.add({{1, int32(graph.degree(target))}});
        });
        return found;
    }

    METHOD void append(int32 node, int32 parent, Index rank, Index begin, int32 distance) const {
        queue.order[rank] = node;
        queue.begins[rank] = int32(begin);
        queue.parents[node] = parent;
        distances.values[node] = distance;
    }

    // Appends the targets of the first edges of some runs; `before` are the counts of all runs before them. Returns the
    // counts up to their end. Called by all members of a team.
    METHOD Sums<2> place(Piece some, Sums<2> before) const {
        const Index next_rank = ranks().end, next_begin = next_position();
        const int32 distance = frontier.progress[ROUND] + 1;
        return Team::in_order(
            some, before, [&](Index run) { return count(run); },
            [&](Index run, const Sums<2> &earlier) {
                Sums<2> passed = earlier;
                for_run(run, [&](int32 node, int32 target, int32 position) {
                    if (queue.claims[target] != position)
                        return;
                    append(target, node, next_rank + passed.of[0], next_begin + passed.of[1], distance);
                    if constexpr (ONE_MEMBER)
                        add_together(queue.seen, target);
                    passed.add({{1, int32(graph.degree(target))}});
                });
            });
    }

    // Enters the numbers of nodes and edges of the next level.
    METHOD void enter_next(const Sums<2> &found) const {
        frontier.progress[NEXT_LISTED] = found.of[0];
        frontier.totals[NEXT_EDGES] = found.of[1];
    }

    // The level by one team alone.
    METHOD void search_alone() const {
        if constexpr (ONE_MEMBER) {
            search_sequentially();
        } else {
            const Piece all = {0, runs()};
            for (const Index run : Team::share(all))
                claim(run);
            Team::barrier();
            const Sums<2> found = place(all, {});
            if (Team::leads())
                enter_next(found);
        }
    }

    METHOD void search_sequentially() const {
        constexpr Index NODES_AT_ONCE = 1 << 12, EDGES_AHEAD = 12; // nodes between two STOP_POINTs, and of prefetching
        const QueueSearch search = *this;                          // a copy, whose members g++ keeps in registers
        const Piece level = ranks();
        Sums<2> found = {};
        const Index next_begin = next_position();
        const int32 distance = frontier.progress[ROUND] + 1;
        for (Index rank = level.begin; rank < level.end; ++rank) {
            if ((rank - level.begin) % NODES_AT_ONCE == NODES_AT_ONCE - 1)
                STOP_POINT();
            if (rank + EDGES_AHEAD < level.end)
                prefetch(search.graph.targets + search.graph.begin(search.queue.order[rank + EDGES_AHEAD]));
            const int32 node = search.queue.order[rank], *row = search.graph.targets + search.graph.begin(node);
            const Index degree = search.graph.degree(node);
            for (Index k = 0; k < degree; ++k) {
                const int32 target = row[k];
                if (contains(search.queue.seen, target))
                    continue;
                add_alone(search.queue.seen, target);
                search.queue.claims[target] = search.queue.begins[rank] + int32(k);
                search.append(target, node, level.end + found.of[0], next_begin + found.of[1], distance);
                found.add({{1, int32(search.graph.degree(target))}});
            }
        }
        enter_next(found);
    }

    // The passes of a level.
    template <class Group> METHOD void round(const Group &group) const {
        if constexpr (Group::ALONE) {
            search_alone();
        } else {
            const Index all = runs();
            group.pass(CLAIM, [&](Index index) {
                for (const Index run : Team::share(piece_of(index, all)))
                    claim(run);
            });
            group.pass(COUNT, [&](Index index) {
                const Sums<2> found = Team::sum(piece_of(index, all), [&](Index run) { return count(run); });
                store_sums(Team{index}, found, queue.sums);
            });
            group.pass(PLACE, [&](Index index) {
                const Sums<2> before = sum_of_pieces<2>(Team{index}, queue.sums, 0, index);
                const Sums<2> found = place(piece_of(index, all), before);
                if (Team::leads())
                    if (index == pieces_of(all) - 1)
                        enter_next(found);
            });
        }
    }

    // Ends a level and decides the next one; called by one member.
    METHOD void end() const {
        int32 *progress = frontier.progress;
        int64 *totals = frontier.totals;
        totals[FOLLOWED] += totals[EDGES];
        swap_frontiers(progress, totals);
        totals[UNSEEN] -= progress[LISTED];
        ++progress[ROUND];
        int32 pass = CLAIM;
        if (totals[EDGES] == 0 || !distances.goes_on(progress[ROUND]))
            pass = DONE;
        else if (frontier.fits_single_block(progress[LISTED], totals[EDGES]))
            pass = ALONE;
        const int32 pieces = int32(pieces_of(runs()));
        begin_round(frontier, pass, pieces, pieces);
        progress[PLACE] = pass == CLAIM ? pieces : 0;
    }
};
