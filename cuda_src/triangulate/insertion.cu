// A round of insertion: each candidate's point is searched, its cavity grown and claimed; the winners are inserted.
#include "refine/retriangulation/link.cuh"
#include "triangulate/winners.cuh"

// Makes the first triangle, whose corners are in the order of its vertices, and the three ghosts around it.
KERNEL(start_plane, Plane plane, int32 a, int32 b, int32 c) {
    for ([[maybe_unused]] const Index i : launch) {
        const bool turned = orient2d(plane.points[a], plane.points[b], plane.points[c]) < 0;
        const int32 u = turned ? c : b, v = turned ? b : c;
        plane.triangles[0] = {{a, u, v}, {1, 2, 3}, 0};
        plane.triangles[1] = {{v, u, GHOST}, {3, 2, 0}, 0};
        plane.triangles[2] = {{a, v, GHOST}, {1, 3, 0}, 0};
        plane.triangles[3] = {{u, a, GHOST}, {2, 1, 0}, 0};
        for (const int32 vertex : {a, b, c})
            note_slot(plane, vertex, 0);
    }
}

// The candidates are those that lost the round before, and the next ones in the order of insertion.
KERNEL(grow_points, Plane plane, Cavities cavities, const int32 *losers, int32 lost, const int32 *next, int32 *roots,
       uint32 epoch) {
    for (const Index i : launch) {
        roots[i] = i < lost ? losers[i] : next[i - lost];
        cavities.won[i] = 0;
        cavities.outcomes[i] = enter_point<FILTERED>(plane, cavities, i, epoch);
    }
}

// The same with exact arithmetic, where it was deferred.
KERNEL(grow_points_exactly, Plane plane, Cavities cavities, uint32 epoch) {
    for (const Index i : launch)
        if (cavities.outcomes[i] == DEFERRED)
            cavities.outcomes[i] = enter_point<EXACT>(plane, cavities, i, epoch);
}

TEAM_KERNEL(choose_points, Plane plane, Cavities cavities, int64 count, uint32 epoch, int32 *fates) {
    for (const Team team : launch.teams()) {
        const Sums<FATES> found = team.sum(piece_of(team.number, count), [&](Index i) {
            cavities.won[i] = proceeds(plane, cavities, i, epoch);
            return fate_of(cavities, i);
        });
        store_sums(team, found, fates);
    }
}

// Inserts the winners: their new slots are numbered from `slots` on, in the order of the candidates. Lists the others.
// totals: the sums of the fates.
TEAM_KERNEL(insert_points, Plane plane, Cavities cavities, int64 count, uint32 epoch, const int32 *fates, int32 slots,
            int32 *losers, int32 *large, int32 *totals) {
    for (const Team team : launch.teams()) {
        const Piece piece = piece_of(team.number, count);
        if (piece.empty())
            continue;
        const Sums<FATES> before = sum_of_pieces<FATES>(team, fates, 0, team.number);
        const Sums<FATES> end = team.in_order(
            piece, before, [&](Index i) { return fate_of(cavities, i); },
            [&](Index i, const Sums<FATES> &place) {
                const Sums<FATES> fate = fate_of(cavities, i);
                if (fate.of[WINS])
                    insert_point(plane, cavities, i, epoch, slots + 2 * place.of[WINS]);
                if (fate.of[LOSES])
                    losers[place.of[LOSES]] = cavities.roots[i];
                if (fate.of[OVERFLOWS])
                    large[place.of[OVERFLOWS]] = cavities.roots[i];
            });
        if (team.leads() && piece.end == count)
            for (int fate = 0; fate < FATES; ++fate)
                totals[fate] = end.of[fate];
    }
}

KERNEL(link_points, Plane plane, Cavities cavities, uint32 epoch) {
    link_fans(launch, plane.triangles, cavities, epoch);
}
