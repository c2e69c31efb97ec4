// The Manhattan collapse: the edges of several rows (the nodes of a batch or of a tile) in one loop.
//
// Position k is the k-th of all edges of the rows, one row after the other; the row of a position is found by a search
// in the rows' ends.
#pragma once

#include <type_traits>

#include "graph/engine/loop.cuh"
#include "graph/engine/reductions.cuh"

// The distribution of the loops.
enum Strategy : int64 { BASELINE, HIERARCHICAL, LOCAL, GLOBAL };

KERNEL_STRUCT(Collapse) {
    int64 strategy; // GLOBAL has separate kernels
    int64 coalesced;
    int64 shared_queue;
    int64 team_primitives;
};

// The nodes that a loop may visit: all, or those of the frontier's mask. This is known at compile time, because the
// pointer to a mask would cost registers.
struct WholeGraph {
    METHOD static bool has(const Frontier &, Index) { return true; }
};
struct Masked {
    METHOD static bool has(const Frontier &frontier, Index node) {
        return frontier.mask == nullptr || frontier.mask[node] != 0;
    }
};
template <class Body, class = void> struct ScopeOf {
    using Scope = Masked;
};
template <class Body> struct ScopeOf<Body, std::void_t<typename Body::Scope>> {
    using Scope = typename Body::Scope;
};

// Whether the edges of a node are followed; reads its state.
template <class Body> INLINE bool enters(const Body &body, Index u, typename Body::State &state, const Loop &loop) {
    return ScopeOf<Body>::Scope::has(loop.frontier, u) && body.enter(u, state, loop);
}

// Visits an edge; returns its value in the stored form.
template <class Body>
INLINE typename Body::Reduction::Value visit(const Body &body, Index u, typename Body::State state, Index edge,
                                             const Loop &loop) {
    if (!ScopeOf<Body>::Scope::has(loop.frontier, loop.graph.targets[edge]))
        return {};
    if constexpr (Body::Reduction::REDUCES) {
        return Body::Reduction::stored(body.edge(u, state, edge, loop));
    } else {
        body.edge(u, state, edge, loop);
        return {};
    }
}

// Ends the visit of a node whose edges have the stored value.
template <class Body>
INLINE void leaves([[maybe_unused]] const Body &body, [[maybe_unused]] Index u,
                   [[maybe_unused]] typename Body::State state, [[maybe_unused]] typename Body::Reduction::Value value,
                   [[maybe_unused]] const Loop &loop) {
    if constexpr (Body::Reduction::REDUCES)
        body.leave(u, state, Body::Reduction::result(value), loop);
}

// The first position in [low, high) of an ascending list whose value is above k, or `high`.
template <class Place, class Values> INLINE Place first_above(const Values &values, Place low, Place high, Index k) {
    while (low < high) {
        const Place middle = low + (high - low) / 2;
        if (values[middle] > k)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Visits the edges at some positions; returns the number that this member examined. `rows` has
//
//     first, last                          the rows that contain the positions; of 32 bits, which a GPU adds faster
//     end(row)                             the position after its last edge
//     enter(body, loop, row, u, state)     its node; false if its edges are skipped
//     edge(loop, row, u, k)                the edge at position k
//     value(row)                           where the values of its edges are combined, by several members or teams
template <class Body, class Rows>
INLINE Index follow_rows(const Body &body, const Loop &loop, const Rows &rows, Piece positions, const Collapse &how) {
    using Reduction = typename Body::Reduction;
    constexpr bool REDUCES = Reduction::REDUCES;
    const bool runs = Team::shares_are_runs(how.coalesced);        // this member's positions are consecutive
    const bool together = REDUCES && !runs && how.team_primitives; // then all lanes stay until the last one ends
    const Index count = positions.end - positions.begin;
    Index examined = 0, u = 0;
    int32 row = -1;
    bool entered = false;
    typename Body::State state = {};
    typename Reduction::Value value = {};
    for (const Index i : Team::share_edges(together ? (count + WARP - 1) / WARP * WARP : count, how.coalesced)) {
        const Index k = positions.begin + i;
        const bool here = i < count;
        if (here) {
            int32 next = row;
            if (runs && row >= 0)
                while (rows.end(next) <= k)
                    ++next;
            else
                next = first_above(rows, rows.first, rows.last, k);
            if (REDUCES && runs && row >= 0 && next != row) {
                Reduction::into(rows.value(row), value);
                value = {};
            }
            if (!ONE_MEMBER || next != row) // on a GPU, keeping the state would cost registers
                entered = rows.enter(body, loop, next, u, state);
            row = next;
        }
        typename Reduction::Value one = {};
        if (here && entered) {
            one = visit(body, u, state, rows.edge(loop, row, u, k), loop);
            ++examined;
        }
        if constexpr (REDUCES) {
            if (runs)
                value = Reduction::combine(value, one);
            else if (together ? combine_runs(here ? row : -1, one, Reduction::combine) && here && entered
                              : here && entered)
                Reduction::into(rows.value(row), one);
        }
    }
    if (REDUCES && runs && row >= 0)
        Reduction::into(rows.value(row), value);
    return examined;
}
