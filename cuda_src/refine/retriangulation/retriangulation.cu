// Inserts the winners of a step.
//
// On a CPU the thread that makes the triangles of a cavity checks them at once, while they are in its cache; a GPU, and
// the other balances, check them in a launch after this one (quality.cu). With that launch on a CPU, too, the rounds of
// 1.1 million triangles take 1.05 of the time on one thread (1,212 ms instead of 1,159, in turn).
#include "refine/cavity/close.cuh"
#include "refine/quality/quality_check.cuh"
#include "refine/retriangulation/inherit.cuh"
#include "refine/retriangulation/link.cuh"
#include "refine/retriangulation/retriangulate.cuh"

// Passes on what triangles or vertices carry. It runs before retriangulate, and only if they carry something.
TEAM_KERNEL(inherit, Mesh mesh, Cavities cavities, Count count, Count segments, const int32 *needs, Count vertices,
            Count slots, Count subsegments, int32 *inherited) {
    const Sizes sizes = {int32(vertices), int32(slots), int32(subsegments)};
    for (const Team team : launch.teams()) {
        const Piece piece = piece_of(team.number, count);
        if (piece.empty())
            continue;
        const Sums<NEEDS> before = sum_of_pieces<NEEDS>(team, needs, 0, team.number);
        in_their_places(team, piece, before, cavities, segments, [&](Index i, const Sums<NEEDS> &place) {
            if (cavities.won[i])
                inherit_cavity(mesh, cavities, i, sizes, place, inherited);
        });
    }
}

// If `check` is 1, a CPU's thread checks the new triangles of each cavity.
TEAM_KERNEL(retriangulate, Mesh mesh, Cavities cavities, Count count, Count segments, Count epoch, const int32 *needs,
            Count vertices, Count slots, Count subsegments, Limits limits, int32 check, int32 *fresh) {
    const QualityCheck of_triangle = {mesh, limits, nullptr, nullptr, nullptr};
    const Sizes sizes = {int32(vertices), int32(slots), int32(subsegments)};
    for (const Team team : launch.teams()) {
        const Piece piece = piece_of(team.number, count);
        if (piece.empty())
            continue;
        const auto prepare = [&](Index i, const Sums<NEEDS> &place) {
            cavities.fresh_places[i] = place.of[NEW_TRIANGLES];
            prefetch_grown(cavities, i + 14, piece.end);
            prefetch_replaced(mesh, cavities, i + 6, piece.end);
        };
        const auto check_at_once = [&](Index i, const Sums<NEEDS> &place) {
            if (CHECKS_AT_ONCE && check)
                for (int j = 0; j < cavities.extents[i].edges; ++j)
                    of_triangle.check(fresh[place.of[NEW_TRIANGLES] + j], 0);
        };
        const Sums<NEEDS> before = sum_of_pieces<NEEDS>(team, needs, 0, team.number);
        const bool by_tiles = piece.end - piece.begin <= FEW_FOR_A_TEAM;
        const Sums<NEEDS> end = retriangulate_piece(team, piece, by_tiles, before, mesh, cavities, segments,
                                                    uint32(epoch), sizes, fresh, prepare, check_at_once);
        if (team.leads() && piece.end == count)
            cavities.fresh_places[count] = end.of[NEW_TRIANGLES];
    }
}

KERNEL(link_winners, Mesh mesh, Cavities cavities, Count epoch) { link_fans(launch, mesh.triangles, cavities, epoch); }

// Counts outcomes after the last step of a pass: counts[outcome] += number of cavities that had it; counts[OUTCOMES] +=
// number of off-centers inserted.
TEAM_KERNEL(close_cavities, Mesh mesh, Cavities cavities, Count count, Count segments, int64 *counts) {
    for (const Team team : launch.teams())
        close_cavities(team, piece_of(team.number, count), mesh, cavities, segments, counts);
}
