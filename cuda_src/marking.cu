// Which of the grown cavities go ahead: marking, after Nasre, Burtscher and Pingali (2013) and the thesis, chapter 5.
//
// A phase ends where its launch does. Only remark_cavity reads and writes owner words in one launch, and races by design.
#include "marking.cuh"
#include "ownership.cuh"
#include "retriangulation.cuh"

// keys[i] orders the cavities of this step (cavity.cuh). The deterministic marking has them since its cavities were grown.
KERNEL(make_keys, Mesh mesh, Cavities cavities, Count segments, Count stamp) {
    FOR_RANGE (i)
        cavities.keys[i] = key_of(mesh, cavities, i, segments, uint32(stamp));
}

KERNEL(clear_owners, Triangle *triangles) {
    FOR_RANGE (t)
        triangles[t].owner = 0;
}

// ---- Deterministic: ownership of the cavity alone, by atomic maximum of the key ------------------------------------

KERNEL(judge_cavities, Mesh mesh, Cavities cavities) {
    FOR_RANGE (i) {
        prefetch_members(cavities, i + 6, range_end, mesh.triangles);
        judge_cavity(mesh.triangles, cavities, i);
    }
}

// Sets won[i]; what needs exact arithmetic may be deferred.
KERNEL(settle_neighbours, Mesh mesh, Cavities cavities, Count stamp) {
    FOR_RANGE (i) {
        prefetch_rim(cavities, i + 6, range_end, mesh.triangles);
        cavities.won[i] = goes_ahead<LATER_ON_GPU>(mesh, cavities, i, uint32(stamp));
    }
}

// The rest: what was deferred.
KERNEL(settle_the_rest, Mesh mesh, Cavities cavities, Count stamp) {
    FOR_RANGE (i)
        if (cavities.won[i] == UNSURE)
            cavities.won[i] = goes_ahead<AT_ONCE>(mesh, cavities, i, uint32(stamp));
}

// ---- Two-stage: ownership of the cavity and the ring around it -------------------------------------------------------
//
// A winner owns every triangle whose record it writes, so winners never share an edge.

KERNEL(mark_cavity, Mesh mesh, Cavities cavities) {
    const Marker marker = {cavities, mesh.triangles};
    FOR_RANGE (i)
        if (cavities.outcomes[i] == UNDECIDED)
            marker.mark(i);
}

KERNEL(remark_cavity, Mesh mesh, Cavities cavities) {
    const Marker marker = {cavities, mesh.triangles};
    FOR_RANGE (i)
        if (cavities.outcomes[i] == UNDECIDED)
            marker.remark(i);
}

KERNEL(mark_cavity_atomic, Mesh mesh, Cavities cavities) {
    const Marker marker = {cavities, mesh.triangles};
    FOR_RANGE (i)
        if (cavities.outcomes[i] == UNDECIDED)
            marker.mark_atomic(i);
}

KERNEL(check_marks, Mesh mesh, Cavities cavities, int32 *progress) {
    const Marker marker = {cavities, mesh.triangles};
    FOR_RANGE (i)
        marker.check(i, progress);
}

// Where the races left nobody all of its triangles: one thread lets one cavity go ahead, and the round is not lost.
KERNEL(force_one, Cavities cavities, int64 count, const int32 *progress) {
    FOR_RANGE (once)
        for (Index i = 0; i < count && !progress[once]; ++i)
            if (cavities.outcomes[i] == UNDECIDED) {
                cavities.outcomes[i] = OWNER;
                cavities.won[i] = 1;
                break;
            }
}

// After the winners of a step are in: a cavity that lost is dead where its root was rebuilt, damaged where another of
// its triangles or of its ring was, and still good otherwise.
KERNEL(check_cavity, Mesh mesh, Cavities cavities, Count segments, Count stamp) {
    FOR_RANGE (i) {
        if (cavities.outcomes[i] != UNDECIDED)
            continue;
        const auto rebuilt = [&](int32 t) { return was_rebuilt(mesh.triangles[t], uint32(stamp)); };
        const bool whole =
            for_cavity_and_ring(cavities.at(i), cavities.extents[i], [&](int32 t) { return !rebuilt(t); });
        if (!whole)
            cavities.outcomes[i] = i >= segments && rebuilt(cavities.roots[i]) ? DEAD : DAMAGED;
    }
}

KERNEL(flag_undecided, const int32 *outcomes, int32 *flags) {
    FOR_RANGE (i)
        flags[i] = outcomes[i] == UNDECIDED;
}

// ---- What comes of a marking -------------------------------------------------------------------------------------------

// Adds up by piece what the winners need.
TEAM_KERNEL(count_needs, Cavities cavities, Count count, Count segments, int32 *needs) {
    FOR_TEAMS (team) {
        const Piece piece = piece_of(team, count);
        if (piece.begin >= piece.end)
            continue;
        const auto of_one = [&](Index i) { return needs_of(cavities, i, segments, cavities.won[i]); };
        enter_needs(team, team_sum<NEEDS>(piece.begin, piece.end, of_one), needs);
    }
}

// Winners beyond the limit on Steiner points give way.
KERNEL(cut_winners, Cavities cavities, uint64 lowest) {
    FOR_RANGE (i)
        if (cavities.won[i] && cavities.keys[i] < lowest) {
            cavities.won[i] = 0;
            cavities.outcomes[i] = BUDGET;
        }
}
