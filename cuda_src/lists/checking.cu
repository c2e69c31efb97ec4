// Checks that an array of successors is a set of lists, and finds the heads of the lists.
//
// If the number of elements without predecessor equals the number without successor, no element has two predecessors.
// Then the array consists of lists and cycles; elements on cycles are those not counted after all lists are ranked.
#include "lists/lists.cuh"

enum CheckEntry : int32 { FIRST_BAD, HEADS, TAILS, CHECK_ENTRIES };

// marks[j] = 1 if j is the successor of an element. entries[FIRST_BAD] = the first element whose successor is out of
// range.
KERNEL(mark_successors, const int32 *successors, int64 count, uint8 *marks, int32 *entries) {
    for (const Index i : launch) {
        const int32 next = successors[i];
        if (next < END || next >= count)
            atomic_min(entries + FIRST_BAD, int32(i));
        else if (!ends_list(i, next))
            racing_store(marks + next, uint8(1));
    }
}

INLINE Sums<2> ends_at(Index i, const int32 *successors, const uint8 *marks) {
    return {{!marks[i], ends_list(i, successors[i])}};
}

// Counts the lists that begin and end in each piece.
TEAM_KERNEL(count_list_ends, const int32 *successors, const uint8 *marks, int64 count, int32 *sums) {
    for (const Team team : launch.teams()) {
        const Sums<2> found =
            team.sum(piece_of(team.number, count), [&](Index i) { return ends_at(i, successors, marks); });
        if (team.leads()) {
            sums[2 * team.number] = found.of[0];
            sums[2 * team.number + 1] = found.of[1];
        }
    }
}

// Sums the counts of all pieces by one team.
TEAM_KERNEL(total_list_ends, const int32 *sums, int64 count, int32 *entries) {
    for (const Team team : launch.teams()) {
        const Sums<2> all = sum_of_pieces<2>(team, sums, 0, pieces_of(count));
        if (team.leads()) {
            entries[HEADS] = all.of[0];
            entries[TAILS] = all.of[1];
        }
    }
}

// heads = the first elements of the lists, in order.
TEAM_KERNEL(list_heads, const int32 *successors, const uint8 *marks, int64 count, const int32 *sums, int32 *heads) {
    for (const Team team : launch.teams()) {
        const Sums<2> before = sum_of_pieces<2>(team, sums, 0, team.number);
        team.in_order(
            piece_of(team.number, count), before, [&](Index i) { return ends_at(i, successors, marks); },
            [&](Index i, Sums<2> place) {
                if (!marks[i])
                    heads[place.of[0]] = int32(i);
            });
    }
}
