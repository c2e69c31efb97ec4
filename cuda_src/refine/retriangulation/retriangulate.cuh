// Retriangulation: replaces the winners' cavities by fans around their new points.
#pragma once

#include "refine/retriangulation/fan.cuh"

// Makes the triangles of a piece's winners whose fans were stored, with a sub-warp tile per fan.
INLINE void make_fans(const Team &team, Piece piece, const Mesh &mesh, const Cavities &cavities, Index segments,
                      uint32 epoch, const Sizes &sizes, int32 *fresh) {
    for (const Tile tile : team.tiles(piece)) {
        const Index i = tile.index;
        if (!cavities.won[i])
            continue;
        const Fan fan = fan_of(mesh, cavities, i, segments, sizes, cavities.apexes[i], cavities.fresh_places[i]);
        for (const int j : tile.share(fan.extent.edges))
            if (make_fan_triangle(mesh, cavities, i, fan, j, {0, 0}, epoch, fresh))
                atomic_or(&cavities.shared[i], shared_bit(j));
    }
}

// Number of cavities per piece up to which a team's members make fans in sub-warp tiles; with more, one member makes
// each.
constexpr Index FEW_FOR_A_TEAM = CHECKS_AT_ONCE ? 0 : TEAM_SIZE / 2;

// Inserts the winners of a piece; `before` are the needs of the winners before it. Calls prepare(i, place) for each
// cavity before any of it is replaced, and check(i, place) after a single member has replaced it; if tiles replace all
// of them, `by_tiles`, there is no check. Returns the needs up to the end of the piece.
template <class Prepare, class Check>
INLINE Sums<NEEDS> retriangulate_piece(const Team &team, Piece piece, bool by_tiles, const Sums<NEEDS> &before,
                                       const Mesh &mesh, const Cavities &cavities, Index segments, uint32 epoch,
                                       const Sizes &sizes, int32 *fresh, Prepare prepare, Check check) {
    // The cavities that one thread inserts one after the other: on a CPU those of the piece, or all.
    const Piece own = !ONE_MEMBER ? Piece{0, 0} : works_alone() ? Piece{0, cavities.records} : piece;
    const auto visit = [&](Index i, const Sums<NEEDS> &place) {
        prepare(i, place);
        if (!cavities.won[i])
            return;
        if (by_tiles) {
            enter_fan(mesh, cavities, i, segments, sizes, place);
            return;
        }
        retriangulate_cavity(mesh, cavities, i, segments, own, epoch, sizes, place, fresh);
        check(i, place);
    };
    const Sums<NEEDS> end = in_their_places(team, piece, before, cavities, segments, visit);
    if (by_tiles) {
        team.barrier();
        make_fans(team, piece, mesh, cavities, segments, epoch, sizes, fresh);
    }
    return end;
}
