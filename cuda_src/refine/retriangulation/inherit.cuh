// Passes on the data that triangles and vertices carry.
#pragma once

#include "mesh/interpolation.cuh"
#include "mesh/mesh.cuh"
#include "refine/retriangulation/needs.cuh"

// The member with the edge from u to v.
INLINE int32 member_with_edge(const Triangle *triangles, const Cavity &cavity, const Extent &extent, int32 u, int32 v) {
    for (int k = 0;; ++k) {
        const Triangle &t = triangles[cavity.member(k)];
        const int e = edge_that_starts_at(t, u);
        if (k == extent.members - 1 || (edge_from(t, e) == u && edge_to(t, e) == v))
            return cavity.member(k);
    }
}

// Passes on input ancestors: the new triangle at each boundary edge gets that of the member which had the edge. Around
// the vertex between two consecutive edges, the members between them are crossed, so that the time is linear.
OUTLINE void pass_ancestors_on(const Triangle *triangles, int32 *ancestor, const Cavity cavity, const Extent extent,
                               int32 claimed, int32 *inherited) {
    int32 member = NOTHING;
    for (int j = 0; j < extent.edges; ++j) {
        const int32 u = cavity.edge(j).vertex, v = cavity.edge(j + 1).vertex;
        if (j == 0 || j == extent.left_edges) { // a chain begins
            member = member_with_edge(triangles, cavity, extent, u, v);
        } else {
            while (true) {
                const Triangle &t = triangles[member];
                const int e = edge_that_starts_at(t, u);
                if (edge_to(t, e) == v)
                    break;
                member = link_across(t, e);
            }
        }
        inherited[j] = ancestor[member];
    }
    for (int j = 0; j < extent.edges; ++j)
        ancestor[fan_slot(cavity, extent, claimed, j)] = inherited[j];
}

// Computes the vertex attributes of a new point by interpolation in the member that contains it: the first member with
// p on the outer side of none of its edges (on a split subsegment, up to rounding, the member beside it).
OUTLINE void interpolate_attributes(const Triangle *triangles, const Point *points, const Cavity cavity,
                                    const Extent extent, Point p, Index width, const float64 *attributes,
                                    float64 *made) {
    int32 holder = cavity.member(0);
    for (int k = 0; k < extent.members; ++k) {
        const Triangle &t = triangles[cavity.member(k)];
        const Point a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
        if (orient2d(a, b, p) >= 0 && orient2d(b, c, p) >= 0 && orient2d(c, a, p) >= 0) {
            holder = cavity.member(k);
            break;
        }
    }
    interpolate_in_triangle(triangles[holder].vertex, points, p, width, attributes, made);
}

// Passes on the data of a winner's cavity before it is retriangulated, while its members are unchanged.
INLINE void inherit_cavity(const Mesh &mesh, const Cavities &cavities, Index i, const Sizes &sizes,
                           const Sums<NEEDS> &place, int32 *inherited) {
    const Cavity cavity = cavities.at(i);
    const Extent extent = cavities.extents[i];
    if (mesh.ancestor != nullptr)
        pass_ancestors_on(mesh.triangles, mesh.ancestor, cavity, extent, sizes.slots + place.of[EXTRA_SLOTS],
                          inherited + place.of[NEW_TRIANGLES]);
    if (mesh.attributes != nullptr)
        interpolate_attributes(mesh.triangles, mesh.points, cavity, extent, cavities.steiner[i], mesh.width,
                               mesh.attributes, mesh.attributes + (sizes.vertices + place.of[NEW_VERTEX]) * mesh.width);
}
