// Links the fans of winners that share an edge.
#pragma once

#include "mesh/owner.cuh"
#include "refine/retriangulation/fan.cuh"

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
        triangles[cavity.member(j)].link[0] = across.member(k);
    }
}

// The same for the winners among a thread's share of the cavities. If the epoch is a Count, a GPU reads it anew for
// each cavity: to keep it would take link_winners from 40 registers to 48.
template <class Share, class Epoch>
INLINE void link_fans(const Share &share, Triangle *triangles, const Cavities &cavities, const Epoch &epoch) {
    for (const Index i : share) {
        if (PREFETCHES && i + 6 < share.stop() && cavities.won[i + 6] && cavities.shared[i + 6])
            prefetch_boundary(cavities, i + 6, share.stop(), triangles);
        link_cavity(triangles, cavities, i, uint32(epoch));
    }
}
