// A round of insertion: each candidate's point is searched, its cavity grown and claimed; the winners are inserted.
#include "refine/retriangulation/link.cuh"
#include "triangulate/winners.cuh"

// Notes triangles of the vertices with which the plane begins.
KERNEL(note_vertices, Plane plane, const int32 *vertices, const int32 *slots) {
    for (const Index i : launch)
        note_slot(plane, vertices[i], slots[i]);
}

// The lists of losers, the old one and the new one: they change places from one epoch to the next.
INLINE int32 *list_of_losers(int32 *losers, int64 most, Index epoch) { return losers + (epoch % 2 ? most : 0); }

// The candidates are the losers of the previous round, and the next points in the order of insertion.
KERNEL(grow_points, Plane plane, Cavities cavities, const int32 *order, Count taken, int32 *losers, int64 most,
       Count lost, int32 *roots, Count epoch) {
    const int32 *const again = list_of_losers(losers, most, epoch), *const next = order + Index(taken);
    const Index old = lost;
    const auto candidate = [&](Index i) { return i < old ? again[i] : next[i - old]; };
    for (const Index i : launch) {
        prefetch_search(plane, i, launch.stop(), candidate);
        roots[i] = candidate(i);
        cavities.won[i] = 0;
        cavities.extents[i] = {0, 0, 0};
        cavities.outcomes[i] = enter_point<FILTERED>(plane, cavities, i, uint32(epoch));
    }
}

// The same with exact arithmetic, where it was deferred.
KERNEL(grow_points_exactly, Plane plane, Cavities cavities, Count epoch) {
    for (const Index i : launch)
        if (cavities.outcomes[i] == DEFERRED)
            cavities.outcomes[i] = enter_point<EXACT>(plane, cavities, i, uint32(epoch));
}

KERNEL(own_points, Plane plane, Cavities cavities) { check_owners(launch, plane.triangles, cavities); }

TEAM_KERNEL(choose_points, Plane plane, Cavities cavities, Count count, Count epoch, int32 *fates) {
    for (const Team team : launch.teams()) {
        const Sums<FATES> found = team.sum(piece_of(team.number, count), [&](Index i) {
            cavities.won[i] = proceeds(plane, cavities, i, uint32(epoch));
            return fate_of(cavities, i);
        });
        store_sums(team, found, fates);
    }
}

// Inserts the winners: their new slots are numbered from `slots` on, in the order of the candidates. Lists the others.
// totals: the numbers of candidates by Fate.
TEAM_KERNEL(insert_points, Plane plane, Cavities cavities, Count count, Count epoch, const int32 *fates, Count slots,
            int32 *losers, int64 most, int32 *large, int32 *totals) {
    int32 *const again = list_of_losers(losers, most, Index(epoch) + 1);
    for (const Team team : launch.teams()) {
        const Piece piece = piece_of(team.number, count);
        if (piece.empty())
            continue;
        const Sums<FATES> before = sum_of_pieces<FATES>(team, fates, 0, team.number);
        const Sums<FATES> end = team.in_order(
            piece, before, [&](Index i) { return fate_of(cavities, i); },
            [&](Index i, const Sums<FATES> &place) {
                const Sums<FATES> fate = fate_of(cavities, i);
                prefetch_members(cavities, i + 6, piece.end, plane.triangles);
                if (fate.of[WINS])
                    insert_point(plane, cavities, i, uint32(epoch), int32(slots) + 2 * place.of[WINS]);
                if (fate.of[LOSES])
                    again[place.of[LOSES]] = cavities.roots[i];
                if (fate.of[OVERFLOWS])
                    large[place.of[OVERFLOWS]] = cavities.roots[i];
            });
        if (team.leads() && piece.end == count)
            for (int fate = 0; fate < FATES; ++fate)
                totals[fate] = end.of[fate];
    }
}

KERNEL(link_points, Plane plane, Cavities cavities, Count epoch) {
    link_fans(launch, plane.triangles, cavities, epoch);
}

// The progress of an insertion: numbers that kernels of the next round read, and that stop the rounds.
enum Advance : int32 {
    ROUND_CANDIDATES, // of the next round: losers first
    ROUND_LOSERS,
    TAKEN_VERTICES, // of the order, in rounds so far
    USED_SLOTS,
    ROUND_EPOCH,
    LARGE_CAVITIES, // of the last round
    ROUND_WINNERS,  // of the last round
    HALT,           // 1: the host is needed, or all is done
    ADVANCES
};

// Plans the next round: its candidates are `growth` times as many as the inserted vertices. Stops if all vertices are
// inserted, for cavities that need larger records, if epochs are used up, or if there was no winner (impossible).
KERNEL(plan_points, int32 *progress, const int32 *totals, int64 vertices, int64 most, float64 growth) {
    for ([[maybe_unused]] const Index once : launch) {
        const Index taken = progress[TAKEN_VERTICES] + progress[ROUND_CANDIDATES] - progress[ROUND_LOSERS];
        const Index lost = totals[LOSES], wanted = Index(growth * float64(taken - lost));
        const Index left = vertices - taken, room = most - lost;
        Index fresh = wanted > lost ? wanted - lost : (lost == 0);
        fresh = fresh < left ? fresh : left;
        fresh = fresh < room ? fresh : room;
        progress[ROUND_CANDIDATES] = int32(lost + fresh);
        progress[ROUND_LOSERS] = int32(lost);
        progress[TAKEN_VERTICES] = int32(taken);
        progress[USED_SLOTS] += 2 * totals[WINS];
        progress[LARGE_CAVITIES] = totals[OVERFLOWS];
        progress[ROUND_WINNERS] = totals[WINS];
        const int32 epoch = ++progress[ROUND_EPOCH];
        progress[HALT] = lost + fresh == 0 || totals[OVERFLOWS] > 0 || epoch > LAST_EPOCH || totals[WINS] == 0;
    }
}
