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

// The interface of Growth, whose functions all lanes of a warp call together.
class WarpGrowth {
    using Lanes = VirtualWarp<WARP>;

  public:
    METHOD WarpGrowth(const Cavity &cavity, const Triangle *triangles, const Point *points, Point p)
        : cavity_(cavity), triangles_(triangles), points_(points), p_(p) {}

    METHOD void start_at(int32 root) {
        const Triangle t = without_owner(triangles_[root]);
        Lanes::barrier(); // all have read the cavity around an earlier point
        if (Lanes::leads()) {
            cavity_.member(0) = root;
            waiting(1) = {edge_to(t, 2), t.link[2]};
            waiting(2) = {edge_to(t, 1), t.link[1]};
            waiting(3) = {edge_to(t, 0), t.link[0]};
        }
        extent_.members = 1;
        pending_ = 3;
        from_ = edge_from(t, 0);
    }

    // `clear` tells, without effect, of a subsegment that `meet` would let pass without effect.
    template <class Meet, class Pass, class Clear> METHOD Outcome run(Meet meet, Pass pass, Clear clear) {
        const Outcome outcome = walk();
        Lanes::barrier();
        if (!may_stay(meet, clear))
            return PRECISION;
        if (outcome == UNDECIDED) {
            Point u = points_[start_of(0)];
            for (int j = 0; j < extent_.edges; ++j) {
                const Point v = points_[start_of(j + 1)];
                pass(u, v, j == 0);
                u = v;
            }
        }
        return outcome;
    }

    METHOD void finish() {
        if (Lanes::leads())
            cavity_.edge(extent_.edges) = {from_, NOTHING};
        Lanes::barrier();
    }

    METHOD const Extent &extent() const { return extent_; }

  private:
    // Finds the members, and the boundary.
    METHOD Outcome walk() {
        int reach = 1; // steps to guess: more as long as the guesses are right
        while (pending_ > 0) {
            BoundaryEdge edge = pop();
            while (edge.across >= 0) {
                const Guess guess = look_ahead(edge, reach);
                const int entered = guess.entered();
                const bool fits = enter(guess, entered, &edge);
                if (!fits)
                    return OVERFLOWED;
                reach = entered < guess.steps ? entered + 1 : lesser(2 * reach, Lanes::MEMBERS);
                if (entered < guess.steps)
                    break;
            }
            if (Lanes::leads())
                cavity_.edge(extent_.edges) = {from_, edge.across};
            ++extent_.edges;
            from_ = edge.vertex;
        }
        return UNDECIDED;
    }

    // The next steps of the walk, guessed: it enters each triangle that it comes to. Then it crosses that triangle's
    // first edge, or the second one if the first is a subsegment, and if both are, its steps are not known. Each lane
    // has one step: the edge, the triangle across, and of that its third corner and its links in the order of the walk.
    struct Guess {
        int steps;
        uint32 inside;  // bit k: the point lies in the circle of the triangle of step k
        uint32 crosses; // bit k: its first edge is not a subsegment
        int32 from, to, across, apex, next, previous;

        // The number of triangles that the walk enters, of those that were guessed.
        METHOD int entered() const {
            const uint32 outside = ~inside & (steps < 32 ? (1u << steps) - 1u : ~0u);
            return outside == 0 ? steps : trailing_zeros(outside);
        }
    };

    METHOD Guess look_ahead(BoundaryEdge edge, int reach) const {
        Guess guess = {0, 0, 0, from_, edge.vertex, edge.across, from_, NOTHING, NOTHING};
        int32 from = from_, to = edge.vertex, across = edge.across;
        for (; guess.steps < reach && across >= 0; ++guess.steps) {
            TriangleToRead outside = triangles_[across];
            const int at = edge_that_starts_at(outside, to);
            const int32 apex = corner(outside, at), next = link_across(outside, next_corner(at)),
                        previous = link_across(outside, previous_corner(at));
            if (Lanes::lane() == guess.steps)
                guess = {guess.steps, 0, 0, from, to, across, apex, next, previous};
            from = next >= 0 ? from : apex;
            to = next >= 0 ? apex : to;
            across = next >= 0 ? next : previous;
        }
        const bool own = Lanes::lane() < guess.steps;
        guess.inside =
            Lanes::ballot(own && incircle(points_[guess.apex], points_[guess.to], points_[guess.from], p_) > 0);
        guess.crosses = Lanes::ballot(own && guess.next >= 0);
        return guess;
    }

    // Enters the first triangles that were guessed: of each, the first edge is on the boundary, or the second one goes
    // on the stack. Sets `edge` to the one that comes next. Returns false once the record has no capacity: an entry of
    // a step needs as much room as GrowingCavity leaves, and all entries so far are either boundary or stack.
    METHOD bool enter(const Guess &guess, int entered, BoundaryEdge *edge) {
        const int room = lesser(cavity_.capacity - extent_.members, cavity_.capacity - 2 - extent_.edges - pending_);
        const bool fits = entered <= room;
        const int count = fits ? entered : greater(room, 0), lane = Lanes::lane();
        const uint32 before = (1u << lane) - 1u, of_all = count < 32 ? (1u << count) - 1u : ~0u;
        if (lane < count) {
            cavity_.member(extent_.members + lane) = guess.across;
            if (guess.next >= 0)
                waiting(pending_ + 1 + bits_in(guess.crosses & before)) = {guess.to, guess.previous};
            else
                cavity_.edge(extent_.edges + bits_in(~guess.crosses & before)) = {guess.from, guess.next};
        }
        extent_.members += count;
        extent_.edges += bits_in(~guess.crosses & of_all);
        const int pushed = bits_in(guess.crosses & of_all);
        pending_ += pushed;
        held_ = pushed > 0 ? 0 : held_;
        if (count < guess.steps) { // the next edge was guessed
            from_ = Lanes::from_lane(guess.from, count);
            *edge = {Lanes::from_lane(guess.to, count), Lanes::from_lane(guess.across, count)};
        } else {
            const bool crosses = guess.next >= 0;
            const int32 from = crosses ? guess.from : guess.apex, to = crosses ? guess.apex : guess.to;
            from_ = Lanes::from_lane(from, count - 1);
            *edge = {Lanes::from_lane(to, count - 1),
                     Lanes::from_lane(crosses ? guess.next : guess.previous, count - 1)};
        }
        return fits;
    }

    // Whether all edges of the boundary may stay. Up to the first that may not, `meet` is called for the subsegments
    // that are not clear.
    template <class Meet, class Clear> METHOD bool may_stay(Meet meet, Clear clear) {
        const int edges = extent_.edges;
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

    // The edge on top of the stack. Subsegments on top of it become boundary edges together.
    METHOD BoundaryEdge pop() {
        for (;;) {
            if (held_ == 0) {
                Lanes::barrier(); // the stack has been written
                held_ = lesser(pending_, Lanes::MEMBERS);
                if (Lanes::lane() < held_)
                    kept_ = waiting(pending_ - Lanes::lane());
                first_ = 0;
            }
            const int own = Lanes::lane() - first_;
            const uint32 crossed = Lanes::ballot(own >= 0 && own < held_ && kept_.across >= 0) >> first_;
            const int walls = lesser(crossed == 0 ? held_ : trailing_zeros(crossed), pending_ - 1);
            const int32 below = Lanes::from_lane(kept_.vertex, greater(Lanes::lane() - 1, 0));
            if (own >= 0 && own < walls)
                cavity_.edge(extent_.edges + own) = {own > 0 ? below : from_, kept_.across};
            extent_.edges += walls;
            pending_ -= walls;
            held_ -= walls;
            from_ = walls > 0 ? Lanes::from_lane(kept_.vertex, first_ + walls - 1) : from_;
            first_ += walls;
            if (held_ > 0) {
                const BoundaryEdge top = {Lanes::from_lane(kept_.vertex, first_),
                                          Lanes::from_lane(kept_.across, first_)};
                --pending_, --held_, ++first_;
                return top;
            }
        }
    }

    METHOD int32 start_of(int j) const { return j < extent_.edges ? cavity_.edge(j).vertex : from_; }

    // The k-th entry of the stack, counted from 1 at the bottom, as in GrowingCavity.
    METHOD BoundaryEdge &waiting(int k) const { return cavity_.edge(cavity_.capacity - k); }

    const Cavity &cavity_;
    const Triangle *triangles_;
    const Point *points_;
    Point p_;
    Extent extent_ = {0, 0, 0};
    int pending_ = 0;      // entries of the stack
    int32 from_ = NOTHING; // start of the next boundary edge
    // The topmost entries, `held_` of them, from lane `first_` on.
    BoundaryEdge kept_ = {NOTHING, NOTHING};
    int held_ = 0, first_ = 0;
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

// Grows and claims the cavities of a pass, each by a warp of the grid; those of subsegments, of which few are large, by
// one lane.
INLINE void grow_by_warps(const Grid &grid, const Mesh &mesh, const Limits &limits, const Cavities &cavities,
                          Index count, Index segments, uint32 epoch) {
    using Lanes = VirtualWarp<WARP>;
    for (const Index i : grid.warps(count)) {
        if (i >= segments) {
            const Outcome outcome = grow_triangle_candidate<EXACT, WarpGrowth>(mesh, limits, cavities, i);
            claim_by_warp(mesh, cavities, i, segments, epoch, outcome);
        } else if (Lanes::leads()) {
            claim_cavity(mesh, cavities, i, segments, epoch, grow_segment_candidate(mesh, limits, cavities, i, false));
        }
        Lanes::barrier();
    }
}
