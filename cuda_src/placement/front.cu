// Placement of points by an advancing front (Loehner and Onate 1998; Rebay 1993): every edge of the front proposes the
// apex of a triangle with sides of the wanted size. No mesh is needed for that. Points lie in the cells of a grid, and
// two points whose distance is about the size count as an edge.
//
// A round checks the proposals against the existing points, and resolves conflicts among those that remain: a proposal
// is accepted if no conflicting one has a higher priority. Accepted points propose apexes together with their
// neighbours. The device repeats rounds by itself: their numbers are in its memory (FrontEntry).
#include "placement/fitting.cuh"
#include "placement/proposing.cuh"

// One proposal per directed piece of the outline with the domain on its left.
KERNEL(propose_at_pieces, const int32 *pieces, Nodes nodes, Cells cells, Proposals proposals) {
    for (const Index i : launch) {
        const int32 a = pieces[2 * i], b = pieces[2 * i + 1];
        const Point start = nodes.points[a], end = nodes.points[b];
        const float64 size = 0.5 * (nodes.sizes[a] + nodes.sizes[b]);
        Proposal made = Isosceles(squared_length(start, end), size).on(start, end);
        if (size < INFINITE)
            fit_to_width(made, start, end, size, nodes, cells);
        proposals.list(0)[i] = made;
        proposals.apexes[i] = made.apex;
    }
}

// The proposals of the nodes from `first` on.
TEAM_KERNEL(propose_at_nodes, Nodes nodes, Cells cells, Proposals proposals, Count first, Count count) {
    for (const Team team : launch.teams()) {
        const Sums<1> found = team.sum(piece_of(team.number, count), [&](Index i) {
            const int32 node = int32(first + i);
            const Neighbourhood near = nodes_around(node, nodes, cells);
            Partners partners, across;
            find_partners(node, near, nodes, LONGEST, partners, across);
            proposals.counts[i] = propose_at(node, near, nodes, partners, proposals.made + MOST_PROPOSALS * i);
            nodes.beside_gap[node] = can_propose(node, near, nodes, across);
            return Sums<1>{{proposals.counts[i]}};
        });
        store_sums(team, found, proposals.sums);
    }
}

// flags[i] = 1 if node first + i can still propose an apex with a node across a gap. Around a finely divided hole,
// layers become wider until all distances in one exceed LONGEST at the same time, and the front stops.
KERNEL(flag_gaps, Nodes nodes, Cells cells, Count first, int32 *flags) {
    for (const Index i : launch) {
        const int32 node = int32(first + i);
        const Point p = nodes.points[node];
        flags[i] = 0;
        if (!nodes.beside_gap[node] || !(nodes.sizes[node] > RESOLVED * (magnitude(p.x) + magnitude(p.y))))
            continue;
        const Neighbourhood near = nodes_around(node, nodes, cells);
        Partners partners, across;
        find_partners(node, near, nodes, LONGEST, partners, across);
        flags[i] = can_propose(node, near, nodes, across);
    }
}

// Sets flags[i] to 0 unless node first + i is at a side of a lattice that the front has not reached. The flags of nodes
// inside the lattice are 0 before.
KERNEL(flag_open_sides, Nodes nodes, Cells cells, Count first, int32 *flags) {
    for (const Index i : launch) {
        if (!flags[i])
            continue;
        const int32 node = int32(first + i);
        const Neighbourhood near = nodes_around(node, nodes, cells);
        Partners partners, across;
        find_partners(node, near, nodes, LONGEST, partners, across);
        flags[i] = can_propose(node, near, nodes, partners);
    }
}

// flags[i] = 1 for places with a size that have no node within `distance` sizes.
KERNEL(flag_uncovered, const Point *places, const float64 *sizes, float64 distance, Nodes nodes, Cells cells,
       int32 *flags) {
    for (const Index i : launch) {
        const float64 size = sizes[i];
        bool covered = !(size < INFINITE);
        if (!covered)
            cells.for_near(places[i], distance * size, size, [&](int32 node) {
                covered = squared_length(nodes.points[node], places[i]) < distance * distance * (size * size);
                return !covered;
            });
        flags[i] = !covered;
    }
}

// The proposals of listed nodes, numbered from `first` on, across gaps.
TEAM_KERNEL(propose_across_gaps, const int32 *listed, Nodes nodes, Cells cells, Proposals proposals, Count first,
            Count count) {
    for (const Team team : launch.teams()) {
        const Sums<1> found = team.sum(piece_of(team.number, count), [&](Index i) {
            const int32 node = int32(first + listed[i]);
            const Neighbourhood near = nodes_around(node, nodes, cells);
            Partners partners, none;
            find_partners(node, near, nodes, ACROSS_GAPS, partners, none);
            proposals.counts[i] = propose_at(node, near, nodes, partners, proposals.made + MOST_PROPOSALS * i);
            return Sums<1>{{proposals.counts[i]}};
        });
        store_sums(team, found, proposals.sums);
    }
}

// Appends the proposals of `count` nodes to those that wait for the next round.
TEAM_KERNEL(pack_proposals, Proposals proposals, Count count, Count round, int32 *progress) {
    Proposal *const next = proposals.list(round + 1) + progress[WAITING_PROPOSALS];
    for (const Team team : launch.teams()) {
        const Piece piece = piece_of(team.number, count);
        if (piece.empty())
            continue;
        const Sums<1> before = sum_of_pieces<1>(team, proposals.sums, 0, team.number);
        const Sums<1> end = team.in_order(
            piece, before, [&](Index i) { return Sums<1>{{proposals.counts[i]}}; },
            [&](Index i, const Sums<1> &place) {
                for (int32 k = 0; k < proposals.counts[i]; ++k) {
                    const Proposal made = proposals.made[MOST_PROPOSALS * i + k];
                    next[place.of[0] + k] = made;
                    proposals.apexes[place.of[0] + k] = made.apex;
                }
            });
        if (team.leads() && piece.end == count)
            progress[FRESH_PROPOSALS] = end.of[0];
    }
}

// Adds the proposals that are possible to the rivals. Those that have not waited are new.
KERNEL(resolve_proposals, Nodes nodes, Cells cells, Cells rivals, Proposals proposals, Count waiting, Count round,
       Count count) {
    Proposal *const list = proposals.list(round);
    const Cells table = rivals.with_slots_for(count);
    for (const Index i : launch) {
        Proposal q = list[i];
        if (q.side == 0.0) { // nearly all that have waited
            proposals.slots[i] = NO_SLOT;
            continue;
        }
        const bool possible = i < waiting ? keeps_spacing(q, nodes, Surroundings(q, NEIGHBOUR * q.side, nodes, cells))
                                          : is_possible(q, proposals.sizes[i - waiting], nodes, cells);
        list[i] = q;
        proposals.slots[i] = possible ? table.add(int32(i), q.apex, q.side) : NO_SLOT;
    }
}

// Of two proposals, the one with more neighbours has priority, then the one that fits them better, then the one with
// the larger hash of its place.
INLINE uint64 priority_of(const Proposal &q, Index i) { return uint64(q.support) << 32 | hash32(uint32(i)); }

// A conflicting proposal of higher priority, or NO_PROPOSAL.
INLINE int32 find_winner(const Proposal *list, Index i, const Cells &rivals) {
    const Proposal mine = list[i];
    const uint64 priority = priority_of(mine, i);
    int32 winner = NO_PROPOSAL;
    rivals.for_near(mine.apex, SPACING * mine.side, mine.side, [&](int32 other) {
        const Proposal &theirs = list[other];
        const float64 distance = SPACING * (mine.side < theirs.side ? mine.side : theirs.side);
        if (squared_length(theirs.apex, mine.apex) < distance * distance && priority_of(theirs, other) > priority)
            winner = other;
        return winner == NO_PROPOSAL;
    });
    return winner;
}

INLINE Sums<PROPOSAL_FATES> sums_of(int32 fate) { return {{fate == ACCEPTED, fate == WAITS}}; }

TEAM_KERNEL(choose_proposals, Cells rivals, Proposals proposals, Count round, Count count) {
    const Proposal *const list = proposals.list(round);
    const Cells table = rivals.with_slots_for(count);
    for (const Team team : launch.teams()) {
        const Sums<PROPOSAL_FATES> found = team.sum(piece_of(team.number, count), [&](Index i) {
            int32 fate = PROPOSAL_FATES;
            if (proposals.slots[i] != NO_SLOT) {
                proposals.winners[i] = find_winner(list, i, table);
                fate = proposals.winners[i] == NO_PROPOSAL ? ACCEPTED : WAITS;
            }
            proposals.fates[i] = fate;
            return sums_of(fate);
        });
        store_sums(team, found, proposals.sums);
    }
}

// Makes nodes of the accepted proposals, up to a limit on their number, and lists those that wait. Empties the rivals.
TEAM_KERNEL(accept_proposals, Nodes nodes, Cells cells, Cells rivals, Proposals proposals, Count first, int64 limit,
            Count round, Count count, int32 *progress) {
    const Proposal *const list = proposals.list(round);
    Proposal *const next = proposals.list(round + 1);
    const Index left = limit - first;
    for (const Team team : launch.teams()) {
        const Piece piece = piece_of(team.number, count);
        if (piece.empty())
            continue;
        const Sums<PROPOSAL_FATES> before = sum_of_pieces<PROPOSAL_FATES>(team, proposals.sums, 0, team.number);
        const Sums<PROPOSAL_FATES> end = team.in_order(
            piece, before, [&](Index i) { return sums_of(proposals.fates[i]); },
            [&](Index i, const Sums<PROPOSAL_FATES> &place) {
                if (proposals.slots[i] != NO_SLOT)
                    rivals.empty(proposals.slots[i]);
                if (proposals.fates[i] == ACCEPTED && place.of[ACCEPTED] < left) {
                    const Index node = first + place.of[ACCEPTED];
                    nodes.points[node] = list[i].apex;
                    nodes.sizes[node] = list[i].side;
                    cells.add(int32(node), list[i].apex, list[i].side);
                }
                if (proposals.fates[i] == WAITS) {
                    Proposal waits = list[i];
                    if (proposals.fates[proposals.winners[i]] == ACCEPTED) // it keeps its place, on which hashes depend
                        waits.side = 0.0;
                    next[place.of[WAITS]] = waits;
                }
            });
        if (team.leads() && piece.end == count) {
            progress[ACCEPTED_NODES] = int32(end.of[ACCEPTED] < left ? end.of[ACCEPTED] : left);
            progress[WAITING_PROPOSALS] = end.of[WAITS];
            progress[FRESH_PROPOSALS] = 0; // if nothing is accepted
        }
    }
}

// Plans the next round. Stops at the end, at the limit, after the rounds that the host has asked for, and if the next
// round could exceed the capacity of the nodes (`capacity`), of their cells or of the lists.
KERNEL(plan_front, int64 limit, int64 capacity, Cells cells, Proposals proposals, int32 *progress) {
    for ([[maybe_unused]] const Index once : launch) {
        const Index pending = Index(progress[WAITING_PROPOSALS]) + progress[FRESH_PROPOSALS];
        const Index nodes = Index(progress[FRONT_NODES]) + progress[ACCEPTED_NODES];
        const int32 round = ++progress[FRONT_ROUND];
        progress[PENDING_PROPOSALS] = int32(pending);
        progress[FRONT_NODES] = int32(nodes);
        progress[FRONT_BLOCKS] = *cells.blocks;
        progress[FRONT_HALT] = pending == 0 || nodes >= limit || nodes + pending > capacity ||
                               !cells.has_slots_for(*cells.blocks + pending) ||
                               MOST_PROPOSALS * pending > proposals.most || round >= progress[LAST_FRONT_ROUND];
    }
}

// Adds the first nodes to the cells.
KERNEL(add_nodes, Nodes nodes, Cells cells) {
    for (const Index i : launch)
        cells.add(int32(i), nodes.points[i], nodes.sizes[i]);
}
