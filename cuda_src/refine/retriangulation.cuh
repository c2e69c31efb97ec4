// Retriangulation: replaces the winners' cavities by fans around their new points.
//
// The k slots of a cavity are reused. The one or two more that a fan needs are numbered by prefix sums over the winners
// in their order. The arrays therefore never hold garbage, and the place of each triangle does not depend on thread
// timing.
#pragma once

#include "mesh/mesh.cuh"

// The winners' needs: vertices, slots beyond those of their members, places in the list of new triangles, subsegments.
// Prefix sums of them give the first of each that a winner gets.
enum Need { NEW_VERTEX, EXTRA_SLOTS, NEW_TRIANGLES, NEW_SUBSEGMENT, NEEDS };

INLINE Sums<NEEDS> needs_of(const Cavities &cavities, Index i, Index segments, bool won) {
    const Extent extent = cavities.extents[i];
    return won ? Sums<NEEDS>{{1, extent.edges - extent.members, extent.edges, i < segments}} : Sums<NEEDS>{};
}

// Stores what a team found in its piece of the cavities, for the other teams.
INLINE void enter_needs(Index team, const Sums<NEEDS> &found, int32 *needs) {
    FOR_LEADER
        for (int need = 0; need < NEEDS; ++need)
            needs[team * NEEDS + need] = found.of[need];
}

// The sizes of a mesh before a step.
struct Sizes {
    int32 vertices, slots, subsegments;
};

// The slot of the j-th triangle of a fan: the cavity's slots first, then the additional ones claimed for it.
INLINE int32 fan_slot(const Cavity &cavity, const Extent &extent, int32 claimed, int j) {
    return j < extent.members ? cavity.member(j) : claimed + (j - extent.members);
}

// Makes `slot` the triangle on the side of a subsegment where its edge starts at `from`.
INLINE void set_side(Subsegment *subsegments, int32 subsegment, int32 from, int32 slot) {
    if (subsegments[subsegment].from == from)
        subsegments[subsegment].left = slot;
    else
        subsegments[subsegment].right = slot;
}

// ---- Data that triangles and vertices carry -----------------------------------------------------------------------

// Passes on input ancestors: the new triangle at each boundary edge gets that of the member which had the edge.
OUTLINE void pass_ancestors_on(const Triangle *triangles, int32 *ancestor, const Cavity cavity, const Extent extent,
                               int32 claimed, int32 *inherited) {
    for (int j = 0; j < extent.edges; ++j) {
        const int32 u = cavity.edge(j).vertex, v = cavity.edge(j + 1).vertex;
        for (int k = 0; k < extent.members; ++k) {
            const Triangle &t = triangles[cavity.member(k)];
            const int e = edge_that_starts_at(t, u);
            if (edge_from(t, e) == u && edge_to(t, e) == v)
                inherited[j] = ancestor[cavity.member(k)];
        }
    }
    for (int j = 0; j < extent.edges; ++j)
        ancestor[fan_slot(cavity, extent, claimed, j)] = inherited[j];
}

// Computes the vertex attributes of a new point by interpolation in the member that contains it: the first member with
// p on the outer side of none of its edges (on a split subsegment, up to rounding, the member beside it).
OUTLINE void interpolate_attributes(const Triangle *triangles, const Point *points, const Cavity cavity,
                                    const Extent extent, Point p, Index width, const float64 *attributes, float64 *made) {
    int32 holder = cavity.member(0);
    for (int k = 0; k < extent.members; ++k) {
        const Triangle &t = triangles[cavity.member(k)];
        const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
        if (orient2d(a, b, p) >= 0 && orient2d(b, c, p) >= 0 && orient2d(c, a, p) >= 0) {
            holder = cavity.member(k);
            break;
        }
    }
    const Triangle &t = triangles[holder];
    const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
    // The weights come from the areas of the three parts into which p cuts the triangle. They are never negative, so no
    // attribute leaves the range of its neighbours, not even in a needle whose area is all rounding error.
    const auto part = [&](Point u, Point v) {
        const float64 doubled = (u.x - p.x) * (v.y - p.y) - (u.y - p.y) * (v.x - p.x);
        return doubled > 0.0 ? doubled : 0.0;
    };
    const float64 pa = part(b, c), pb = part(c, a), pc = part(a, b), all = pa + pb + pc;
    const float64 wb = all > 0.0 ? pb / all : 1.0 / 3.0, wc = all > 0.0 ? pc / all : 1.0 / 3.0;
    const float64 *const va = attributes + Index(t.vertex[0]) * width;
    const float64 *const vb = attributes + Index(t.vertex[1]) * width;
    const float64 *const vc = attributes + Index(t.vertex[2]) * width;
    for (Index column = 0; column < width; ++column)
        made[column] = va[column] + (wb * (vb[column] - va[column]) + wc * (vc[column] - va[column]));
}

// Passes on the data of a winner's cavity before it is retriangulated, while its members are unchanged.
INLINE void inherit_cavity(const Mesh &mesh, const Cavities &cavities, Index i, const Sizes &sizes, const Sums<NEEDS> &place,
                         int32 *inherited) {
    const Cavity cavity = cavities.at(i);
    const Extent extent = cavities.extents[i];
    if (mesh.ancestor != nullptr)
        pass_ancestors_on(mesh.triangles, mesh.ancestor, cavity, extent, sizes.slots + place.of[EXTRA_SLOTS],
                          inherited + place.of[NEW_TRIANGLES]);
    if (mesh.attributes != nullptr)
        interpolate_attributes(mesh.triangles, mesh.points, cavity, extent, cavities.steiner[i], mesh.width,
                               mesh.attributes, mesh.attributes + (sizes.vertices + place.of[NEW_VERTEX]) * mesh.width);
}

// ---- One winner ---------------------------------------------------------------------------------------------------

// The fan that replaces a winner's cavity. The triangle at boundary edge j is (p, u, v); its edges are 0: u to v, 1: v
// to p, 2: p to u.
//
// Split subsegments: s = (from, to) becomes (from, p) under its old number and (p, to) under a new one. The two sides
// of each are the spokes of the fan at the ends of the boundary chains.
struct Fan {
    Cavity cavity;
    Extent extent;
    int32 apex;              // the new vertex p
    int32 claimed;           // first of its additional slots
    int32 listed;            // first place of its triangles in the list of new ones
    int32 split, split_rest; // (from, p) and (p, to); NOTHING if no subsegment is split
    bool inner;              // whether the subsegment has triangles on both sides
};

// The fan of winner i. Subsegments are the first candidates, so winner i's new subsegment has the same rank among the
// new subsegments as its new vertex has among the new vertices.
INLINE Fan fan_of(const Mesh &mesh, const Cavities &cavities, Index i, Index segments, const Sizes &sizes, int32 apex,
                  int32 claimed, int32 listed) {
    const int32 split = i < segments ? cavities.roots[i] : NOTHING;
    const int32 rest = i < segments ? sizes.subsegments + (apex - sizes.vertices) : NOTHING;
    const bool inner = split != NOTHING && mesh.subsegments[split].right != NOTHING;
    return {cavities.at(i), cavities.extents[i], apex, claimed, listed, split, rest, inner};
}

INLINE Fan fan_at(const Mesh &mesh, const Cavities &cavities, Index i, Index segments, const Sizes &sizes,
                  const Sums<NEEDS> &place) {
    return fan_of(mesh, cavities, i, segments, sizes, sizes.vertices + place.of[NEW_VERTEX],
                  sizes.slots + place.of[EXTRA_SLOTS], place.of[NEW_TRIANGLES]);
}

// Inserts the point and cuts the subsegment that it lies on, if any. The new triangles set the sides of both halves.
INLINE void begin_fan(const Mesh &mesh, const Cavities &cavities, Index i, const Fan &fan) {
    const int32 p = fan.apex, split = fan.split, rest = fan.split_rest;
    cavities.extra_places[i] = fan.claimed;
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
    begin_fan(mesh, cavities, i, fan_at(mesh, cavities, i, segments, sizes, place));
    cavities.apexes[i] = sizes.vertices + place.of[NEW_VERTEX];
    cavities.fresh_places[i] = place.of[NEW_TRIANGLES];
    cavities.shared[i] = 0;
}

// Makes the triangle at boundary edge j. Returns whether another winner shares that edge: the triangle across is then
// being rebuilt at the same time, and link_cavity makes the link later.
INLINE bool make_fan_triangle(const Mesh &mesh, const Cavities &cavities, Index i, const Fan &fan, int j, uint32 epoch,
                              int32 *fresh) {
    const Cavity &cavity = fan.cavity;
    const Extent &extent = fan.extent;
    Subsegment *const subsegments = mesh.subsegments;
    const int32 split = fan.split, split_rest = fan.split_rest;
    const BoundaryEdge edge = cavity.edge(j);
    const int32 u = edge.vertex, v = cavity.edge(j + 1).vertex, across = edge.across;
    const int32 slot = fan_slot(cavity, extent, fan.claimed, j);
    const bool first_left = split != NOTHING && j == 0, last_left = split != NOTHING && j == extent.left_edges - 1;
    const bool first_right = fan.inner && j == extent.left_edges, last_right = fan.inner && j == extent.edges - 1;
    int32 after = NOTHING, before = NOTHING;
    if (last_left || last_right)
        after = ~(last_left ? split : split_rest);
    else
        after = fan_slot(cavity, extent, fan.claimed, j + 1 == extent.edges ? 0 : j + 1);
    if (first_left || first_right)
        before = ~(first_left ? split_rest : split);
    else
        before = fan_slot(cavity, extent, fan.claimed, j == 0 ? extent.edges - 1 : j - 1);
    if (last_left)
        subsegments[split].left = slot;
    if (first_left)
        subsegments[split_rest].left = slot;
    if (first_right)
        subsegments[split].right = slot;
    if (last_right)
        subsegments[split_rest].right = slot;
    store_record(&mesh.triangles[slot], Triangle{{fan.apex, u, v}, {across, after, before}, rebuilt_mark(cavities.keys[i])});
    fresh[fan.listed + j] = slot;
    if (across < 0) {
        set_side(subsegments, ~across, u, slot);
        return false;
    }
    const int32 other = owner_of(mesh.triangles, across, epoch);
    if (other != NOTHING && other != i && cavities.won[other])
        return true;
    Triangle &outside = mesh.triangles[across];
    outside.link[edge_that_starts_at(outside, v)] = slot;
    return false;
}

// The bit by which a cavity records a shared boundary edge.
INLINE uint32 shared_bit(int j) { return 1u << (j < 31 ? j : 31); }

// Retriangulates a winner's cavity with one member.
INLINE void retriangulate_cavity(const Mesh &mesh, const Cavities &cavities, Index i, Index segments, uint32 epoch,
                                 const Sizes &sizes, const Sums<NEEDS> &place, int32 *fresh) {
    const Fan fan = fan_at(mesh, cavities, i, segments, sizes, place);
    begin_fan(mesh, cavities, i, fan);
    uint32 shared = 0;
    for (int j = 0; j < fan.extent.edges; ++j)
        if (make_fan_triangle(mesh, cavities, i, fan, j, epoch, fresh))
            shared |= shared_bit(j);
    cavities.shared[i] = shared;
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

// Makes the triangles of a piece's winners whose fans were stored, with a sub-warp tile per fan.
INLINE void make_fans(Piece piece, const Mesh &mesh, const Cavities &cavities, Index segments, uint32 epoch,
                      const Sizes &sizes, int32 *fresh) {
    FOR_TILES (i, piece.begin, piece.end) {
        if (!cavities.won[i])
            continue;
        const Fan fan = fan_of(mesh, cavities, i, segments, sizes, cavities.apexes[i], cavities.extra_places[i],
                               cavities.fresh_places[i]);
        FOR_TILE_SHARE (j, fan.extent.edges)
            if (make_fan_triangle(mesh, cavities, i, fan, j, epoch, fresh))
                atomic_or(&cavities.shared[i], shared_bit(j));
    }
}

// Links triangles across the edges that two winners share, after all winners are inserted. Each winner looks the edge
// up in the other's boundary.
INLINE void link_cavity(Triangle *triangles, const Cavities &cavities, Index i, uint32 epoch) {
    const uint32 shared = cavities.won[i] ? cavities.shared[i] : 0;
    if (!shared)
        return;
    const Cavity cavity = cavities.at(i);
    const Extent extent = cavities.extents[i];
    for (int j = 0; j < extent.edges; ++j) {
        if (!(shared & shared_bit(j)))
            continue;
        const BoundaryEdge edge = cavity.edge(j);
        const int32 other = edge.across < 0 ? NOTHING : owner_of(triangles, edge.across, epoch);
        if (other == NOTHING || other == i || !cavities.won[other]) // one bit stands for all edges from 31 on
            continue;
        const Cavity across = cavities.at(other);
        const Extent its = cavities.extents[other];
        const int k = place_of_edge(across, its.edges, cavity.edge(j + 1).vertex, edge.vertex);
        triangles[fan_slot(cavity, extent, cavities.extra_places[i], j)].link[0] =
            fan_slot(across, its, cavities.extra_places[other], k);
    }
}
