// Marking: decides which of the grown cavities proceed, after Nasre, Burtscher and Pingali (2013) and the thesis,
// chapter 5.
//
// A phase ends with its launch. Only the kernels that mark again read and write owner words in one launch; they race by
// design.
#include "refine/marking/check_ownership.cuh"
#include "refine/cavity/claim.cuh"
#include "refine/marking/marking.cuh"
#include "refine/marking/resolve_conflicts.cuh"
#include "refine/retriangulation/needs.cuh"

// keys[i] orders the cavities of this step (owner.cuh). The deterministic marking has its keys already, from growing.
KERNEL(make_keys, Mesh mesh, Cavities cavities, Count segments, Count epoch) {
    for (const Index i : launch)
        cavities.keys[i] = key_of(mesh, cavities, i, segments, uint32(epoch));
}

KERNEL(clear_owners, Triangle *triangles) {
    for (const Index t : launch)
        triangles[t].owner = 0;
}

// ---- Deterministic: ownership of the cavity alone, by atomic maximum of the key -----------------------------------

KERNEL(check_ownership, Mesh mesh, Cavities cavities) { check_owners(launch, mesh.triangles, cavities); }

// Resolves conflicts, and sums up the winners' needs by piece.
TEAM_KERNEL(resolve_conflicts, Mesh mesh, Cavities cavities, Count count, Count segments, Count epoch, int32 *needs) {
    for (const Team team : launch.teams()) {
        const Piece piece = piece_of(team.number, count);
        if (piece.empty())
            continue;
        resolve_conflicts(team, piece, mesh, cavities, uint32(epoch));
        store_sums(team, sum_needs(team, piece, cavities, segments), needs);
    }
}

// ---- Two-stage: ownership of the cavity and the ring around it ----------------------------------------------------
//
// A winner owns every triangle whose record it writes, so winners never share an edge.

// Calls a method of Marker for each cavity that is not decided.
template <void (Marker::*MARK)(Index) const>
INLINE void for_undecided(const Launch launch, const Mesh &mesh, const Cavities &cavities) {
    const Marker marker = {cavities, mesh.triangles};
    for (const Index i : launch)
        if (cavities.outcomes[i] == UNDECIDED)
            (marker.*MARK)(i);
}

KERNEL(mark_cavity, Mesh mesh, Cavities cavities) { for_undecided<&Marker::mark>(launch, mesh, cavities); }

KERNEL(remark_cavity, Mesh mesh, Cavities cavities) { for_undecided<&Marker::remark>(launch, mesh, cavities); }

KERNEL(remark_cavity_literally, Mesh mesh, Cavities cavities) {
    for_undecided<&Marker::remark_literally>(launch, mesh, cavities);
}

KERNEL(mark_cavity_atomic, Mesh mesh, Cavities cavities) {
    for_undecided<&Marker::mark_atomic>(launch, mesh, cavities);
}

KERNEL(check_marks, Mesh mesh, Cavities cavities, int32 *progress) {
    const Marker marker = {cavities, mesh.triangles};
    for (const Index i : launch)
        marker.check(i, progress);
}

// If the races left no cavity all of its triangles, one thread lets one cavity proceed, so that the round is not lost.
KERNEL(force_one, Cavities cavities, int64 count, const int32 *progress) {
    for (const Index once : launch)
        for (Index i = 0; i < count && !progress[once]; ++i)
            if (cavities.outcomes[i] == UNDECIDED) {
                cavities.outcomes[i] = OWNER;
                cavities.won[i] = 1;
                break;
            }
}

// Classifies the cavities that lost, after the winners of a step are inserted: dead if the root was rebuilt, damaged if
// another of the cavity's or the ring's triangles was, and otherwise still valid.
KERNEL(check_cavity, Mesh mesh, Cavities cavities, Count segments, Count epoch) {
    for (const Index i : launch) {
        if (cavities.outcomes[i] != UNDECIDED)
            continue;
        const auto rebuilt = [&](int32 t) { return was_rebuilt(mesh.triangles[t], uint32(epoch)); };
        const bool whole =
            for_cavity_and_ring(cavities.at(i), cavities.extents[i], [&](int32 t) { return !rebuilt(t); });
        if (!whole)
            cavities.outcomes[i] = i >= segments && rebuilt(cavities.roots[i]) ? DEAD : DAMAGED;
    }
}

KERNEL(flag_undecided, const int32 *outcomes, int32 *flags) {
    for (const Index i : launch)
        flags[i] = outcomes[i] == UNDECIDED;
}

// ---- Results of a marking -----------------------------------------------------------------------------------------

// Sums up the winners' needs by piece, for the other markings.
TEAM_KERNEL(count_needs, Cavities cavities, Count count, Count segments, int32 *needs) {
    for (const Team team : launch.teams()) {
        const Piece piece = piece_of(team.number, count);
        if (!piece.empty())
            store_sums(team, sum_needs(team, piece, cavities, segments), needs);
    }
}

// Drops winners beyond the limit on Steiner points.
KERNEL(cut_winners, Cavities cavities, uint64 lowest) {
    for (const Index i : launch)
        if (cavities.won[i] && cavities.keys[i] < lowest) {
            cavities.won[i] = 0;
            cavities.outcomes[i] = BUDGET;
        }
}
