// Placement of points by an advancing front (Loehner and Onate 1998; Rebay 1993): every edge of the front proposes the
// apex of a triangle with sides of the wanted size. No mesh is needed for that. Points lie in the cells of a grid, and
// two points whose distance is about the size count as an edge.
//
// A round settles proposals against the points that there are, and chooses among those that remain: a proposal is
// accepted if no conflicting one has a higher priority. Accepted points propose apexes together with their neighbours.
#include "geometry/predicates.cuh"
#include "placement/cells.cuh"

constexpr float64 SPACING = 0.65;      // least distance between two points, in sizes
constexpr float64 LONGEST = 1.4;       // longest distance of two points that form an edge
constexpr float64 CLEARANCE = 0.5;     // least distance of a point from a segment
constexpr float64 NEIGHBOUR = 1.25;    // longest distance to a neighbour that supports a proposal
constexpr float64 AROUND = 1.75;       // neighbourhood of a point in which its proposals must not be taken
constexpr float64 OUTLINE_REACH = 1.6; // a piece that blocks a proposal has an end within this distance of it
constexpr int MOST_NEAR = 48;          // points in a neighbourhood; where there are more, no point is wanted
constexpr int MOST_PROPOSALS = 6;      // by one point in a round

// Nodes: the vertices of the divided outline and the points placed so far.
KERNEL_STRUCT(Nodes) {
    Point *points;
    float64 *sizes;
    int64 outline;            // the first nodes are those of the outline
    const int32 *first_piece; // per node of the outline: where its entries in `across` begin
    const int32 *across;      // the other ends of the pieces at a node
    float64 low_x;            // bounding box of the outline
    float64 low_y;
    float64 high_x;
    float64 high_y;

    METHOD bool holds(Point p) const { return p.x >= low_x && p.x <= high_x && p.y >= low_y && p.y <= high_y; }
};

struct alignas(16) Proposal {
    Point apex, middle; // of the triangle, and of its base
    Point origin;       // a point of the base that lies in the domain
    float64 side;       // length of the other two sides
    int32 by_outline;   // 1 if the outline is near
    int32 support;      // number of nodes that would be its neighbours
};

// The apex on the left of the base a -> b, with sides of about `size`.
INLINE Proposal proposal_on(Point a, Point b, float64 size) {
    const float64 squared_base = squared_length(a, b), least = 0.6 * square_root(squared_base);
    const float64 side = size > least ? size : least;
    const float64 height = square_root((side * side - 0.25 * squared_base) / squared_base); // in bases
    const Point middle = {a.x + 0.5 * (b.x - a.x), a.y + 0.5 * (b.y - a.y)};
    return {{middle.x - height * (b.y - a.y), middle.y + height * (b.x - a.x)}, middle, middle, side, true, 0};
}

// One proposal per directed piece of the outline with the domain on its left.
KERNEL(propose_at_pieces, const int32 *pieces, Nodes nodes, Proposal *proposals, Point *apexes) {
    for (const Index i : launch) {
        const int32 a = pieces[2 * i], b = pieces[2 * i + 1];
        proposals[i] = proposal_on(nodes.points[a], nodes.points[b], 0.5 * (nodes.sizes[a] + nodes.sizes[b]));
        apexes[i] = proposals[i].apex;
    }
}

// The nodes around one, in the order of their numbers.
struct Neighbourhood {
    int count = 0;
    int32 nodes[MOST_NEAR];
    Point points[MOST_NEAR];

    METHOD void insert(int32 node, Point p) {
        int place = count++;
        for (; place > 0 && nodes[place - 1] > node; --place) {
            nodes[place] = nodes[place - 1];
            points[place] = points[place - 1];
        }
        nodes[place] = node;
        points[place] = p;
    }

    METHOD bool keeps_distance(Point p, float64 distance) const {
        for (int k = 0; k < count; ++k)
            if (squared_length(points[k], p) < distance * distance)
                return false;
        return true;
    }
};

// Proposals of the new nodes from `first` on, with older nodes and with new ones of smaller numbers: at most
// MOST_PROPOSALS each, of which made[i] are written.
KERNEL(propose_at_nodes, int64 first, Nodes nodes, Cells cells, Proposal *proposals, int32 *made) {
    for (const Index i : launch) {
        const int32 node = int32(first + i);
        const Point p = nodes.points[node];
        const float64 size = nodes.sizes[node], reach = AROUND * size;
        Neighbourhood near;
        bool crowded = false;
        cells.for_near(p, reach, size, [&](int32 other) {
            if (squared_length(nodes.points[other], p) >= reach * reach)
                return true;
            crowded = near.count == MOST_NEAR;
            if (!crowded)
                near.insert(other, nodes.points[other]);
            return !crowded;
        });
        const bool by_outline = near.count > 0 && near.nodes[0] < nodes.outline;
        int count = 0;
        for (int k = 0; k < near.count && !crowded; ++k) {
            const int32 other = near.nodes[k];
            if (other >= node || squared_length(near.points[k], p) > LONGEST * LONGEST * (size * size))
                continue;
            const float64 wanted = 0.5 * (size + nodes.sizes[other]);
            for (int turn = 0; turn < 2; ++turn) {
                const Point a = turn ? near.points[k] : p, b = turn ? p : near.points[k];
                Proposal here = proposal_on(a, b, wanted);
                here.origin = p;
                here.by_outline = by_outline;
                // Slightly less than the spacing: the size at the apex is not known yet.
                if (count < MOST_PROPOSALS && near.keeps_distance(here.apex, 0.9 * SPACING * here.side))
                    proposals[MOST_PROPOSALS * i + count++] = here;
            }
        }
        made[i] = count;
    }
}

// Makes one list of the proposals of all nodes; offsets are the prefix sums of `made`.
KERNEL(pack_proposals, const Proposal *made, const int32 *offsets, Proposal *proposals, Point *apexes) {
    for (const Index i : launch)
        for (int32 k = 0; k < offsets[i + 1] - offsets[i]; ++k) {
            proposals[offsets[i] + k] = made[MOST_PROPOSALS * i + k];
            apexes[offsets[i] + k] = made[MOST_PROPOSALS * i + k].apex;
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

// Fits new proposals to the sizes at their apexes. flags[i] = 1 if nothing blocks proposal i, and sizes are finite
// there.
KERNEL(settle_proposals, Proposal *proposals, const float64 *sizes, Nodes nodes, Cells cells, int32 *flags) {
    for (const Index i : launch) {
        Proposal q = proposals[i];
        const float64 size = sizes[i];
        flags[i] = 0;
        if (!(size < INFINITE))
            continue;
        const float64 squared_height = squared_length(q.middle, q.apex), half = q.side * q.side - squared_height;
        const float64 fitted = 0.5 * (q.side + size),
                      wanted = fitted * fitted > 1.44 * half ? fitted * fitted : 1.44 * half;
        const float64 stretch = square_root((wanted - half) / squared_height);
        q.apex = {q.middle.x + stretch * (q.apex.x - q.middle.x), q.middle.y + stretch * (q.apex.y - q.middle.y)};
        // Points keep a distance from each other in a bounded region: the front ends, even if it passes the outline
        // where rounding has left a segment whole.
        bool blocked = !nodes.holds(q.apex);
        if (q.by_outline)
            cells.for_near(q.apex, OUTLINE_REACH * size, size, [&](int32 node) {
                if (node < nodes.outline)
                    for (int32 k = nodes.first_piece[node]; k < nodes.first_piece[node + 1] && !blocked; ++k)
                        blocked = is_blocked(q, nodes.points[node], nodes.points[nodes.across[k]], CLEARANCE * size);
                return !blocked;
            });
        q.side = size; // from here on, the size at the apex
        proposals[i] = q;
        flags[i] = !blocked;
    }
}

// flags[i] = 1 if proposal i keeps its distance from all nodes; then counts those that would be its neighbours.
KERNEL(check_spacing, Proposal *proposals, Nodes nodes, Cells cells, int32 *flags) {
    for (const Index i : launch) {
        const Proposal q = proposals[i];
        const float64 distance = SPACING * q.side, reach = NEIGHBOUR * q.side;
        bool free = true;
        int32 support = 0;
        cells.for_near(q.apex, reach, q.side, [&](int32 other) {
            const float64 squared = squared_length(nodes.points[other], q.apex);
            free = squared >= distance * distance;
            support += squared < reach * reach;
            return free;
        });
        proposals[i].support = support;
        flags[i] = free;
    }
}

// kept[offsets[i]] = proposals[i] where flags[i] == wanted; the offsets are the prefix sums of the flags.
KERNEL(keep_proposals, const Proposal *proposals, const int32 *flags, const int32 *offsets, int32 wanted, int64 first,
       Proposal *kept) {
    for (const Index i : launch)
        if (flags[i] == wanted)
            kept[first + (wanted ? Index(offsets[i]) : i - offsets[i])] = proposals[i];
}

// Adds proposals to cells of their own.
KERNEL(add_proposals, const Proposal *proposals, Point *apexes, Cells cells) {
    for (const Index i : launch) {
        apexes[i] = proposals[i].apex;
        cells.add(int32(i), proposals[i].apex, proposals[i].side);
    }
}

// Of two proposals, the one with more neighbours has priority; then the one with the larger hash of its place.
INLINE uint64 priority_of(const Proposal &q, Index i) { return uint64(q.support) << 32 | hash32(uint32(i)); }

// flags[i] = 1 if no conflicting proposal has a higher priority.
KERNEL(choose_proposals, const Proposal *proposals, Cells cells, int32 *flags) {
    for (const Index i : launch) {
        const Proposal mine = proposals[i];
        const uint64 priority = priority_of(mine, i);
        bool best = true;
        cells.for_near(mine.apex, SPACING * mine.side, mine.side, [&](int32 other) {
            const Proposal &theirs = proposals[other];
            const float64 distance = SPACING * (mine.side < theirs.side ? mine.side : theirs.side);
            best =
                squared_length(theirs.apex, mine.apex) >= distance * distance || priority_of(theirs, other) <= priority;
            return best;
        });
        flags[i] = best;
    }
}

// Makes nodes of accepted proposals: the first `most` of them, from number `first` on.
KERNEL(accept_proposals, const Proposal *proposals, const int32 *flags, const int32 *offsets, int64 first, int64 most,
       Nodes nodes) {
    for (const Index i : launch)
        if (flags[i] && offsets[i] < most) {
            nodes.points[first + offsets[i]] = proposals[i].apex;
            nodes.sizes[first + offsets[i]] = proposals[i].side;
        }
}

// Adds the nodes from `first` on to the cells.
KERNEL(add_nodes, int64 first, Nodes nodes, Cells cells) {
    for (const Index i : launch)
        cells.add(int32(first + i), nodes.points[first + i], nodes.sizes[first + i]);
}
