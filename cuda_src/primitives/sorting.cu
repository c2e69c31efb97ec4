// One stable pass of a least-significant-digit radix sort. The keys are cut into tiles. The scan of counts[digit][tile]
// gives the first place of every tile's run of a digit, and within a tile each key's place follows from those before
// it.
#include "portable/portable.cuh"

constexpr int DIGITS = TEAM_SIZE;         // radix 2^8: one member per digit
constexpr int ROWS = 16;                  // keys per member
constexpr int TILE = TEAM_SIZE * ROWS;    // keys per team
constexpr int GROUPS = TEAM_SIZE / LANES; // members that run in lockstep count together

// Each group of members has a separate run of the tile, and processes it row by row.
INLINE Index key_of(Index tile, int row, int member) {
    return tile * TILE + (member / LANES * ROWS + row) * LANES + member % LANES;
}

INLINE int digit_of(const uint32 *keys, Index i, Index count, int32 shift) {
    return i < count ? int((keys[i] >> shift) & (DIGITS - 1)) : -1;
}

// seen[group][digit] = number of the group's keys in the tile with that digit.
INLINE void count_tile(const Team &team, const uint32 *keys, Index count, int32 shift, int32 *seen) {
    team.for_members([&](int member) {
        for (int group = 0; group < GROUPS; ++group)
            seen[group * DIGITS + member] = 0;
    });
    for (int row = 0; row < ROWS; ++row)
        team.for_members([&](int member) {
            const int digit = digit_of(keys, key_of(team.number, row, member), count, shift);
            take_in_order(seen + member / LANES * DIGITS, digit);
        });
}

TEAM_KERNEL(count_digits, const uint32 *keys, int64 count, int32 shift, int64 tiles, int32 *counts) {
    TEAM_SHARED(int32, seen, GROUPS * DIGITS);
    for (const Team team : launch.teams()) {
        count_tile(team, keys, count, shift, seen);
        team.for_members([&](int digit) {
            int32 sum = 0;
            for (int group = 0; group < GROUPS; ++group)
                sum += seen[group * DIGITS + digit];
            counts[digit * tiles + team.number] = sum;
        });
    }
}

// Without values, the indices of the keys are the values.
TEAM_KERNEL(scatter_digits, const uint32 *keys, const int32 *values, int64 count, int32 shift, int64 tiles,
            const int32 *places, uint32 *sorted_keys, int32 *sorted_values) {
    TEAM_SHARED(int32, next, GROUPS * DIGITS); // the next place of each group's keys of a digit
    for (const Team team : launch.teams()) {
        if (GROUPS > 1)
            count_tile(team, keys, count, shift, next);
        team.for_members([&](int digit) {
            int32 place = places[digit * tiles + team.number];
            for (int group = 0; group < GROUPS; ++group) {
                const int32 seen = GROUPS > 1 ? next[group * DIGITS + digit] : 0;
                next[group * DIGITS + digit] = place;
                place += seen;
            }
        });
        for (int row = 0; row < ROWS; ++row)
            team.for_members([&](int member) {
                const Index i = key_of(team.number, row, member);
                const int32 place = take_in_order(next + member / LANES * DIGITS, digit_of(keys, i, count, shift));
                if (i < count) {
                    sorted_keys[place] = keys[i];
                    sorted_values[place] = values != nullptr ? values[i] : int32(i);
                }
            });
    }
}
