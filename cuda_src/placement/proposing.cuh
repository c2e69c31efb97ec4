// The proposals of a node of the front: the apexes of triangles with the nodes around it.
#pragma once

#include "placement/proposals.cuh"

constexpr float64 LONGEST = 1.25;     // longest distance of two points that form an edge,
constexpr float64 ACROSS_GAPS = 1.6;  // and where the front has stopped beside a gap,
constexpr float64 RESOLVED = 0x1p-40; // unless sizes are smaller, in units of the coordinates there
constexpr float64 AROUND = 1.75;      // neighbourhood of a point in which its proposals must not be taken
constexpr int MOST_NEAR = 48;         // points in a neighbourhood; where there are more, no point is wanted

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
