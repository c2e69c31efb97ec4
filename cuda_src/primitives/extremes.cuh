// The minimum and the maximum of the values of a team's members. Both are associative and commutative: any tree gives
// the same bits (no NaN gets here).
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
