// Deterministic marking: which owners proceed.
#pragma once

#include "mesh/mesh.cuh"
#include "mesh/owner.cuh"
#include "refine/cavity/cavity.cuh"

// Whether cavity i, an owner, need not yield to the cavity across its j-th edge. Two owners that share a boundary edge
// (u, v) and have the new points p and q both proceed if q is not strictly inside the circle (u, v, p): then the edge
// between the two new triangles is Delaunay, too, and the two insertions commute. Otherwise the owner of lower priority
// yields, even to an owner that yields itself: one pass, independent of order. Outcomes are only read here, so that
// every thread sees the same ones.
INLINE bool passes_edge(const Mesh &mesh, const Cavities &cavities, Index i, const Cavity &cavity, int j,
                        uint32 epoch) {
    const int32 across = cavity.edge(j).across, owner = owner_of(mesh.triangles, perhaps_across(across), epoch);
    // One branch: each of the conditions holds about as often as not. Cavity i itself stands for no other.
    const Index other = (across >= 0) & (owner != NOTHING) ? Index(owner) : i;
    const bool meets = (other != i) & (cavities.outcomes[other] == OWNER) & (cavities.keys[other] >= cavities.keys[i]);
    if (!meets)
        return true;
    return incircle(mesh.points[cavity.edge(j).vertex], mesh.points[cavity.edge(j + 1).vertex], cavities.steiner[i],
                    cavities.steiner[other]) <= 0;
}

// Resolves the conflicts of the cavities of a piece, after all ownership checks: sets won[i]. A tile takes each cavity,
// and its members share the edges. Ends with a barrier.
INLINE void resolve_conflicts(const Team &team, Piece piece, const Mesh &mesh, const Cavities &cavities, uint32 epoch) {
    for (const Index i : team.share(piece))
        cavities.won[i] = cavities.outcomes[i] == OWNER;
    team.barrier();
    for (const Tile tile : team.tiles(piece)) {
        const Index i = tile.index;
        prefetch_grown(cavities, i + 14, piece.end);
        prefetch_boundary(cavities, i + 6, piece.end, mesh.triangles);
        const Cavity cavity = cavities.at(i);
        for (const int j : tile.share(cavities.outcomes[i] == OWNER ? cavities.extents[i].edges : 0))
            if (!passes_edge(mesh, cavities, i, cavity, j, epoch))
                racing_store(&cavities.won[i], 0);
    }
    team.barrier();
}
