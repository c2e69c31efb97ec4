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
INLINE void count_tile(const Team &team, Index tile, const uint32 *keys, Index count, int32 shift, int32 *seen) {
    team.for_members([&](int member) {
        for (int group = 0; group < GROUPS; ++group)
            seen[group * DIGITS + member] = 0;
    });
    for (int row = 0; row < ROWS; ++row)
        team.for_members([&](int member) {
            const int digit = digit_of(keys, key_of(tile, row, member), count, shift);
            take_in_order(seen + member / LANES * DIGITS, digit);
        });
}

// The number of a tile's keys with a digit.
INLINE int32 sum_of_groups(const int32 *seen, int digit) {
    int32 sum = 0;
    for (int group = 0; group < GROUPS; ++group)
        sum += seen[group * DIGITS + digit];
    return sum;
}

TEAM_KERNEL(count_digits, const uint32 *keys, int64 count, int32 shift, int64 tiles, int32 *counts) {
    TEAM_SHARED(int32, seen, GROUPS * DIGITS);
    for (const Team team : launch.teams()) {
        count_tile(team, team.number, keys, count, shift, seen);
        team.for_members([&](int digit) { counts[digit * tiles + team.number] = sum_of_groups(seen, digit); });
    }
}

// Moves the keys of a tile and their values to their places. place(digit) is the first place of the tile's run of a
// digit; without values, the indices of the keys are the values.
template <class PlaceOf>
INLINE void scatter_tile(const Team &team, Index tile, const uint32 *keys, const int32 *values, Index count,
                         int32 shift, uint32 *sorted_keys, int32 *sorted_values, int32 *next, PlaceOf place_of) {
    if (GROUPS > 1)
        count_tile(team, tile, keys, count, shift, next);
    team.for_members([&](int digit) {
        int32 place = place_of(digit);
        for (int group = 0; group < GROUPS; ++group) {
            const int32 seen = GROUPS > 1 ? next[group * DIGITS + digit] : 0;
            next[group * DIGITS + digit] = place;
            place += seen;
        }
    });
    for (int row = 0; row < ROWS; ++row)
        team.for_members([&](int member) {
            const Index i = key_of(tile, row, member);
            const int32 place = take_in_order(next + member / LANES * DIGITS, digit_of(keys, i, count, shift));
            if (i < count) {
                sorted_keys[place] = keys[i];
                sorted_values[place] = values != nullptr ? values[i] : int32(i);
            }
        });
}

TEAM_KERNEL(scatter_digits, const uint32 *keys, const int32 *values, int64 count, int32 shift, int64 tiles,
            const int32 *places, uint32 *sorted_keys, int32 *sorted_values) {
    TEAM_SHARED(int32, next, GROUPS * DIGITS); // the next place of each group's keys of a digit
    for (const Team team : launch.teams())
        scatter_tile(team, team.number, keys, values, count, shift, sorted_keys, sorted_values, next,
                     [&](int digit) { return places[digit * tiles + team.number]; });
}

// All passes over few tiles, by one team: one launch instead of three per pass. The result is in the first half of the
// buffers, 2 * count each, if the number of passes is odd, otherwise in the second half.
TEAM_KERNEL(sort_few_tiles, const uint32 *keys, const int32 *values, int64 count, int32 passes, uint32 *key_buffer,
            int32 *value_buffer) {
    TEAM_SHARED(int32, next, GROUPS * DIGITS);
    TEAM_SHARED(int32, places, DIGITS); // of the next tile's run of each digit
    const Index tiles = (count + TILE - 1) / TILE;
    for (const Team team : launch.teams()) {
        const uint32 *from = keys;
        const int32 *given = values;
        for (int pass = 0; pass < passes; ++pass) {
            const int32 shift = 8 * pass;
            uint32 *const sorted = key_buffer + (pass % 2 ? count : 0);
            int32 *const sorted_values = value_buffer + (pass % 2 ? count : 0);
            team.for_members([&](int digit) { places[digit] = 0; });
            for (Index tile = 0; tile < tiles; ++tile) {
                count_tile(team, tile, from, count, shift, next);
                team.for_members([&](int digit) { places[digit] += sum_of_groups(next, digit); });
            }
            if (team.leads()) {
                int32 before = 0;
                for (int digit = 0; digit < DIGITS; ++digit) {
                    const int32 here = places[digit];
                    places[digit] = before;
                    before += here;
                }
            }
            team.barrier();
            for (Index tile = 0; tile < tiles; ++tile) {
                scatter_tile(team, tile, from, given, count, shift, sorted, sorted_values, next,
                             [&](int digit) { return places[digit]; });
                // The last group's next places are those after this tile's runs.
                team.for_members([&](int digit) { places[digit] = next[(GROUPS - 1) * DIGITS + digit]; });
            }
            from = sorted;
            given = sorted_values;
        }
    }
}
