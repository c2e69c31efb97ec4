// Names of before, for the kernels that are not yet written with groups.
#pragma once

#define FOR_RANGE(i) for ([[maybe_unused]] const Index i : launch)
#define FOR_PART(i, begin, end) for (const Index i : launch.part(begin, end))
#define FOR_TEAMS(team)                                                                                                \
    for (const Team team_ : launch.teams())                                                                            \
        if ([[maybe_unused]] const Index team = team_.number; true)
#define FOR_SHARE(i, begin, end) for (const Index i : Team::share(Piece{begin, end}))
#define FOR_TILES(i, begin, end)                                                                                       \
    for (const Tile tile_ : Team::tiles(Piece{begin, end}))                                                            \
        if (const Index i = tile_.index; true)
#define FOR_TILE_SHARE(j, count) for (const int j : tile_.share(count))
#define FOR_LEADER if (Team::leads())
#define FOR_PIECES(team, pieces)                                                                                       \
    for (const Team team_ : launch.grid().tasks(pieces))                                                               \
        if ([[maybe_unused]] const Index team = team_.number; true)
#define FOR_GRID_TEAMS(index, count, teams)                                                                            \
    for (const Team team_ : grid.tasks(count))                                                                         \
        if ([[maybe_unused]] const Index index = team_.number; true)
#define FOR_ALL(i, count) for (const Index i : launch.grid().share(count))
#define FOR_FIRST_LEADER if (launch.grid().leads())
#define TEAMS launch.grid().teams()
#define TEAM_BARRIER() Team::barrier()
#define GRID_BARRIER() launch.grid().barrier()
#define FOR_TASKS(WIDTH, GROUP, task, begin, end)                                                                      \
    for (const Index task : VirtualWarp<WIDTH>::template tasks<GROUP>(begin, end))
#define FOR_LANES(WIDTH, i, begin, end) for (const Index i : VirtualWarp<WIDTH>::share(begin, end))
#define FIRST_LANE(WIDTH) VirtualWarp<WIDTH>::leads()
#define FOR_EDGE_SHARE(k, count, coalesced) for (const Index k : Team::share_edges(count, coalesced))
#define STEPS_BY_ONE(coalesced) Team::shares_are_runs(coalesced)
#if defined(EMULATED) || defined(__CUDACC__)
#define FOR_MEMBERS(member) for (int member = threadIdx.x, turn_ = 0; turn_ < 1; ++turn_, Team::barrier())
#else
#define FOR_MEMBERS(member) for (int member = 0; member < TEAM_SIZE; ++member)
#endif

template <int N, class Value> INLINE Sums<N> team_sum(Index begin, Index end, Value value) {
    return Team::sum(Piece{begin, end}, value);
}
template <int N, class Value, class Visit>
INLINE Sums<N> team_in_order(Index begin, Index end, Sums<N> before, Value value, Visit visit) {
    return Team::in_order(Piece{begin, end}, before, value, visit);
}
template <int N> INLINE Sums<N> sum_of_pieces(const int32 *sums, Index from, Index to) {
    return sum_of_pieces<N>(Team{}, sums, from, to);
}
template <int WIDTH, class T> INLINE T from_first_lane(T value) { return VirtualWarp<WIDTH>::from_leader(value); }
INLINE int32 team_take(int32 *counter) { return Team::take(counter); }
INLINE int32 team_take_together(int32 *counter) { return Team::take_together(counter); }
INLINE void team_sums_by_shuffles(int64 *values, int64 *of_warp) { Team::scan(values, of_warp); }
