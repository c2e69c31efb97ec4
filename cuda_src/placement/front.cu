// Placement of points by an advancing front (Loehner and Onate 1998; Rebay 1993): every edge of the front proposes the
// apex of a triangle with sides of the wanted size. No mesh is needed for that. Points lie in the cells of a grid, and
// two points whose distance is about the size count as an edge.
//
// A round checks the proposals against the existing points, and resolves conflicts among those that remain: a proposal
// is accepted if no conflicting one has a higher priority. Accepted points propose apexes together with their
// neighbours. The device repeats rounds by itself: their numbers are in its memory (FrontEntry).
#include "placement/layers.cuh"

constexpr float64 SPACING = 0.68;       // least distance between two points, in sizes
constexpr float64 LONGEST = 1.25;       // longest distance of two points that form an edge,
constexpr float64 ACROSS_GAPS = 1.6;    // and where the front has stopped beside a gap,
constexpr float64 RESOLVED = 0x1p-40;   // unless sizes are smaller, in units of the coordinates there
constexpr float64 CLEARANCE = 0.5;      // least distance of a point from a segment
constexpr float64 NEIGHBOUR = 1.25;     // longest distance to a neighbour that supports a proposal
constexpr float64 SHARE = 0.15;         // fraction of its neighbours' misfits by which a proposal yields,
constexpr float64 FARTHEST = 0.2;       // at most this many sizes
constexpr float64 AROUND = 1.75;        // neighbourhood of a point in which its proposals must not be taken
constexpr float64 OUTLINE_REACH = 1.6;  // a piece that blocks a proposal has an end within this distance of it
constexpr int MOST_NEAR = 48;           // points in a neighbourhood; where there are more, no point is wanted
constexpr int MOST_PROPOSALS = 6;       // by one point in a round
constexpr int32 NO_PROPOSAL = -1;       // instead of a place in a list
constexpr int32 WORST = 1 << 16;        // a misfit, squared, that is as bad as a neighbour less
constexpr int32 MOST_COUNTED = 1 << 14; // neighbours

// The lists of a round.
KERNEL_STRUCT(Proposals) {
    Proposal *lists; // of this round and of the next one, `most` entries each: they change places
    Proposal *made;  // by new node: up to MOST_PROPOSALS
    int32 *counts;   // by new node: how many it has made
    Point *apexes;   // of the fresh proposals
    float64 *sizes;  // at these
    int64 *slots;    // by proposal: its cell among the rivals, or NO_SLOT if it is dropped
    int32 *fates;    // by proposal
    int32 *winners;  // by proposal that waits: a conflicting one of higher priority
    int32 *sums;     // by piece of a list
    int64 most;

    METHOD Proposal *list(Index round) const { return lists + (round % 2 ? most : 0); }
};

// The numbers of a front: kernels of the next round read them.
enum FrontEntry : int32 {
    PENDING_PROPOSALS, // of the next round: first those that have waited
    WAITING_PROPOSALS,
    FRONT_NODES,
    ACCEPTED_NODES, // of the last round
    FRESH_PROPOSALS,
    FRONT_ROUND,      // the number of the next round
    LAST_FRONT_ROUND, // before which the device stops
    FRONT_BLOCKS,     // of the cells of nodes
    FRONT_HALT,       // 1: the host is needed, or all is done
    FRONT_ENTRIES
};

// Outcomes of a proposal; the others are dropped.
enum ProposalFate : int32 { ACCEPTED, WAITS, PROPOSAL_FATES };

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

// The nodes around a node, in any order. Loops over them have no branches that a CPU could not predict.
struct Neighbourhood {
    int count = 0;
    int32 nodes[MOST_NEAR + 1];
    float64 x[MOST_NEAR + 1], y[MOST_NEAR + 1];

    METHOD Point at(int k) const { return {x[k], y[k]}; }

    METHOD bool keeps_distance(Point p, float64 distance) const {
        const float64 least = distance * distance;
        uint64 nearer = 0; // the sign of a difference: g++ computes two at a time
        for (int k = 0; k < count; ++k)
            nearer |= bits_of(squared_length(at(k), p) - least);
        return nearer >> 63 == 0;
    }

    METHOD bool has_one_below(int32 number) const {
        int32 below = 0;
        for (int k = 0; k < count; ++k)
            below |= nodes[k] < number;
        return below != 0;
    }
};

// The nodes around a node; none if there are too many.
INLINE Neighbourhood nodes_around(int32 node, const Nodes &nodes, const Cells &cells) {
    const Point p = nodes.points[node];
    const float64 size = nodes.sizes[node], reach = AROUND * size;
    Neighbourhood near;
    cells.for_near(p, reach, size, [&](int32 other) {
        const Point there = nodes.points[other];
        near.nodes[near.count] = other;
        near.x[near.count] = there.x, near.y[near.count] = there.y;
        near.count += squared_length(there, p) < reach * reach;
        return near.count <= MOST_NEAR;
    });
    if (near.count > MOST_NEAR)
        near.count = 0;
    return near;
}

// Places in a neighbourhood of nodes with which a node proposes.
struct Partners {
    int count = 0;
    int places[MOST_NEAR + 1];
};

// Lists the nodes of smaller numbers around a node that are at most `longest` sizes away, and those farther away, but
// at most ACROSS_GAPS sizes.
INLINE void find_partners(int32 node, const Neighbourhood &near, const Nodes &nodes, float64 longest, Partners &within,
                          Partners &beyond) {
    const Point p = nodes.points[node];
    const float64 size = nodes.sizes[node];
    for (int k = 0; k < near.count; ++k) {
        const float64 wanted = 0.5 * (size + nodes.sizes[near.nodes[k]]), unit = wanted * wanted;
        const float64 squared = squared_length(near.at(k), p);
        const bool is_smaller = near.nodes[k] < node, is_within = squared <= longest * longest * unit;
        within.places[within.count] = k;
        within.count += is_smaller & is_within & (squared > 0.0);
        beyond.places[beyond.count] = k;
        beyond.count += is_smaller & !is_within & (squared <= ACROSS_GAPS * ACROSS_GAPS * unit);
    }
}

// Calls visit(proposal) for those of a node with its partners, in the order of their numbers, until it returns false.
// (Reorders the partners.)
template <class Visit>
INLINE void for_proposals(int32 node, const Neighbourhood &near, const Nodes &nodes, Partners &partners, Visit visit) {
    const Point p = nodes.points[node];
    int *const places = partners.places;
    for (int rank = 0; rank < partners.count; ++rank) {
        int first = rank;
        for (int k = rank + 1; k < partners.count; ++k)
            first = near.nodes[places[k]] < near.nodes[places[first]] ? k : first;
        const int place = places[first];
        places[first] = places[rank];
        const float64 wanted = 0.5 * (nodes.sizes[node] + nodes.sizes[near.nodes[place]]);
        const Isosceles shape(squared_length(p, near.at(place)), wanted);
        for (int turn = 0; turn < 2; ++turn) {
            const Point a = turn ? near.at(place) : p, b = turn ? p : near.at(place);
            Proposal here = shape.on(a, b);
            here.origin = p;
            // Slightly less than the spacing: the size at the apex is not known yet.
            if (near.keeps_distance(here.apex, 0.9 * SPACING * here.side) && !visit(here))
                return;
        }
    }
}

// Stores the proposals of a node with its partners, at most MOST_PROPOSALS; returns how many.
INLINE int32 propose_at(int32 node, const Neighbourhood &near, const Nodes &nodes, Partners &partners,
                        Proposal *proposals) {
    int count = 0;
    if (partners.count == 0)
        return 0;
    const bool by_outline = near.has_one_below(int32(nodes.outline));
    for_proposals(node, near, nodes, partners, [&](Proposal &made) {
        made.by_outline = by_outline;
        proposals[count++] = made;
        return count < MOST_PROPOSALS;
    });
    return count;
}

// Whether a node has a proposal with one of its partners.
INLINE bool can_propose(int32 node, const Neighbourhood &near, const Nodes &nodes, Partners &partners) {
    bool found = false;
    for_proposals(node, near, nodes, partners, [&](const Proposal &) {
        found = true;
        return false;
    });
    return found;
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

INLINE float64 cross(Point o, Point a, Point b) { return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x); }

// Whether the way from a base to the apex crosses the piece u-w of the outline, or ends too near to it.
INLINE bool is_blocked(const Proposal &q, Point u, Point w, float64 clearance) {
    const float64 apex_side = cross(u, w, q.apex), start_side = cross(u, w, q.origin);
    const float64 squared = squared_length(u, w);
    const float64 along = (q.apex.x - u.x) * (w.x - u.x) + (q.apex.y - u.y) * (w.y - u.y);
    if (along > 0.0 && along < squared && apex_side * apex_side < clearance * clearance * squared)
        return true;
    // A way that starts on the piece does not cross it.
    return apex_side * start_side < -0x1p-40 * (squared * squared) &&
           (cross(q.origin, q.apex, u) > 0.0) != (cross(q.origin, q.apex, w) > 0.0);
}

// The nodes around the apex of a proposal, in any order.
class Surroundings {
    static constexpr int MOST_LISTED = 32;
    const Nodes &nodes;
    const Cells &cells;
    const Point center;
    const float64 reach, size;
    int count = 0; // more than MOST_LISTED if they are not listed
    int32 listed[MOST_LISTED + 1];
    float64 x[MOST_LISTED + 1], y[MOST_LISTED + 1];

  public:
    // Those within `reach` of the apex.
    METHOD Surroundings(const Proposal &q, float64 reach, const Nodes &nodes, const Cells &cells)
        : nodes(nodes), cells(cells), center(q.apex), reach(reach), size(q.side) {
        cells.for_near(center, reach, size, [&](int32 node) {
            const Point there = nodes.points[node];
            listed[count] = node;
            x[count] = there.x, y[count] = there.y;
            count += squared_length(there, center) < reach * reach; // no branch that a CPU could not predict
            return count <= MOST_LISTED;
        });
    }

    // Calls visit(node) for each of them, and possibly for others, until it returns false.
    template <class Visit> METHOD void for_each(Visit visit) const {
        if (count > MOST_LISTED) {
            cells.for_near(center, reach, size, visit);
            return;
        }
        for (int k = 0; k < count; ++k)
            if (!visit(listed[k]))
                return;
    }

    // Whether none is nearer to a place than a distance.
    METHOD bool keep(Point p, float64 distance) const {
        const float64 least = distance * distance;
        bool all = true;
        if (count > MOST_LISTED) {
            cells.for_near(center, reach, size, [&](int32 node) {
                all = squared_length(nodes.points[node], p) >= least;
                return all;
            });
            return all;
        }
        uint64 nearer = 0; // the sign of a difference: g++ computes two at a time
        for (int k = 0; k < count; ++k)
            nearer |= bits_of(squared_length({x[k], y[k]}, p) - least);
        return nearer >> 63 == 0;
    }

    // Calls visit(node, its place, squared distance) for those that are nearer to a place than a distance.
    template <class Visit> METHOD void for_nearer(Point p, float64 distance, Visit visit) const {
        const float64 most = distance * distance;
        if (count > MOST_LISTED) {
            cells.for_near(center, reach, size, [&](int32 node) {
                const float64 squared = squared_length(nodes.points[node], p);
                if (squared < most)
                    visit(node, nodes.points[node], squared);
                return true;
            });
            return;
        }
        int places[MOST_LISTED + 1], found = 0;
        for (int k = 0; k < count; ++k) {
            places[found] = k;
            found += squared_length({x[k], y[k]}, p) < most;
        }
        for (int i = 0; i < found; ++i) {
            const Point there = {x[places[i]], y[places[i]]};
            visit(listed[places[i]], there, squared_length(there, p));
        }
    }
};

// Moves the apex of a proposal towards places that are a size away from the nodes around it. Only the sum of the
// misfits counts; it is one of integers, since cells list their nodes in any order.
INLINE void give_way(Proposal &q, const Nodes &nodes, const Surroundings &near) {
    int64 right = 0, up = 0;
    int around = 0;
    near.for_nearer(q.apex, NEIGHBOUR * q.side, [&](int32 other, Point p, float64 squared) {
        if (squared == 0.0)
            return;
        const float64 distance = square_root(squared), wanted = 0.5 * (q.side + nodes.sizes[other]);
        const float64 misfit = (wanted - distance) / q.side * 0x1p30;
        right += int64((q.apex.x - p.x) / distance * misfit);
        up += int64((q.apex.y - p.y) / distance * misfit);
        ++around;
    });
    if (around <= 2) // the ends of the base
        return;
    const float64 x = SHARE * 0x1p-30 * float64(right), y = SHARE * 0x1p-30 * float64(up),
                  length = square_root(x * x + y * y);
    const float64 scale = q.side * (length > FARTHEST ? FARTHEST / length : 1.0);
    q.apex = {q.apex.x + scale * x, q.apex.y + scale * y};
}

// Whether a proposal keeps its distance from all nodes. If so, rates it by the number of those that are its neighbours,
// and by the mean of the squares of their misfits.
INLINE bool keeps_spacing(Proposal &q, const Nodes &nodes, const Surroundings &near) {
    if (!near.keep(q.apex, SPACING * q.side))
        return false;
    int32 neighbours = 0;
    int64 squares = 0; // the sum is one of integers, since cells list their nodes in any order
    near.for_nearer(q.apex, NEIGHBOUR * q.side, [&](int32 other, Point, float64 squared) {
        const float64 misfit = square_root(squared) / (0.5 * (q.side + nodes.sizes[other])) - 1.0;
        squares += int64(misfit * misfit * float64(WORST));
        ++neighbours;
    });
    const int64 mean = neighbours ? squares / neighbours : 0;
    q.support = (neighbours < MOST_COUNTED ? neighbours : MOST_COUNTED) * WORST + WORST - 1 -
                int32(mean < WORST ? mean : WORST - 1);
    return true;
}

// Fits a new proposal to the size at its apex.
INLINE void fit(Proposal &q, float64 size) {
    const float64 squared_height = squared_length(q.middle, q.apex), half = q.side * q.side - squared_height;
    const float64 fitted = 0.5 * (q.side + size), squared_side = q.side * q.side;
    const float64 least = 1.44 * half < squared_side ? 1.44 * half : squared_side; // a lower layer keeps its height
    const float64 wanted = fitted * fitted > least ? fitted * fitted : least;
    const float64 stretch = square_root((wanted - half) / squared_height);
    q.apex = {q.middle.x + stretch * (q.apex.x - q.middle.x), q.middle.y + stretch * (q.apex.y - q.middle.y)};
    q.side = size; // from here on, the size at the apex
}

// Whether the outline blocks a proposal. Points keep a distance from each other in a bounded region: the front ends,
// even if it passes the outline where rounding has left a segment whole.
INLINE bool meets_outline(const Proposal &q, const Nodes &nodes, const Surroundings &near) {
    bool blocked = !nodes.holds(q.apex);
    if (q.by_outline)
        near.for_each([&](int32 node) {
            if (node < nodes.outline)
                for (int32 k = nodes.first_piece[node]; k < nodes.first_piece[node + 1] && !blocked; ++k)
                    blocked = is_blocked(q, nodes.points[node], nodes.points[nodes.across[k]], CLEARANCE * q.side);
            return !blocked;
        });
    return blocked;
}

// Whether a new proposal is possible, with the size at its apex, and after it has given way to the nodes there.
INLINE bool is_possible(Proposal &q, float64 size, const Nodes &nodes, const Cells &cells) {
    if (!(size < INFINITE))
        return false;
    if (q.by_outline == BETWEEN && q.side < size)
        size = q.side; // points may be as near to these walls
    fit(q, size);
    const Surroundings near(q, (FARTHEST + (q.by_outline ? OUTLINE_REACH : NEIGHBOUR)) * size, nodes, cells);
    give_way(q, nodes, near);
    return !meets_outline(q, nodes, near) && keeps_spacing(q, nodes, near);
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
