// Grows a large cavity by all lanes of a warp.
//
// The walk of Growth (cavity.cuh) is one chain of dependent loads: each triangle names the next one. A cavity of
// thousands of triangles, as in a strip between two walls, takes a single thread of a GPU milliseconds. Here the lanes
// walk together, look ahead along the links, test the triangles ahead at once, and check the cavity boundary at the
// end. Whatever they do at once, the members and the boundary have the order that Growth gives them, and the outcome is
// the same: it depends only on the first boundary edge, in this order, that may not stay, and on whether it precedes
// the entry that the record has no capacity for.
#pragma once

#include "refine/cavity/claim.cuh"
#include "refine/cavity/growth.cuh"

// The next steps of a walk, guessed: it enters each triangle that it comes to. Then it crosses that triangle's first
// edge, or the second one if the first is a subsegment, and if both are, its steps are not known. Lane k has step k.
class StepsAhead {
    using Lanes = VirtualWarp<WARP>;

  public:
    // Whether the walk enters the triangle across an edge, and if so, the triangle's third corner and its links in the
    // order of the walk. Called for each step, in turn.
    METHOD bool enter(const Triangle *triangles, const Point *points, Point p, int32 from, int32 to, int32 across,
                      int32 *apex, int32 *next, int32 *previous) {
        if (step_ == steps_)
            look(triangles, points, p, from, to, across);
        const int step = step_++;
        if ((inside_ >> step & 1u) == 0) { // the steps behind it were guessed wrong
            reach_ = step_;
            steps_ = step_;
            return false;
        }
        *apex = Lanes::from_lane(apex_, step);
        *next = Lanes::from_lane(next_, step);
        *previous = Lanes::from_lane(previous_, step);
        if (step_ == steps_)
            reach_ = lesser(2 * reach_, Lanes::MEMBERS);
        return true;
    }

  private:
    METHOD void look(const Triangle *triangles, const Point *points, Point p, int32 from, int32 to, int32 across) {
        int32 own_from = from, own_to = to;
        apex_ = to;
        for (steps_ = step_ = 0; steps_ < reach_ && across >= 0; ++steps_) {
            TriangleToRead outside = triangles[across];
            const int at = edge_that_starts_at(outside, to);
            const int32 apex = corner(outside, at), next = link_across(outside, next_corner(at)),
                        previous = link_across(outside, previous_corner(at));
            if (Lanes::lane() == steps_) {
                apex_ = apex, next_ = next, previous_ = previous;
                own_from = from, own_to = to;
            }
            to = next >= 0 ? apex : to;
            from = next >= 0 ? from : apex;
            across = next >= 0 ? next : previous;
        }
        inside_ = Lanes::ballot(Lanes::lane() < steps_ &&
                                incircle(points[apex_], points[own_to], points[own_from], p) > 0);
    }

    int step_ = 0, steps_ = 0; // the next step, and the number of guessed ones
    int reach_ = 1;            // steps to guess: more as long as the guesses are right
    uint32 inside_ = 0;        // bit k: p lies in the circle of the triangle of step k
    int32 apex_ = NOTHING, next_ = NOTHING, previous_ = NOTHING;
};

// The interface of Growth, whose functions all lanes of a warp call together. What they write, all of them write.
class WarpGrowth {
    using Lanes = VirtualWarp<WARP>;

  public:
    METHOD WarpGrowth(const Cavity &cavity, const Triangle *triangles, const Point *points, Point p)
        : cavity_(cavity), growing_(cavity), triangles_(triangles), points_(points), p_(p) {}

    METHOD void start_at(int32 root) {
        Lanes::barrier(); // all have read the cavity around an earlier point
        const Triangle t = without_owner(triangles_[root]);
        growing_.add_member(root);
        push(edge_to(t, 2), t.link[2]);
        push(edge_to(t, 1), t.link[1]);
        push(edge_to(t, 0), t.link[0]);
        from_ = edge_from(t, 0);
    }

    // `clear` tells, without effect, of a subsegment that `meet` would let pass without effect.
    template <class Meet, class Pass, class Clear> METHOD Outcome run(Meet meet, Pass pass, Clear clear) {
        const Outcome outcome = walk();
        if (!may_stay(meet, clear))
            return PRECISION;
        if (outcome == UNDECIDED) {
            Point u = points_[start_of(0)];
            for (int j = 0; j < extent().edges; ++j) {
                const Point v = points_[start_of(j + 1)];
                pass(u, v, j == 0);
                u = v;
            }
        }
        return outcome;
    }

    METHOD void finish() { growing_.finish(from_); }

    METHOD Extent &extent() { return growing_.extent(); }

  private:
    // Finds the members, and the boundary.
    METHOD Outcome walk() {
        StepsAhead ahead;
        while (growing_.pending()) {
            const BoundaryEdge top = pop();
            int32 to = top.vertex, across = top.across, apex, next, previous;
            while (across >= 0 &&
                   ahead.enter(triangles_, points_, p_, from_, to, across, &apex, &next, &previous)) {
                growing_.add_member(across);
                push(to, previous);
                to = apex;
                across = next;
                if (growing_.overflowed())
                    return OVERFLOWED;
            }
            growing_.add_edge(from_, across);
            from_ = to;
        }
        return UNDECIDED;
    }

    // Whether all edges of the boundary may stay. Up to the first that may not, `meet` is called for the subsegments
    // that are not clear.
    template <class Meet, class Clear> METHOD bool may_stay(Meet meet, Clear clear) {
        const int edges = extent().edges;
        for (int first = 0; first < edges; first += Lanes::MEMBERS) {
            const int own = first + Lanes::lane();
            bool stays = true;
            if (own < edges) {
                const Point u = points_[start_of(own)], v = points_[start_of(own + 1)];
                const int32 across = cavity_.edge(own).across;
                stays = across >= 0 ? orient2d(u, v, p_) > 0 : clear(~across, u, v);
            }
            for (uint32 others = Lanes::ballot(!stays); others != 0; others &= others - 1) {
                const int j = first + trailing_zeros(others);
                const int32 across = cavity_.edge(j).across;
                if (across >= 0 || meet(~across, points_[start_of(j)], points_[start_of(j + 1)]) <= 0)
                    return false;
            }
        }
        return true;
    }

    METHOD int32 start_of(int j) { return j < extent().edges ? cavity_.edge(j).vertex : from_; }

    // The stack's top entries, above `below_`, are also in the lanes: entry k in lane k, modulo their number.
    METHOD void push(int32 to, int32 across) {
        growing_.push(to, across);
        const int top = growing_.pending_edges();
        if (top % Lanes::MEMBERS == Lanes::lane())
            kept_ = {to, across};
        below_ = greater(below_, top - Lanes::MEMBERS);
    }

    METHOD BoundaryEdge pop() {
        const int top = growing_.pending_edges();
        growing_.drop();
        if (top <= below_) {
            below_ = greater(top - Lanes::MEMBERS, 0);
            const int own = top - (top - Lanes::lane() + Lanes::MEMBERS) % Lanes::MEMBERS;
            if (own > below_)
                kept_ = growing_.pending_edge(own);
        }
        const int lane = top % Lanes::MEMBERS;
        return {Lanes::from_lane(kept_.vertex, lane), Lanes::from_lane(kept_.across, lane)};
    }

    const Cavity &cavity_;
    GrowingCavity growing_;
    const Triangle *triangles_;
    const Point *points_;
    Point p_;
    int32 from_ = NOTHING; // start of the next boundary edge
    int below_ = 0;
    BoundaryEdge kept_ = {NOTHING, NOTHING};
};

// Claims what the cavity of a triangle would delete (claim.cuh).
INLINE void claim_by_warp(const Mesh &mesh, const Cavities &cavities, Index i, Index segments, uint32 epoch,
                          Outcome outcome) {
    const uint64 key = key_of(mesh, cavities, i, segments, epoch);
    cavities.keys[i] = key;
    const Cavity cavity = cavities.at(i);
    for (const Index j : VirtualWarp<WARP>::share(0, outcome == UNDECIDED ? cavities.extents[i].members : 0))
        atomic_max(&mesh.triangles[cavity.member(int(j))].owner, key);
}

// Grows and claims the cavities of a pass, each by a warp of the team; those of subsegments, of which few are large, by
// one lane.
INLINE void grow_by_warps(const Mesh &mesh, const Limits &limits, const Cavities &cavities, Index count, Index segments,
                          uint32 epoch) {
    using Lanes = VirtualWarp<WARP>;
    for (const Index i : Lanes::tasks<TEAM_SIZE>(0, count)) {
        if (i >= segments) {
            const Outcome outcome = grow_triangle_candidate<EXACT, WarpGrowth>(mesh, limits, cavities, i);
            claim_by_warp(mesh, cavities, i, segments, epoch, outcome);
        } else if (Lanes::leads()) {
            claim_cavity(mesh, cavities, i, segments, epoch, grow_segment_candidate(mesh, limits, cavities, i, false));
        }
        Lanes::barrier();
    }
}
