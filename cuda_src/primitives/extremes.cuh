// The minimum and the maximum of the values of each tile. Both are associative and commutative: any tree gives the same
// bits (no NaN gets here).
#pragma once

#include "portable/portable.cuh"

// Reduces low[member] and high[member] to low[0] and high[0].
INLINE void gather_extremes(const Team &team, float64 *low, float64 *high) {
    for (int reach = TEAM_SIZE / 2; reach > 0; reach /= 2)
        team.for_members([&](int member) {
            if (member < reach) {
                low[member] = low[member + reach] < low[member] ? low[member + reach] : low[member];
                high[member] = high[member + reach] > high[member] ? high[member + reach] : high[member];
            }
        });
}

// Finds the extremes of each tile: `find(tile, member, low, high)` sets those of a member's items. `low` and `high` are
// shared by a team.
template <class Find>
INLINE void find_extremes(const Launch launch, float64 *low, float64 *high, float64 *tile_low, float64 *tile_high,
                          Find find) {
    for (const Team team : launch.teams()) {
        team.for_members([&](int member) { find(team.number, member, low[member], high[member]); });
        gather_extremes(team, low, high);
        if (team.leads()) {
            tile_low[team.number] = low[0];
            tile_high[team.number] = high[0];
        }
        team.barrier();
    }
}
