// Rounds of refinement without launches between their steps (Algorithm 2 of the thesis): one text for a team that runs
// them alone (single_block_rounds.cu) and for all teams of a grid (persistent_rounds.cu).
//
// Each step is the function that the step's kernel calls, too. Growth has a second, filtered instance for the kernels
// of large rounds (growth.cuh), and on a CPU their retriangulation checks the new triangles (retriangulation.cu).
#pragma once

#include "refine/candidates/gather.cuh"
#include "refine/cavity/close.cuh"
#include "refine/cavity/growth.cuh"
#include "refine/cavity/warp_growth.cuh"
#include "refine/marking/check_ownership.cuh"
#include "refine/cavity/claim.cuh"
#include "refine/marking/resolve_conflicts.cuh"
#include "refine/quality/quality_check.cuh"
#include "refine/retriangulation/inherit.cuh"
#include "refine/retriangulation/link.cuh"
#include "refine/retriangulation/retriangulate.cuh"
#include "refine/rounds/progress.cuh"

// The arrays of the rounds.
struct RoundArrays {
    BadList list;
    int32 *roots, *fresh, *inherited;
    uint8 *flags;
    int64 *history;
    int32 *requested, *surveyed, *needs, *appended; // sums of pieces; a team alone has none
};

// Runs passes with records of one level until one needs the host, or records of another level, or is too large for the
// group, a Block or an AllTeams (groups.cuh). Passes with ordinary records, of level 0, are whole rounds unless a
// cavity overflows its record.
template <class Group>
INLINE void run_rounds(const Group &group, int32 level, const Mesh &mesh, const Limits &limits,
                       const Cavities &cavities, const Capacity &capacity, int32 small_mesh, const RoundArrays &arrays,
                       int64 *counts, int32 *progress) {
    const BadList &list = arrays.list;
    bool too_large = false; // the next round, for this group
    bool leaves = false;    // the next round to another group
    for (;;) {
        group.barrier(); // the previous round has ended
        STOP_POINT();
        const Sizes sizes = {progress[VERTICES], progress[SLOTS], progress[SUBSEGMENTS]};
        const int32 listed = progress[BAD_LISTED], buffer = progress[BUFFER];
        const int32 choice = level ? int32(LARGE_ONES) : progress[CHOICE];
        const Index most_taken = most_of_pass(progress, level, capacity.most);
        const bool windows = has_windows(choice, sizes.slots, small_mesh);
        if (progress[STOP] != GO_ON || progress[LARGE_LEVEL] != level || leaves)
            break;
        too_large = !group.takes_subsegments(sizes.subsegments);
        if (too_large)
            break;

        // Select the candidates.
        const auto requests = group.sum(sizes.subsegments, arrays.requested, [&](const Team &team, Piece piece) {
            return survey_subsegments(team, piece, mesh.split_states);
        });
        const int32 waiting = requests.of[0];
        const bool alone =
            segments_alone(choice, waiting, sizes.slots, has_free_points(mesh, sizes.vertices, sizes.subsegments));
        Competition found = competition_alone(listed, waiting, most_taken);
        too_large = !group.takes_lists(found.segments, alone ? 0 : listed, windows);
        if (too_large)
            break;
        if (!alone) {
            const auto survey = group.survey(listed, arrays.surveyed, [&](const Team &team, Piece piece) {
                return survey_bad(team, piece, list.buffer(buffer), mesh, choice, windows, arrays.flags);
            });
            found = competition_with(survey, waiting, most_taken);
        }
        too_large = !group.takes_candidates(found.count);
        const int32 most = !too_large && found.count <= capacity.candidates ? found.count : 0;
        if (found.segments)
            group.for_pieces(sizes.subsegments, [&](const Team &team, Piece piece) {
                const Sums<1> before =
                    group.before([&] { return sum_of_pieces<1>(team, arrays.requested, 0, team.number); });
                gather_subsegments(team, piece, before, found, most, mesh.split_states, arrays.roots);
            });
        if (!alone)
            group.for_pieces(listed, [&](const Team &team, Piece piece) {
                const Sums<2> before =
                    group.before([&] { return sum_of_surveyed(team, arrays.surveyed, found.window, 0, team.number); });
                gather_bad(team, piece, before, found, most, list, buffer, arrays.flags, mesh.quality, windows,
                           arrays.roots);
            });
        if (group.leads()) {
            if (!too_large)
                begin_pass(progress, level, found, buffer, capacity);
            if (too_large || found.count == 0 || progress[STOP] != GO_ON)
                turn_list(progress, found, buffer);
            if (!too_large && level && found.count == 0)
                end_large_passes(progress, level, arrays.history);
        }
        group.barrier();
        if (too_large || found.count == 0 || progress[STOP] != GO_ON)
            break;

        // Grow and claim.
        const Index count = found.count, segments = found.segments;
        const uint32 epoch = uint32(progress[EPOCH]);
        leaves = group.leaves_next(found.count, alone ? 0 : listed);
        if constexpr (Group::GROWS_BY_WARPS)
            grow_by_warps(group.grid, mesh, limits, cavities, count, segments, epoch);
        else
            for (const Index i : group.share(count))
                claim_cavity(mesh, cavities, i, segments, epoch,
                             grow_candidate(mesh, limits, cavities, i, segments, false));
        group.barrier();

        // Mark.
        check_owners(group.share(count), mesh.triangles, cavities);
        group.barrier();
        const Sums<NEEDS> needs = group.sum(count, arrays.needs, [&](const Team &team, Piece piece) {
            resolve_conflicts(team, piece, mesh, cavities, epoch);
            return sum_needs(team, piece, cavities, segments);
        });
        const int32 next = progress[NEXT_LISTED], next_buffer = progress[NEXT_BUFFER];
        const bool enough = fits(progress, needs, capacity); // each member evaluates this, and one of them stores it
        const Index applied = enough ? count : 0, fresh_count = enough ? needs.of[NEW_TRIANGLES] : 0;
        if (group.leads())
            fit_winners(progress, needs, capacity);

        // Retriangulate and check.
        group.for_pieces(applied, [&](const Team &team, Piece piece) {
            const Sums<NEEDS> before =
                group.before([&] { return sum_of_pieces<NEEDS>(team, arrays.needs, 0, team.number); });
            const auto inherit = [&](Index i, const Sums<NEEDS> &place) {
                if (cavities.won[i])
                    inherit_cavity(mesh, cavities, i, sizes, place, arrays.inherited);
            };
            retriangulate_piece(team, piece, !ONE_MEMBER, before, mesh, cavities, segments, epoch, sizes, arrays.fresh,
                                inherit, [](Index, const Sums<NEEDS> &) {});
        });
        group.barrier();
        link_fans(group.share(applied), mesh.triangles, cavities, epoch);
        group.barrier();
        const Sums<1> appended = group.sum(fresh_count, arrays.appended, [&](const Team &team, Piece piece) {
            check_triangles(team.share(piece), arrays.fresh, QualityCheck{mesh, limits, nullptr, nullptr, nullptr});
            team.barrier();
            return survey_fresh(team, piece, arrays.fresh, mesh.quality, arrays.flags);
        });
        group.for_pieces(fresh_count, [&](const Team &team, Piece piece) {
            Sums<1> before = group.before([&] { return sum_of_pieces<1>(team, arrays.appended, 0, team.number); });
            before.of[0] += next;
            append_fresh(team, piece, before, arrays.fresh, arrays.flags, list.buffer(next_buffer));
        });

        // Close.
        group.for_pieces(applied, [&](const Team &team, Piece piece) {
            close_cavities(team, piece, mesh, cavities, segments, counts);
        });
        group.barrier();
        if (group.leads())
            end_pass(progress, level, appended.of[0], counts, arrays.history);
    }
    group.barrier(); // all members have left the loop
    if (group.leads()) {
        if (level > progress[LARGE_STEPS] && too_large)
            progress[STOP] = LARGE_PASS;
        leave_rounds(progress, level <= progress[LARGE_STEPS] && too_large);
    }
}
