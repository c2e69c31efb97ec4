// Deterministic marking: which owners proceed.
//
// There are two texts, with the same results. A launch over many cavities has a thread for each of them and, on a GPU,
// leaves exact arithmetic to a second kernel, because of the registers that it needs: resolve_conflicts takes 48
// instead of 96, so twice as many threads run at once. In single-block rounds there are more threads than cavities: a
// tile of threads takes each of them, and a second pass would cost another barrier.
#pragma once

#include "mesh/mesh.cuh"
#include "mesh/owner.cuh"
#include "refine/cavity/cavity.cuh"

// Resolves conflicts, after all ownership checks. Two owners that share a boundary edge (u, v) and have the new points
// p and q both proceed if q is not strictly inside the circle (u, v, p): then the edge between the two new triangles is
// Delaunay, too, and the two insertions commute. Otherwise the owner of lower priority yields, even to an owner that
// yields itself: one pass, independent of order. Outcomes are only read here, so that every thread sees the same ones.
// Returns 1 if cavity i, an owner, need not yield to the cavity across its j-th edge, 0 if it must, or UNSURE.
template <Arithmetic arithmetic>
INLINE int passes_owner(const Mesh &mesh, const Cavities &cavities, Index i, const Cavity &cavity, int j, int32 other) {
    if (other == NOTHING || other == i || cavities.outcomes[other] != OWNER || cavities.keys[other] < cavities.keys[i])
        return 1;
    const int inside =
        incircle_with<arithmetic>(mesh.points[cavity.edge(j).vertex], mesh.points[cavity.edge(j + 1).vertex],
                                  cavities.steiner[i], cavities.steiner[other]);
    return inside == UNSURE ? UNSURE : inside <= 0;
}

// The cavity that owns the neighbour across the j-th edge, or NOTHING.
INLINE int32 owner_across(const Mesh &mesh, const Cavity &cavity, int j, uint32 epoch) {
    const int32 across = cavity.edge(j).across;
    return across < 0 ? NOTHING : owner_of(mesh.triangles, across, epoch);
}

template <Arithmetic arithmetic>
INLINE int passes_edge(const Mesh &mesh, const Cavities &cavities, Index i, const Cavity &cavity, int j, uint32 epoch) {
    return passes_owner<arithmetic>(mesh, cavities, i, cavity, j, owner_across(mesh, cavity, j, epoch));
}

// Whether cavity i proceeds: 1, 0 or UNSURE. A GPU looks up several owners at a time.
template <Arithmetic arithmetic>
INLINE int goes_ahead(const Mesh &mesh, const Cavities &cavities, Index i, uint32 epoch) {
    if (cavities.outcomes[i] != OWNER)
        return 0;
    const Cavity cavity = cavities.at(i);
    const int32 edges = cavities.extents[i].edges;
    int answer = 1;
    for (int j = 0; j < edges; j += SIDE_BY_SIDE) {
        int32 others[SIDE_BY_SIDE];
        for (int n = 0; n < SIDE_BY_SIDE; ++n)
            others[n] = j + n < edges ? owner_across(mesh, cavity, j + n, epoch) : NOTHING;
        for (int n = 0; n < SIDE_BY_SIDE; ++n) {
            const int passes = passes_owner<arithmetic>(mesh, cavities, i, cavity, j + n, others[n]);
            if (passes == 0)
                return 0;
            if (passes == UNSURE)
                answer = UNSURE;
        }
    }
    return answer;
}

// The same for all cavities of a piece, with a tile for each: sets won[i]. A barrier separates it from the ownership
// checks.
INLINE void resolve_conflicts(const Team &team, Piece piece, const Mesh &mesh, const Cavities &cavities, uint32 epoch) {
    for (const Index i : team.share(piece))
        cavities.won[i] = cavities.outcomes[i] == OWNER;
    team.barrier();
    for (const Tile tile : team.tiles(piece)) {
        const Index i = tile.index;
        const Cavity cavity = cavities.at(i);
        for (const int j : tile.share(cavities.outcomes[i] == OWNER ? cavities.extents[i].edges : 0))
            if (!passes_edge<EXACT>(mesh, cavities, i, cavity, j, epoch))
                racing_store(&cavities.won[i], 0);
    }
    team.barrier();
}
