// Inserts the winners of a step.
#include "refine/cavity/outcomes.cuh"
#include "refine/quality/quality_check.cuh"
#include "refine/retriangulation.cuh"

// Processes a piece of the cavities in order: visit(i, place) gets the first place of each need of cavity i. Returns
// the places at the end of the piece.
template <class Visit>
INLINE Sums<NEEDS> in_their_places(Piece piece, Index team, const Cavities &cavities, Index segments, const int32 *needs,
                                   Visit visit) {
    return team_in_order<NEEDS>(
        piece.begin, piece.end, sum_of_pieces<NEEDS>(needs, 0, team),
        [&](Index i) { return needs_of(cavities, i, segments, cavities.won[i]); }, visit);
}

// Passes on what triangles or vertices carry. It runs before retriangulate, and only if they carry something.
TEAM_KERNEL(inherit, Mesh mesh, Cavities cavities, Count count, Count segments, const int32 *needs, Count vertices,
            Count slots, Count subsegments, int32 *inherited) {
    const Sizes sizes = {int32(vertices), int32(slots), int32(subsegments)};
    FOR_TEAMS (team) {
        const Piece piece = piece_of(team, count);
        if (piece.begin >= piece.end)
            continue;
        in_their_places(piece, team, cavities, segments, needs, [&](Index i, const Sums<NEEDS> &place) {
            if (cavities.won[i])
                inherit_cavity(mesh, cavities, i, sizes, place, inherited);
        });
    }
}

// Number of cavities per piece up to which a team's members make fans in sub-warp tiles; with more, one member makes
// each.
constexpr Index FEW_FOR_A_TEAM = CHECKS_AT_ONCE ? 0 : TEAM_SIZE / 2;

// If `check` is 1, a CPU's thread checks the new triangles of a cavity at once, while they are in its cache.
TEAM_KERNEL(retriangulate, Mesh mesh, Cavities cavities, Count count, Count segments, Count epoch, const int32 *needs,
            Count vertices, Count slots, Count subsegments, Limits limits, int32 check, int32 *fresh) {
    const QualityCheck of_triangle = {mesh, limits, nullptr, nullptr};
    const Sizes sizes = {int32(vertices), int32(slots), int32(subsegments)};
    FOR_TEAMS (team) {
        const Piece piece = piece_of(team, count);
        if (piece.begin >= piece.end)
            continue;
        const bool by_tiles = piece.end - piece.begin <= FEW_FOR_A_TEAM;
        const auto visit = [&](Index i, const Sums<NEEDS> &place) {
            cavities.fresh_places[i] = place.of[NEW_TRIANGLES];
            prefetch_members(cavities, i + 6, piece.end, mesh.triangles);
            prefetch_boundary(cavities, i + 6, piece.end, mesh.triangles);
            if (CHECKS_AT_ONCE && check) {
                prefetch_members(cavities, i + 6, piece.end, mesh.quality);
                prefetch_boundary_points(cavities, i + 6, piece.end, mesh.points);
            }
            if (!cavities.won[i])
                return;
            if (by_tiles) {
                enter_fan(mesh, cavities, i, segments, sizes, place);
                return;
            }
            retriangulate_cavity(mesh, cavities, i, segments, uint32(epoch), sizes, place, fresh);
            if (CHECKS_AT_ONCE && check)
                for (int j = 0; j < cavities.extents[i].edges; ++j)
                    of_triangle.check(fresh[place.of[NEW_TRIANGLES] + j], 0);
        };
        const Sums<NEEDS> end = in_their_places(piece, team, cavities, segments, needs, visit);
        if (by_tiles) {
            TEAM_BARRIER();
            make_fans(piece, mesh, cavities, segments, uint32(epoch), sizes, fresh);
        }
        FOR_LEADER
            if (piece.end == count)
                cavities.fresh_places[count] = end.of[NEW_TRIANGLES];
    }
}

KERNEL(link_winners, Mesh mesh, Cavities cavities, Count epoch) {
    FOR_RANGE (i) {
        if (PREFETCHES && i + 6 < range_end && cavities.won[i + 6] && cavities.shared[i + 6])
            prefetch_boundary(cavities, i + 6, range_end, mesh.triangles);
        link_cavity(mesh.triangles, cavities, i, uint32(epoch));
    }
}

// Counts outcomes after the last step of a pass: counts[outcome] += number of cavities that had it; counts[OUTCOMES] +=
// number of off-centers inserted.
TEAM_KERNEL(close_cavities, Mesh mesh, Cavities cavities, Count count, Count segments, int64 *counts) {
    FOR_TEAMS (team)
        close_piece(piece_of(team, count), mesh, cavities, segments, counts);
}
