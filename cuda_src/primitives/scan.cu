// Prefix sums, and compaction by them. The results do not depend on how the work is cut, because integer addition is
// associative and every output place follows from a scan.
#include "primitives/extremes.cuh"

constexpr int ITEMS = 8;                // items per member: one 32-byte sector of int32
constexpr int TILE = TEAM_SIZE * ITEMS; // items per team

template <class T> INLINE T sum_of_items(const T *values, Index begin, Index count) {
    T sum = 0;
    for (int item = 0; item < ITEMS; ++item)
        if (begin + item < count)
            sum += values[begin + item];
    return sum;
}

// The number of a team's members that have items in a tile, at least one. A tile that is nearly empty, or that lies
// beyond a count which only the device knows, therefore costs next to nothing.
INLINE int members_with_items(Index tile, Index count) {
    const Index members = (count - tile * TILE + ITEMS - 1) / ITEMS;
    return members < 1 ? 1 : (members < TEAM_SIZE ? int(members) : TEAM_SIZE);
}

// Inclusive scan of the partial sums of a team's first members, in place, in log2(members) steps (Hillis and Steele
// 1986).
template <class T> INLINE void scan_partials(const Team &team, T *partial, T *scratch, int members) {
    for (int reach = 1; reach < members; reach *= 2) {
        team.for_members([&](int member) {
            scratch[member] = member >= reach ? partial[member] + partial[member - reach] : partial[member];
        });
        team.for_members([&](int member) { partial[member] = scratch[member]; });
    }
}

// Sets partial[member] to the sum of the member's items of a tile.
template <class T> INLINE void sum_items(const Team &team, Index tile, const T *values, Index count, T *partial) {
    team.for_members(
        [&](int member) { partial[member] = sum_of_items(values, tile * TILE + Index(member) * ITEMS, count); });
}

template <class T>
INLINE void sum_one_tile(const Team &team, const T *values, Index count, T *tile_sums, T *partial, T *scratch) {
    const int members = members_with_items(team.number, count);
    sum_items(team, team.number, values, count, partial);
    scan_partials(team, partial, scratch, members);
    team.for_members([&](int member) {
        if (member == members - 1)
            tile_sums[team.number] = partial[member];
    });
}

// Scans a tile, whose sums begin at `before`; partial[last member with items] is then the sum of the tile.
template <class T>
INLINE void scan_one_tile(const Team &team, Index tile, const T *values, Index count, T before, T *offsets, T *partial,
                          T *scratch) {
    sum_items(team, tile, values, count, partial);
    scan_partials(team, partial, scratch, members_with_items(tile, count));
    team.for_members([&](int member) {
        T running = before + (member ? partial[member - 1] : T(0));
        const Index begin = tile * TILE + Index(member) * ITEMS;
        for (int item = 0; item < ITEMS; ++item)
            if (begin + item < count) {
                const T value = values[begin + item]; // read first: offsets may alias values
                offsets[begin + item] = running;
                running += value;
            }
        if ((begin < count && begin + ITEMS >= count) || (count == 0 && begin == 0))
            offsets[count] = running; // one past the end: the total
    });
}

// tile_sums[tile] = sum of values in the tile.
TEAM_KERNEL(sum_tiles_int32, const int32 *values, Count count, int32 *tile_sums) {
    TEAM_SHARED(int32, partial, TEAM_SIZE);
    TEAM_SHARED(int32, scratch, TEAM_SIZE);
    for (const Team team : launch.teams())
        sum_one_tile(team, values, count, tile_sums, partial, scratch);
}

TEAM_KERNEL(sum_tiles_int64, const int64 *values, Count count, int64 *tile_sums) {
    TEAM_SHARED(int64, partial, TEAM_SIZE);
    TEAM_SHARED(int64, scratch, TEAM_SIZE);
    for (const Team team : launch.teams())
        sum_one_tile(team, values, count, tile_sums, partial, scratch);
}

// offsets[i] = tile_offsets[tile of i] + sum of the tile's values before i; offsets has count + 1 entries. tile_offsets
// is null for a single tile.
TEAM_KERNEL(scan_tiles_int32, const int32 *values, Count count, const int32 *tile_offsets, int32 *offsets) {
    TEAM_SHARED(int32, partial, TEAM_SIZE);
    TEAM_SHARED(int32, scratch, TEAM_SIZE);
    for (const Team team : launch.teams())
        scan_one_tile(team, team.number, values, count, tile_offsets != nullptr ? tile_offsets[team.number] : int32(0),
                      offsets, partial, scratch);
}

// Kernels are no templates, because Python launches them by name; the work itself is one function.
TEAM_KERNEL(scan_tiles_int64, const int64 *values, Count count, const int64 *tile_offsets, int64 *offsets) {
    TEAM_SHARED(int64, partial, TEAM_SIZE);
    TEAM_SHARED(int64, scratch, TEAM_SIZE);
    for (const Team team : launch.teams())
        scan_one_tile(team, team.number, values, count, tile_offsets != nullptr ? tile_offsets[team.number] : int64(0),
                      offsets, partial, scratch);
}

// Scans all tiles, of which there are few, by one team, one after the other: one launch instead of three.
TEAM_KERNEL(scan_few_tiles_int32, const int32 *values, int64 count, int32 *offsets) {
    TEAM_SHARED(int32, partial, TEAM_SIZE);
    TEAM_SHARED(int32, scratch, TEAM_SIZE);
    for (const Team team : launch.teams()) {
        int32 before = 0;
        for (Index tile = 0; tile * TILE < count; ++tile) {
            scan_one_tile(team, tile, values, count, before, offsets, partial, scratch);
            before += partial[members_with_items(tile, count) - 1];
            team.barrier(); // the next tile overwrites it
        }
    }
}

// Float sums in one fixed tree: each member sums its items in order, then the team sums its members pairwise.
TEAM_KERNEL(sum_tiles_float64, const float64 *values, int64 count, float64 *tile_sums) {
    TEAM_SHARED(float64, partial, TEAM_SIZE);
    for (const Team team : launch.teams()) {
        sum_items(team, team.number, values, count, partial);
        for (int reach = TEAM_SIZE / 2; reach > 0; reach /= 2)
            team.for_members([&](int member) {
                if (member < reach)
                    partial[member] += partial[member + reach];
            });
        if (team.leads())
            tile_sums[team.number] = partial[0];
        team.barrier();
    }
}

// The minimum of some values and the maximum of others, per tile.
TEAM_KERNEL(minmax_tiles_float64, const float64 *low_values, const float64 *high_values, int64 count, float64 *tile_low,
            float64 *tile_high) {
    TEAM_SHARED(float64, low, TEAM_SIZE);
    TEAM_SHARED(float64, high, TEAM_SIZE);
    find_extremes(launch, low, high, tile_low, tile_high, [&](Index tile, int member, float64 &least, float64 &most) {
        const Index begin = tile * TILE + Index(member) * ITEMS;
        least = low_values[tile * TILE];
        most = high_values[tile * TILE];
        for (int item = 0; item < ITEMS; ++item)
            if (begin + item < count) {
                least = low_values[begin + item] < least ? low_values[begin + item] : least;
                most = high_values[begin + item] > most ? high_values[begin + item] : most;
            }
    });
}

// kept[offsets[i]] = values[i] where flags[i] is 1; offsets is the exclusive scan of flags.
KERNEL(scatter_flagged, const int32 *values, const int32 *flags, const int32 *offsets, int32 *kept) {
    for (const Index i : launch)
        if (flags[i])
            kept[offsets[i]] = values[i];
}

// The same for the indices themselves: kept[offsets[i]] = i.
KERNEL(scatter_indices, const int32 *flags, const int32 *offsets, int32 *kept) {
    for (const Index i : launch)
        if (flags[i])
            kept[offsets[i]] = int32(i);
}

KERNEL(fill_indices, int32 *values) {
    for (const Index i : launch)
        values[i] = int32(i);
}
