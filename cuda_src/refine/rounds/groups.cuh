// The groups that run rounds without launches: one team, and all teams of a grid, for rounds or for large cavities.
//
// A group cuts a list into pieces, a team's each. `sum` adds up the Sums value(team, piece) of all pieces, and `survey`
// combines those of survey_bad; both end with a barrier. `for_pieces` calls visit(team, piece). `before` gives sums(),
// those of the pieces before a team's, to which nothing has to be added if there is only one piece.
#pragma once

#include "refine/candidates/gather.cuh"

// The largest round that one team takes.
KERNEL_STRUCT(SingleBlock) {
    int64 candidates;
    int64 listed;
    int64 subsegments;
};

// If only the most urgent window competes, few of the listed triangles do.
constexpr Index WINDOWED_SHARE = 4;

// A team alone: each list is one piece.
struct Block {
    static constexpr bool GROWS_BY_WARPS = false;

    Team team;
    SingleBlock limits;

    METHOD bool leads() const { return team.leads(); }
    METHOD void barrier(int line = __builtin_LINE()) const { team.barrier(line); }
    METHOD auto share(Index count) const { return team.share({0, count}); }
    template <class Visit> METHOD void for_pieces(Index count, Visit visit) const { visit(team, Piece{0, count}); }
    template <class Value> METHOD auto before(Value sums) const { return decltype(sums()){}; }

    template <class Value> METHOD auto sum(Index count, int32 *, Value value) const {
        const auto found = value(team, Piece{0, count});
        team.barrier();
        return found;
    }
    template <class Value> METHOD auto survey(Index listed, int32 *, Value value) const {
        return sum(listed, nullptr, value);
    }

    METHOD bool takes_subsegments(Index subsegments) const { return subsegments <= limits.subsegments; }
    METHOD bool takes_lists(Index segments, Index listed, bool windows) const {
        return segments <= limits.candidates && listed <= (windows ? WINDOWED_SHARE : 1) * limits.listed;
    }
    METHOD bool takes_candidates(Index candidates) const { return candidates <= limits.candidates; }
    METHOD bool leaves_next(Index, Index) const { return false; }
};

// Range of the rounds that the teams of a grid take. Rounds with many listed triangles have separate kernels; rounds
// with few candidates go to one team.
KERNEL_STRUCT(Persistent) {
    int64 listed;     // largest number of listed triangles
    int64 candidates; // if at most this many compete, and at most `few_listed` are listed or subsegments are alone,
    int64 few_listed; // the next round is left to one team
};

// All teams of a grid: a list has a piece for each of them.
struct Teams {
    Grid grid;

    METHOD bool leads() const { return grid.leads(); }
    METHOD void barrier(int line = __builtin_LINE()) const { grid.barrier(line); }
    METHOD auto share(Index count) const { return grid.share(count); }
    template <class Visit> METHOD void for_pieces(Index count, Visit visit) const {
        for (const Team team : grid.tasks(pieces_of(count, grid.teams())))
            visit(team, piece_of(team.number, count, grid.teams()));
    }
    template <class Value> METHOD auto before(Value sums) const { return sums(); }

    template <class Value> METHOD auto sum(Index count, int32 *sums, Value value) const {
        using Total = decltype(value(Team{}, Piece{}));
        store(count, sums, value);
        return sum_of_pieces<Total::SIZE>(grid.team(), sums, 0, pieces_of(count, grid.teams()));
    }
    template <class Value> METHOD auto survey(Index listed, int32 *surveyed, Value value) const {
        store(listed, surveyed, value);
        return combine_surveys(grid.team(), surveyed, pieces_of(listed, grid.teams()));
    }

  private:
    template <class Value> METHOD void store(Index count, int32 *sums, Value value) const {
        for_pieces(count, [&](const Team &team, Piece piece) { store_sums(team, value(team, piece), sums); });
        grid.barrier();
    }
};

// Those that run ordinary rounds.
struct AllTeams : Teams {
    static constexpr bool GROWS_BY_WARPS = false;

    Persistent limits;

    METHOD AllTeams(Grid grid, Persistent limits) : Teams{grid}, limits(limits) {}

    METHOD bool takes_subsegments(Index) const { return true; }
    METHOD bool takes_lists(Index, Index listed, bool) const { return listed <= limits.listed; }
    METHOD bool takes_candidates(Index) const { return true; }
    METHOD bool leaves_next(Index candidates, Index listed) const {
        return candidates <= limits.candidates && listed <= limits.few_listed;
    }
};

// Those that run passes with large records: few cavities, of many triangles. A CPU thread, which waits less for each of
// them, is alone.
struct LargeTeams : Teams {
    static constexpr bool GROWS_BY_WARPS = !ONE_MEMBER;

    SingleBlock limits;

    METHOD LargeTeams(Grid grid, SingleBlock limits) : Teams{grid}, limits(limits) {}

    METHOD bool takes_subsegments(Index subsegments) const { return subsegments <= limits.subsegments; }
    METHOD bool takes_lists(Index segments, Index listed, bool) const {
        return segments <= limits.candidates && listed <= limits.listed;
    }
    METHOD bool takes_candidates(Index candidates) const { return candidates <= limits.candidates; }
    METHOD bool leaves_next(Index, Index) const { return false; }
};
