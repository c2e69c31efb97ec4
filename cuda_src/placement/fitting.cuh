// Whether a proposal of the front is possible: it is fitted to the size at its apex, gives way to the nodes there, and
// must keep its distance from them and from the outline.
#pragma once

#include "placement/proposals.cuh"

constexpr float64 CLEARANCE = 0.5;      // least distance of a point from a segment
constexpr float64 NEIGHBOUR = 1.25;     // longest distance to a neighbour that supports a proposal
constexpr float64 SHARE = 0.15;         // fraction of its neighbours' misfits by which a proposal yields,
constexpr float64 FARTHEST = 0.2;       // at most this many sizes
constexpr float64 OUTLINE_REACH = 1.6;  // a piece that blocks a proposal has an end within this distance of it
constexpr int32 WORST = 1 << 16;        // a misfit, squared, that is as bad as a neighbour less
constexpr int32 MOST_COUNTED = 1 << 14; // neighbours

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
