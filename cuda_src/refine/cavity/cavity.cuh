// One cavity: the triangles that a Steiner point deletes, and the boundary of the hole that they leave.
//
// The cavity of p consists of all triangles that p sees and whose circumcircle contains p strictly inside. It is
// star-shaped from p, and has no vertex in its interior, so its triangles form a tree: a walk that starts at the root
// and never turns back visits each of them once. The edges at which a depth-first, counter-clockwise walk stops are the
// cavity boundary, in order around p:
//
//              v2 ____ v1           edge(j) runs from edge(j).vertex to edge(j + 1).vertex, counter-clockwise;
//               /\  . /\            edge(j).across is the triangle or subsegment across it (as Triangle.link).
//              /  \ ./  \           k members have k + 2 boundary edges. If p splits a subsegment on the domain
//          v3 / __ p(+)  \ v0       boundary, this excludes that edge: the chain starts at the subsegment's end, stops
//             \      \  /           at its start, and has k + 1 edges. If p splits an inner subsegment, there are two
//              \______\/            such chains.
//              v4      v5
#pragma once

#include "geometry/predicates.cuh"
#include "mesh/triangles.cuh"

// Outcome of a cavity in a step; Python counts outcomes by these numbers (dmr/refinement/state/outcomes.py).
enum Outcome : int32 {
    INSERTED = 0,   // the point was inserted
    LOST = 1,       // a cavity of higher priority owns one of its triangles
    YIELDED = 2,    // its point and that of an adjacent cavity of higher priority cannot both be inserted
    ENCROACHED = 3, // the point encroaches on a subsegment, which is to be split instead
    PRECISION = 4,  // the coordinates cannot resolve the point
    OVERFLOWED = 5, // more triangles than the record has capacity for: retried with a larger one
    BUDGET = 6,     // dropped because of the limit on Steiner points
    OWNER = 7,      // owns its triangles (between two kernels only)
    UNDECIDED = 8,  // grown, its ownership not yet checked
    DAMAGED = 9,    // changed by another cavity (two-stage marking: to be grown again)
    DEAD = 10,      // its root no longer exists
    BLOCKED = 11,   // blocked by a subsegment that is never split
    DEFERRED = 12,  // waits for exact arithmetic (between two kernels only)
    WAITING = 13,   // a frozen triangle of the tile is in the way: another tile decides
    OUTCOMES = 14,  // number of outcomes
};

struct BoundaryEdge {
    int32 vertex; // start of the edge
    int32 across; // neighbour across: triangle, or ~subsegment
};

// The record of one cavity among many. On a GPU the j-th entries of all records are adjacent, so that the threads of a
// warp read them together; on a CPU the entries of one record are adjacent.
struct Cavity {
    int32 *members;
    BoundaryEdge *boundary;
    uint32 stride;  // 32 bits, so that one multiplication suffices
    int32 capacity; // capacity of each array, in entries

    METHOD Cavity(int32 *all_members, BoundaryEdge *all_boundaries, Index records, int32 capacity, Index record)
        : members(all_members + record_start(record, capacity)),
          boundary(all_boundaries + record_start(record, capacity)), stride(uint32(record_stride(records))),
          capacity(capacity) {}

    METHOD int32 &member(int j) const { return members[Index(stride) * uint32(j)]; }
    METHOD BoundaryEdge &edge(int j) const { return boundary[Index(stride) * uint32(j)]; }
};

// The sizes of a grown cavity.
struct Extent {
    int32 members;
    int32 edges;
    int32 left_edges; // those left of a split subsegment (all of them if it has no right side)
};

// All cavities of a pass: record i belongs to candidate i; the subsegments come first.
KERNEL_STRUCT(Cavities) {
    const int32 *roots; // root of each cavity: a subsegment, or a triangle
    int64 capacity;     // entries per record
    int64 records;
    int32 *members;
    BoundaryEdge *boundaries;
    Extent *extents;
    Point *steiner;      // the point to be inserted
    uint8 *off_center;   // 1 if it is an off-center
    float64 *parameters; // its parameter on its input segment
    int32 *outcomes;
    uint64 *keys;        // priorities of the cavities of a step (owner.cuh)
    int32 *won;          // 1 if the point is inserted
    int32 *apexes;       // the vertex that a winner inserts, for its sub-warp tile
    int32 *fresh_places; // first place of its triangles in the list of new ones
    uint32 *shared;      // bit j: another winner shares boundary edge j; bit 31: some edge from number 31 on

    METHOD Cavity at(Index i) const { return Cavity(members, boundaries, records, int32(capacity), i); }
};

// Prefetching in a loop over cavities, some iterations ahead: the ends of a record, at which it is written as the
// cavity grows (few reach the middle), then the triangles that the cavity deletes, and the neighbours across its
// boundary.
INLINE void prefetch_record(const Cavities &cavities, Index i, Index end) {
    if (!PREFETCHES || i >= end)
        return;
    const Cavity cavity = cavities.at(i);
    prefetch(&cavity.member(0));
    prefetch(&cavity.edge(0));
    prefetch(&cavity.edge(cavity.capacity - 1));
}

// The same for a cavity that is read: few records are longer than these lines.
INLINE void prefetch_grown(const Cavities &cavities, Index i, Index end) {
    if (!PREFETCHES || i >= end)
        return;
    const Cavity cavity = cavities.at(i);
    prefetch(&cavities.extents[i]);
    prefetch(&cavity.member(0));
    prefetch(&cavity.edge(0));
    prefetch(&cavity.edge(8));
}

INLINE void prefetch_members(const Cavities &cavities, Index i, Index end, const Triangle *triangles) {
    if (!PREFETCHES || i >= end)
        return;
    const Cavity cavity = cavities.at(i);
    for (int j = 0; j < cavities.extents[i].members; ++j)
        prefetch(&triangles[cavity.member(j)]);
}

INLINE void prefetch_boundary(const Cavities &cavities, Index i, Index end, const Triangle *triangles) {
    if (!PREFETCHES || i >= end)
        return;
    const Cavity cavity = cavities.at(i);
    for (int j = 0; j < cavities.extents[i].edges; ++j)
        prefetch(&triangles[perhaps_across(cavity.edge(j).across)]);
}

// The members of a growing cavity, and its boundary. The edges still to be tested are a stack that shares the memory of
// the cavity boundary: the stack grows down from the end while the boundary grows up. Each edge on the stack yields at
// least one boundary edge, so the two meet only if the boundary itself would not fit. The boundary, followed by the
// stack from its top down, is one chain around the point: each edge starts where the previous one stops, so an edge on
// the stack is identified by the vertex where it stops.
class GrowingCavity {
  public:
    METHOD explicit GrowingCavity(const Cavity &cavity) : cavity_(cavity) {}

    METHOD Extent &extent() { return extent_; }
    METHOD bool overflowed() const { return overflow_; }
    METHOD bool pending() const { return pending_ > 0; }

    METHOD void add_member(int32 t) {
        if (extent_.members >= cavity_.capacity)
            overflow_ = true;
        else
            cavity_.member(extent_.members++) = t;
    }

    // Leaves room for the edge that is being tested, and for the entry that marks the end.
    METHOD void push(int32 to, int32 across) {
        if (extent_.edges + pending_ + 3 > cavity_.capacity)
            overflow_ = true;
        else
            waiting(++pending_) = {to, across};
    }

    METHOD BoundaryEdge pop() { return waiting(pending_--); }

    METHOD void add_edge(int32 from, int32 across) { cavity_.edge(extent_.edges++) = {from, across}; }

    // Marks the end of the cavity boundary: the vertex where its last edge stops.
    METHOD void finish(int32 last) { cavity_.edge(extent_.edges) = {last, NOTHING}; }

  private:
    // The k-th entry of the stack, counted from 1 at the bottom; its vertex is where the edge stops.
    METHOD BoundaryEdge &waiting(int k) const { return cavity_.edge(cavity_.capacity - k); }

    const Cavity &cavity_;
    Extent extent_ = {0, 0, 0};
    int pending_ = 0;
    bool overflow_ = false;
};

// Grows the cavity of a Steiner point step by step.
template <Arithmetic arithmetic> class Growth {
  public:
    METHOD Growth(const Cavity &cavity, const Triangle *triangles, const Point *points, Point p)
        : growing_(cavity), triangles_(triangles), points_(points), p_(p) {}

    // Starts at a triangle whose circumcircle contains p: all three edges are to be tested.
    METHOD void start_at(int32 root) {
        const Triangle t = without_owner(triangles_[root]);
        growing_.add_member(root);
        push(edge_to(t, 2), t.link[2]);
        push(edge_to(t, 1), t.link[1]);
        push(edge_to(t, 0), t.link[0]);
        from_ = edge_from(t, 0);
    }

    // Starts at a triangle whose edge e is the subsegment to be split.
    METHOD void start_behind(int32 root, int e) {
        const Triangle t = without_owner(triangles_[root]);
        growing_.add_member(root);
        push(edge_from(t, e), link_across(t, previous_corner(e)));
        push(corner(t, e), link_across(t, next_corner(e)));
        from_ = edge_to(t, e);
    }

    // Grows the cavity to the end. Calls `meet(subsegment, u, v)`, with u and v its ends, for each boundary edge that
    // is a subsegment; the sign of the result says whether the edge may stay. Every other boundary edge must have p
    // strictly on its left; otherwise the cavity is not star-shaped (rounding put p where the coordinates cannot tell
    // it from a vertex or an edge). Calls `pass(u, v, first)` for each edge added to the boundary.
    template <class Meet, class Pass> METHOD Outcome run(Meet meet, Pass pass) {
        if (growing_.overflowed()) // the boundary on a segment's first side left no room to start on the second
            return OVERFLOWED;
        Point u = points_[from_];
        while (growing_.pending()) {
            const BoundaryEdge top = growing_.pop();
            int32 to = top.vertex, across = top.across;
            Point v = points_[to];
            // Walks into the triangle across the edge as long as its circumcircle contains p. Of its two other edges,
            // the one that starts at u is tested next, and the other goes on the stack.
            while (across >= 0) {
                TriangleToRead outside = triangles_[across];
                const int at = edge_that_starts_at(outside, to);
                const int32 apex = corner(outside, at);
                const Point w = points_[apex];
                const int inside = incircle_with<arithmetic>(w, v, u, p_);
                if (inside == UNSURE)
                    return DEFERRED;
                if (inside <= 0)
                    break;
                growing_.add_member(across);
                push(to, link_across(outside, previous_corner(at)));
                to = apex;
                v = w;
                across = link_across(outside, next_corner(at));
                if (growing_.overflowed())
                    return OVERFLOWED;
            }
            const int free = across >= 0 ? orient2d_with<arithmetic>(u, v, p_) : meet(~across, u, v);
            if (free <= 0 || free == UNSURE)
                return free == UNSURE ? DEFERRED : PRECISION;
            pass(u, v, extent().edges == 0);
            growing_.add_edge(from_, across);
            from_ = to;
            u = v;
        }
        return UNDECIDED;
    }

    // The same; `clear` says in advance which subsegments `meet` lets pass, without effect (warp_growth.cuh).
    template <class Meet, class Pass, class Clear> METHOD Outcome run(Meet meet, Pass pass, Clear) {
        return run(meet, pass);
    }

    METHOD void finish() { growing_.finish(from_); }

    METHOD Extent &extent() { return growing_.extent(); }

  private:
    METHOD void push(int32 to, int32 across) {
        growing_.push(to, across);
        prefetch(&triangles_[perhaps_across(across)]);
    }

    GrowingCavity growing_;
    const Triangle *triangles_;
    const Point *points_;
    Point p_;
    int32 from_ = NOTHING; // start of the next boundary edge
};
