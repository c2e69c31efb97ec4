// Which points of a round are inserted, and their fans.
#pragma once

#include "refine/marking/check_ownership.cuh"
#include "refine/retriangulation/needs.cuh"
#include "triangulate/cavity.cuh"

// Whether the points of cavity i and of the owner of the triangle across its j-th edge can both be inserted: the new
// triangle at that edge must not contain the other point in its circumcircle. If arithmetic is unsure, or the edge is a
// ghost's, they cannot.
INLINE bool commute(const Plane &plane, const Cavities &cavities, Index i, const Cavity &cavity, int j, int32 other) {
    const int32 u = cavity.edge(j).vertex, v = cavity.edge(j + 1).vertex;
    if (u == GHOST || v == GHOST)
        return false;
    const Point p = plane.points[cavities.roots[i]], q = plane.points[cavities.roots[other]];
    return incircle_by_filter(plane.points[u], plane.points[v], p, q) < 0;
}

// Whether the point of cavity i is inserted: the cavity owns its triangles, and its point commutes with those of owners
// of higher priority beside it, whether these proceed or not.
INLINE bool proceeds(const Plane &plane, const Cavities &cavities, Index i, uint32 epoch) {
    if (cavities.outcomes[i] != OWNER)
        return false;
    const Cavity cavity = cavities.at(i);
    for (int j = 0; j < cavities.extents[i].edges; ++j) {
        const uint64 key = plane.triangles[cavity.edge(j).across].owner;
        if (key > cavities.keys[i] && epoch_of(key) == epoch && cavities.outcomes[cavity_of(key)] == OWNER &&
            !commute(plane, cavities, i, cavity, j, cavity_of(key)))
            return false;
    }
    return true;
}

// Outcomes of a round's candidates: inserted, to be tried again, to be tried again with larger records.
enum Fate { WINS, LOSES, OVERFLOWS, FATES };

INLINE Sums<FATES> fate_of(const Cavities &cavities, Index i) {
    const int32 outcome = cavities.outcomes[i], won = cavities.won[i];
    return {{won, !won && (outcome == LOST || outcome == OWNER), outcome == OVERFLOWED}};
}

// Inserts the point of cavity i: a fan replaces its triangles. `claimed` is the first of its two additional slots. The
// triangle at boundary edge j is (p, u, v), with edges 0: u to v, 1: v to p, 2: p to u.
INLINE void insert_point(const Plane &plane, const Cavities &cavities, Index i, uint32 epoch, int32 claimed) {
    const Cavity cavity = cavities.at(i);
    const Extent extent = cavities.extents[i];
    const int32 p = cavities.roots[i];
    uint32 shared = 0;
    add_slots(cavity, extent, claimed);
    int32 before = cavity.member(extent.edges - 1), slot = cavity.member(0);
    note_slot(plane, p, slot);
    for (int j = 0; j < extent.edges; ++j) {
        const BoundaryEdge edge = cavity.edge(j);
        const int32 v = cavity.edge(j + 1).vertex;
        const int32 after = cavity.member(j + 1);
        store_record(&plane.triangles[slot],
                     Triangle{{p, edge.vertex, v}, {edge.across, after, before}, cavities.keys[i]});
        if (edge.vertex != GHOST) // its triangle may have been one of the cavity's
            racing_store(&plane.slots[edge.vertex], slot);
        const int32 other = owner_of(plane.triangles, edge.across, epoch);
        if (other != NOTHING && cavities.won[other]) { // link_points links them
            shared |= 1u << (j < 31 ? j : 31);
        } else {
            Triangle &outside = plane.triangles[edge.across];
            outside.link[edge_that_starts_at(outside, v)] = slot;
        }
        before = slot;
        slot = after;
    }
    cavities.shared[i] = shared;
}
