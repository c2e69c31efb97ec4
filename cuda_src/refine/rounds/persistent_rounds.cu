// Rounds of a persistent kernel: too large for one team, and too small to be worth one launch per step. Teams that all
// run at once process them, and wait at grid barriers instead of ends of launches.
//
// A round of a thousand cavities takes some 16 launches of 3 to 8 microseconds each, most of which is launch overhead.
//
// Rounds with so few candidates that one team is faster are left to single_block_rounds (single_block_rounds.cu), which follows: the
// same code in this kernel, too, would cost it registers, and double the time that nvcc takes.
#include "portable/grid.cuh"
#include "refine/rounds/team_steps.cuh"

// Range of the rounds that this kernel takes. Rounds with many listed triangles have separate kernels; rounds with few
// candidates go to one team.
KERNEL_STRUCT(Persistent) {
    int64 listed;     // largest number of listed triangles
    int64 candidates; // if at most this many compete, and at most `few_listed` are listed or subsegments are alone,
    int64 few_listed; // the next round is left to one team
};

COOPERATIVE_TEAM_KERNEL(persistent_rounds, Mesh mesh, Limits limits, Cavities cavities, Capacity capacity, Persistent persistent, int32 small_mesh,
             int32 *first, int32 *second, int32 *roots, int32 *fresh, int32 *inherited, uint8 *flags, int32 *requested,
             int32 *surveyed, int32 *needs, int32 *appended, int64 *counts, int64 *history, int32 *progress) {
    const BadList list = {first, second};
    const bool begins = progress[BEGINS] != 0;
    bool to_many = false; // the next round is too large
    bool few = false;     // the last round had few candidates
    while (begins) {
        GRID_BARRIER(); // the previous round has ended
        const Sizes sizes = {progress[VERTICES], progress[SLOTS], progress[SUBSEGMENTS]};
        const int32 listed = progress[BAD_LISTED], buffer = progress[BUFFER], choice = progress[CHOICE];
        const bool windows = has_windows(choice, sizes.slots, small_mesh);
        if (progress[STOP] != GO_ON || few)
            break;
        const Index of_subsegments = pieces_of(sizes.subsegments, TEAMS), of_bad = pieces_of(listed, TEAMS);
        FOR_PIECES (team, of_subsegments) {
            const Sums<1> sums = survey_subsegments(piece_of(team, sizes.subsegments, TEAMS), mesh.split_states);
            FOR_LEADER
                requested[team] = sums.of[0];
        }
        GRID_BARRIER();
        const int32 waiting = sum_of_pieces<1>(requested, 0, of_subsegments).of[0];
        const bool free_points = has_free_points(mesh, sizes.vertices, sizes.subsegments);
        const bool alone = segments_alone(choice, waiting, sizes.slots, free_points);
        to_many = !alone && listed > persistent.listed;
        if (to_many)
            break;
        if (!alone) {
            FOR_PIECES (team, of_bad)
                enter_survey(
                    team, survey_bad(piece_of(team, listed, TEAMS), list.buffer(buffer), mesh, choice, windows, flags), surveyed);
            GRID_BARRIER();
        }
        const Competition found = competition_of(surveyed, of_bad, listed, waiting, alone, capacity);
        FOR_PIECES (team, of_bad > of_subsegments ? of_bad : of_subsegments)
            gather_pieces(team, piece_of(team, sizes.subsegments, TEAMS), piece_of(team, listed, TEAMS), found, mesh, requested,
                          list, buffer, windows, flags, surveyed, capacity, roots);
        FOR_FIRST_LEADER
            begin_round(progress, found, buffer, capacity);
        GRID_BARRIER();
        const Index count = progress[CANDIDATES], segments = progress[SEGMENTS];
        few = count <= persistent.candidates && (alone || listed <= persistent.few_listed);
        const uint32 epoch = uint32(progress[EPOCH]);
        FOR_ALL (i, count)
            claim_cavity(mesh, cavities, i, segments, epoch, grow_candidate(mesh, limits, cavities, i, segments, false));
        GRID_BARRIER();
        FOR_ALL (i, count)
            check_cavity_ownership(mesh.triangles, cavities, i);
        GRID_BARRIER();
        FOR_PIECES (team, pieces_of(count, TEAMS))
            enter_needs(team, team_resolve_conflicts(piece_of(team, count, TEAMS), mesh, cavities, segments, epoch), needs);
        GRID_BARRIER();
        const Sums<NEEDS> all_needs = sum_of_pieces<NEEDS>(needs, 0, pieces_of(count, TEAMS));
        const int32 next = progress[NEXT_LISTED], next_buffer = progress[NEXT_BUFFER];
        const bool enough = fits(progress, all_needs, capacity); // each team evaluates this, and one of them stores it
        const Index applied = enough ? count : 0, fresh_count = enough ? all_needs.of[NEW_TRIANGLES] : 0;
        FOR_FIRST_LEADER
            if (count)
                fit_winners(progress, all_needs, capacity);
        FOR_PIECES (team, pieces_of(applied, TEAMS))
            team_retriangulate(piece_of(team, applied, TEAMS), sum_of_pieces<NEEDS>(needs, 0, team), mesh, cavities,
                                   segments, epoch, sizes, inherited, fresh);
        GRID_BARRIER();
        FOR_ALL (i, applied)
            link_cavity(mesh.triangles, cavities, i, epoch);
        GRID_BARRIER();
        FOR_PIECES (team, pieces_of(fresh_count, TEAMS)) {
            const Sums<1> sums = team_check(piece_of(team, fresh_count, TEAMS), mesh, limits, fresh, flags);
            FOR_LEADER
                appended[team] = sums.of[0];
        }
        GRID_BARRIER();
        FOR_PIECES (team, pieces_of(fresh_count, TEAMS)) {
            Sums<1> before = sum_of_pieces<1>(appended, 0, team);
            before.of[0] += next;
            append_fresh(piece_of(team, fresh_count, TEAMS), before, fresh, flags, list.buffer(next_buffer));
        }
        FOR_PIECES (team, pieces_of(applied, TEAMS))
            close_piece(piece_of(team, applied, TEAMS), mesh, cavities, segments, counts);
        const Sums<1> all_appended = sum_of_pieces<1>(appended, 0, pieces_of(fresh_count, TEAMS));
        GRID_BARRIER();
        FOR_FIRST_LEADER
            end_round(progress, all_appended.of[0], counts, capacity, history);
    }
    if (begins) {
        GRID_BARRIER(); // all teams have left the loop
        FOR_FIRST_LEADER
            leave_rounds(progress, to_many);
    }
}
