// Steps of a round in which all teams take part: the lists of candidates and of bad triangles, and what one member
// computes in between.
#include "refine/rounds/progress.cuh"

// Begins a round for many teams where no kernel runs whole rounds before it, unless the rounds have stopped.
KERNEL(enter_round, int32 *progress) {
    for ([[maybe_unused]] const Index i : launch)
        leave_rounds(progress, progress[STOP] == GO_ON);
}

// requested[team] = number of subsegments of the piece that wait to be split.
TEAM_KERNEL(survey_subsegments, const int32 *split_states, Count subsegments, int32 *requested) {
    for (const Team team : launch.teams()) {
        const Piece piece = piece_of(team.number, subsegments);
        if (!piece.empty())
            store_sums(team, survey_subsegments(team, piece, split_states), requested);
    }
}

// Surveys the list of bad triangles. If subsegments compete alone, nothing is surveyed, and the list stays as it is.
HIGH_OCCUPANCY_TEAM_KERNEL(survey_bad, Mesh mesh, const int32 *requested, Count subsegments, int32 *first,
                           int32 *second, Count buffer, Count listed, Count chosen, Count vertices, Count slots,
                           int32 small_mesh, uint8 *flags, int32 *surveyed) {
    const int32 choice = int32(chosen);
    const bool windows = has_windows(choice, slots, small_mesh);
    for (const Team team : launch.teams()) {
        const Piece piece = piece_of(team.number, listed);
        if (piece.empty() || segments_alone(choice, sum_of_pieces<1>(team, requested, 0, pieces_of(subsegments)).of[0],
                                            slots, has_free_points(mesh, vertices, subsegments)))
            continue;
        const int32 *const list = BadList{first, second}.buffer(buffer);
        store_sums(team, survey_bad(team, piece, list, mesh, choice, windows, flags), surveyed);
    }
}

// Gathers candidates into `roots`, and copies the list of bad triangles to its other side.
TEAM_KERNEL(gather_candidates, Mesh mesh, const int32 *requested, Count subsegments, int32 *first, int32 *second,
            Count buffer, Count listed, Count chosen, Count vertices, Count slots, int32 small_mesh, const uint8 *flags,
            const int32 *surveyed, Capacity capacity, int32 *roots, int32 *progress) {
    const int32 choice = int32(chosen);
    const bool windows = has_windows(choice, slots, small_mesh);
    const BadList list = {first, second};
    for (const Team team : launch.teams()) {
        if (!progress[BEGINS])
            continue;
        const int32 waiting = sum_of_pieces<1>(team, requested, 0, pieces_of(subsegments)).of[0];
        const bool alone = segments_alone(choice, waiting, slots, has_free_points(mesh, vertices, subsegments));
        const int32 level = progress[LARGE_LEVEL];
        const Index most_taken = most_of_pass(progress, level, capacity.most);
        Competition found = competition_alone(listed, waiting, most_taken);
        if (!alone)
            found = competition_with(combine_surveys(team, surveyed, pieces_of(listed)), waiting, most_taken);
        const int32 most = found.count <= capacity.candidates ? found.count : 0;
        const Piece segments = piece_of(team.number, subsegments), bad = piece_of(team.number, listed);
        if (!segments.empty() && found.segments)
            gather_subsegments(team, segments, sum_of_pieces<1>(team, requested, 0, team.number), found, most,
                               mesh.split_states, roots);
        if (!bad.empty() && !alone)
            gather_bad(team, bad, sum_of_surveyed(team, surveyed, found.window, 0, team.number), found, most, list,
                       int32(buffer), flags, mesh.quality, windows, roots);
        if (team.leads() && team.number == 0)
            begin_pass(progress, level, found, int32(buffer), capacity);
    }
}

// With one team: sums up the winners' needs, and checks the capacity.
TEAM_KERNEL(fit_winners, const int32 *needs, Count count, Capacity capacity, int32 *progress) {
    for (const Team team : launch.teams()) {
        const Sums<NEEDS> sums = sum_of_pieces<NEEDS>(team, needs, 0, pieces_of(count));
        if (team.leads() && progress[BEGINS] && progress[STOP] == GO_ON)
            fit_winners(progress, sums, capacity);
    }
}

// appended[team] = number of new triangles of the piece that are to be listed; 0 for teams without a piece.
TEAM_KERNEL(survey_fresh, Mesh mesh, const int32 *fresh, Count count, uint8 *flags, int32 *appended) {
    for (const Team team : launch.teams())
        store_sums(team, survey_fresh(team, piece_of(team.number, count), fresh, mesh.quality, flags), appended);
}

// Appends them to the list, after its `listed` entries.
HIGH_OCCUPANCY_TEAM_KERNEL(append_fresh, const int32 *fresh, Count count, const uint8 *flags, const int32 *appended,
                           int32 *first, int32 *second, Count buffer, Count listed) {
    for (const Team team : launch.teams()) {
        const Piece piece = piece_of(team.number, count);
        if (piece.empty())
            continue;
        Sums<1> before = sum_of_pieces<1>(team, appended, 0, team.number);
        before.of[0] += int32(listed);
        append_fresh(team, piece, before, fresh, flags, BadList{first, second}.buffer(buffer));
    }
}

// With one team: records the results of the pass.
TEAM_KERNEL(end_round, const int32 *appended, const int64 *counts, int64 *history, int32 *progress) {
    for (const Team team : launch.teams()) {
        const Sums<1> sums = sum_of_pieces<1>(team, appended, 0, pieces_of(progress[FRESH]));
        if (team.leads() && progress[BEGINS]) {
            const int32 level = progress[LARGE_LEVEL];
            const bool none = level && progress[CANDIDATES] == 0 && progress[STOP] == GO_ON;
            end_pass(progress, level, sums.of[0], counts, history);
            if (none)
                end_large_passes(progress, level, history);
        }
    }
}
