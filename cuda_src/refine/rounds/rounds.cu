// Steps of a round in which all teams take part: the lists of candidates and of bad triangles, and what one member
// computes in between.
#include "refine/rounds/team_steps.cuh"

// wished[team] = number of subsegments of the piece that wait to be split.
TEAM_KERNEL(survey_subsegments, const int32 *split_states, Count subsegments, int32 *requested) {
    FOR_TEAMS (team) {
        const Piece piece = piece_of(team, subsegments);
        if (piece.begin >= piece.end)
            continue;
        const Sums<1> sums = survey_subsegments(piece, split_states);
        FOR_LEADER
            requested[team] = sums.of[0];
    }
}

// Surveys the list of bad triangles. If subsegments compete alone, nothing is surveyed, and the list stays as it is.
HIGH_OCCUPANCY_TEAM_KERNEL(survey_bad, Mesh mesh, const int32 *requested, Count subsegments, int32 *first, int32 *second, Count buffer,
                    Count listed, Count chosen, Count vertices, Count slots, int32 small_mesh, uint8 *flags,
                    int32 *surveyed) {
    const int32 choice = int32(chosen);
    const bool windows = has_windows(choice, slots, small_mesh);
    FOR_TEAMS (team) {
        const Piece piece = piece_of(team, listed);
        if (piece.begin >= piece.end ||
            segments_alone(choice, sum_of_pieces<1>(requested, 0, pieces_of(subsegments)).of[0], slots,
                           has_free_points(mesh, vertices, subsegments)))
            continue;
        const int32 *const list = BadList{first, second}.buffer(buffer);
        enter_survey(team, survey_bad(piece, list, mesh, choice, windows, flags), surveyed);
    }
}

// Gathers candidates into `roots`, and copies the list of bad triangles to its other side.
TEAM_KERNEL(gather_candidates, Mesh mesh, const int32 *requested, Count subsegments, int32 *first, int32 *second, Count buffer,
            Count listed, Count chosen, Count vertices, Count slots, int32 small_mesh, const uint8 *flags,
            const int32 *surveyed, Capacity capacity, int32 *roots, int32 *progress) {
    const int32 choice = int32(chosen);
    const bool windows = has_windows(choice, slots, small_mesh);
    const BadList list = {first, second};
    FOR_TEAMS (team) {
        if (!progress[BEGINS])
            continue;
        const int32 waiting = sum_of_pieces<1>(requested, 0, pieces_of(subsegments)).of[0];
        const bool alone = segments_alone(choice, waiting, slots, has_free_points(mesh, vertices, subsegments));
        const Competition found = competition_of(surveyed, pieces_of(listed), listed, waiting, alone, capacity);
        gather_pieces(team, piece_of(team, subsegments), piece_of(team, listed), found, mesh, requested, list, buffer, windows,
                      flags, surveyed, capacity, roots);
        FOR_LEADER
            if (team == 0)
                begin_round(progress, found, int32(buffer), capacity);
    }
}

// With one team: sums up the winners' needs, and checks the capacity.
TEAM_KERNEL(fit_winners, const int32 *needs, Count count, Capacity capacity, int32 *progress) {
    FOR_TEAMS (team) {
        const Sums<NEEDS> sums = sum_of_pieces<NEEDS>(needs, 0, pieces_of(count));
        FOR_LEADER
            if (progress[BEGINS] && progress[STOP] == GO_ON)
                fit_winners(progress, sums, capacity);
    }
}

// appended[team] = number of new triangles of the piece that are to be listed; 0 for teams without a piece.
TEAM_KERNEL(survey_fresh, Mesh mesh, const int32 *fresh, Count count, uint8 *flags, int32 *appended) {
    FOR_TEAMS (team) {
        const Sums<1> sums = survey_fresh(piece_of(team, count), fresh, mesh.quality, flags);
        FOR_LEADER
            appended[team] = sums.of[0];
    }
}

// Appends them to the list, after its `listed` entries.
TEAM_KERNEL(append_fresh, const int32 *fresh, Count count, const uint8 *flags, const int32 *appended, int32 *first,
            int32 *second, Count buffer, Count listed) {
    FOR_TEAMS (team) {
        const Piece piece = piece_of(team, count);
        if (piece.begin >= piece.end)
            continue;
        Sums<1> before = sum_of_pieces<1>(appended, 0, team);
        before.of[0] += int32(listed);
        append_fresh(piece, before, fresh, flags, BadList{first, second}.buffer(buffer));
    }
}

// With one team: records the results of the round.
TEAM_KERNEL(end_round, const int32 *appended, const int64 *counts, Capacity capacity, int64 *history, int32 *progress) {
    FOR_TEAMS (team) {
        const Sums<1> sums = sum_of_pieces<1>(appended, 0, pieces_of(progress[FRESH]));
        FOR_LEADER
            if (progress[BEGINS])
                end_round(progress, sums.of[0], counts, capacity, history);
    }
}
