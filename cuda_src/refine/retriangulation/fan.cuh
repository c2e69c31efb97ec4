// The fan of triangles around a winner's new point.
#pragma once

#include "mesh/mesh.cuh"
#include "refine/retriangulation/needs.cuh"

// Makes `slot` the triangle on the side of a subsegment where its edge starts at `from`.
INLINE void set_side(Subsegment *subsegments, int32 subsegment, int32 from, int32 slot) {
    if (subsegments[subsegment].from == from)
        subsegments[subsegment].left = slot;
    else
        subsegments[subsegment].right = slot;
}

// The fan that replaces a winner's cavity. The triangle at boundary edge j is (p, u, v); its edges are 0: u to v, 1: v
// to p, 2: p to u.
//
// Split subsegments: s = (from, to) becomes (from, p) under its old number and (p, to) under a new one. The two sides
// of each are the spokes of the fan at the ends of the boundary chains.
struct Fan {
    Cavity cavity;
    Extent extent;
    int32 apex;              // the new vertex p
    int32 listed;            // first place of its triangles in the list of new ones
    int32 split, split_rest; // (from, p) and (p, to); NOTHING if no subsegment is split
    bool inner;              // whether the subsegment has triangles on both sides
};

// The fan of winner i. Subsegments are the first candidates, so winner i's new subsegment has the same rank among the
// new subsegments as its new vertex has among the new vertices.
INLINE Fan fan_of(const Mesh &mesh, const Cavities &cavities, Index i, Index segments, const Sizes &sizes, int32 apex,
                  int32 listed) {
    const int32 split = i < segments ? cavities.roots[i] : NOTHING;
    const int32 rest = i < segments ? sizes.subsegments + (apex - sizes.vertices) : NOTHING;
    const bool inner = split != NOTHING && mesh.subsegments[split].right != NOTHING;
    return {cavities.at(i), cavities.extents[i], apex, listed, split, rest, inner};
}

INLINE Fan fan_at(const Mesh &mesh, const Cavities &cavities, Index i, Index segments, const Sizes &sizes,
                  const Sums<NEEDS> &place) {
    return fan_of(mesh, cavities, i, segments, sizes, sizes.vertices + place.of[NEW_VERTEX], place.of[NEW_TRIANGLES]);
}

// Inserts the point and cuts the subsegment that it lies on, if any. The new triangles set the sides of both halves.
// Their slots are those of the members and, from `claimed` on, new ones.
INLINE void begin_fan(const Mesh &mesh, const Cavities &cavities, Index i, const Fan &fan, int32 claimed) {
    const int32 p = fan.apex, split = fan.split, rest = fan.split_rest;
    add_slots(fan.cavity, fan.extent, claimed);
    cavities.outcomes[i] = INSERTED;
    mesh.points[p] = cavities.steiner[i];
    if (split == NOTHING) {
        mesh.vertex_origin[p] = FREE_VERTEX;
        mesh.vertex_parameter[p] = 0.0;
        return;
    }
    Subsegment &s = mesh.subsegments[split];
    mesh.subsegments[rest] = {p, s.to, NOTHING, NOTHING};
    mesh.subsegment_origin[rest] = mesh.subsegment_origin[split];
    s.to = p;
    mesh.split_states[split] = mesh.split_states[rest] = NO_REQUEST;
    mesh.vertex_origin[p] = mesh.subsegment_origin[split];
    mesh.vertex_parameter[p] = cavities.parameters[i];
}

// The same if a sub-warp tile makes the triangles: also stores what the tile needs.
INLINE void enter_fan(const Mesh &mesh, const Cavities &cavities, Index i, Index segments, const Sizes &sizes,
                      const Sums<NEEDS> &place) {
    begin_fan(mesh, cavities, i, fan_at(mesh, cavities, i, segments, sizes, place),
              sizes.slots + place.of[EXTRA_SLOTS]);
    cavities.apexes[i] = sizes.vertices + place.of[NEW_VERTEX];
    cavities.fresh_places[i] = place.of[NEW_TRIANGLES];
    cavities.shared[i] = 0;
}

// The place of the edge from v to u in a cavity boundary, or `edges` if it is not there. A GPU looks at several places
// while it waits for one.
INLINE int place_of_edge(const Cavity &cavity, int edges, int32 v, int32 u) {
    for (int k = 0; k < edges; k += SIDE_BY_SIDE) {
        int32 corners[SIDE_BY_SIDE + 1];
        for (int n = 0; n <= SIDE_BY_SIDE; ++n)
            corners[n] = k + n <= edges ? cavity.edge(k + n).vertex : NOTHING;
        for (int n = 0; n < SIDE_BY_SIDE; ++n)
            if (k + n < edges && corners[n] == v && corners[n + 1] == u)
                return k + n;
    }
    return edges;
}

// Links the triangle in `slot`, at the edge (u, v) of a winner, with that of another winner which is inserted already.
INLINE void link_with_inserted(const Mesh &mesh, const Cavities &cavities, int32 slot, int32 u, int32 v, int32 other) {
    const Cavity across = cavities.at(other);
    const Extent its = cavities.extents[other];
    const int32 its_slot = across.member(place_of_edge(across, its.edges, v, u));
    mesh.triangles[slot].link[0] = its_slot;
    mesh.triangles[its_slot].link[0] = slot;
}

// Makes the triangle at boundary edge j. Returns whether another winner shares that edge, and link_cavity has to make
// the link later: the triangle across may be rebuilt at the same time. Of two winners among those that this thread
// inserts one after the other, `own`, the second one makes the link at once.
INLINE bool make_fan_triangle(const Mesh &mesh, const Cavities &cavities, Index i, const Fan &fan, int j, Piece own,
                              uint32 epoch, int32 *fresh) {
    const Cavity &cavity = fan.cavity;
    const BoundaryEdge edge = cavity.edge(j);
    const int32 u = edge.vertex, v = cavity.edge(j + 1).vertex, across = edge.across;
    const int32 slot = cavity.member(j);
    int32 after = cavity.member(j + 1), before = cavity.member((j == 0 ? fan.extent.edges : j) - 1);
    if (fan.split != NOTHING) {
        Subsegment *const subsegments = mesh.subsegments;
        const int32 split = fan.split, split_rest = fan.split_rest, left_edges = fan.extent.left_edges;
        const bool first_left = j == 0, last_left = j == left_edges - 1;
        const bool first_right = fan.inner && j == left_edges, last_right = fan.inner && j == fan.extent.edges - 1;
        if (last_left || last_right)
            after = ~(last_left ? split : split_rest);
        if (first_left || first_right)
            before = ~(first_left ? split_rest : split);
        if (last_left)
            subsegments[split].left = slot;
        if (first_left)
            subsegments[split_rest].left = slot;
        if (first_right)
            subsegments[split].right = slot;
        if (last_right)
            subsegments[split_rest].right = slot;
    }
    store_record(&mesh.triangles[slot],
                 Triangle{{fan.apex, u, v}, {across, after, before}, rebuilt_mark(cavities.keys[i])});
    fresh[fan.listed + j] = slot;
    if (across < 0) {
        set_side(mesh.subsegments, ~across, u, slot);
        return false;
    }
    const int32 other = owner_of(mesh.triangles, across, epoch);
    if (other != NOTHING && other != i && cavities.won[other]) {
        if (other < own.begin || other >= own.end)
            return true;
        if (cavities.outcomes[other] == INSERTED)
            link_with_inserted(mesh, cavities, slot, u, v, other);
        return false;
    }
    Triangle &outside = mesh.triangles[across];
    outside.link[edge_that_starts_at(outside, v)] = slot;
    return false;
}

// Prefetches what the fan that replaces a cavity reads and writes, and its check: in two loops, as a CPU guesses wrong
// at the end of each.
INLINE void prefetch_replaced(const Mesh &mesh, const Cavities &cavities, Index i, Index end) {
    if (!PREFETCHES || i >= end)
        return;
    const Cavity cavity = cavities.at(i);
    const Extent extent = cavities.extents[i];
    for (int j = 0; j < extent.members; ++j) {
        prefetch(&mesh.triangles[cavity.member(j)]);
        prefetch(&mesh.quality[cavity.member(j)]);
    }
    for (int j = 0; j < extent.edges; ++j) {
        prefetch(&mesh.points[cavity.edge(j).vertex]);
        prefetch(&mesh.triangles[perhaps_across(cavity.edge(j).across)]);
    }
}

// The bit by which a cavity records a shared boundary edge.
INLINE uint32 shared_bit(int j) { return 1u << (j < 31 ? j : 31); }

// Retriangulates a winner's cavity with one member.
INLINE void retriangulate_cavity(const Mesh &mesh, const Cavities &cavities, Index i, Index segments, Piece own,
                                 uint32 epoch, const Sizes &sizes, const Sums<NEEDS> &place, int32 *fresh) {
    const Fan fan = fan_at(mesh, cavities, i, segments, sizes, place);
    begin_fan(mesh, cavities, i, fan, sizes.slots + place.of[EXTRA_SLOTS]);
    uint32 shared = 0;
    for (int j = 0; j < fan.extent.edges; ++j)
        if (make_fan_triangle(mesh, cavities, i, fan, j, own, epoch, fresh))
            shared |= shared_bit(j);
    cavities.shared[i] = shared;
}
