// The order of insertion: equal points are found, and the others drawn into levels at random.
#include "geometry/curve.cuh"
#include "geometry/predicates.cuh"
#include "primitives/hash.cuh"

constexpr Index LOOK_BACK = 64; // points with the same key that are compared with one of them

// first[i] = the place of the first point equal to the i-th along the curve; `keys` are their sorted keys. Sets
// `crowded` to 1 if more than LOOK_BACK points share a key: their order is to be found otherwise.
KERNEL(find_equal, const Point *points, const uint32 *keys, int32 *first, int32 *crowded) {
    for (const Index i : launch) {
        const Index last = i > LOOK_BACK ? i - LOOK_BACK : 0;
        Index earliest = i, j = i;
        while (j > last && keys[j - 1] == keys[i]) {
            --j;
            if (same_place(points[j], points[i]))
                earliest = j;
        }
        first[i] = int32(earliest);
        if (j == last && last > 0 && keys[j - 1] == keys[i])
            racing_store(crowded, 1);
    }
}

// A double as a whole number of the same order; both zeros are equal.
INLINE uint64 ordered_bits(float64 x) {
    const uint64 bits = bits_of(x + 0.0);
    return bits >> 63 ? ~bits : bits | uint64(1) << 63;
}

// Parts of the coordinates of listed points, as keys: 0 and 1 the lower and upper half of y, 2 and 3 those of x.
KERNEL(coordinate_keys, const Point *points, const int32 *order, int32 part, uint32 *keys) {
    for (const Index i : launch) {
        const Point p = points[order[i]];
        keys[i] = uint32(ordered_bits(part < 2 ? p.y : p.x) >> (part % 2 ? 32 : 0));
    }
}

// flags[i] = 1 if the i-th point of an order differs from the one before it.
KERNEL(flag_different, const Point *points, const int32 *order, int32 *flags) {
    for (const Index i : launch)
        flags[i] = i == 0 || !same_place(points[order[i - 1]], points[order[i]]);
}

// first[order[i]] = the point of the order at which the run that contains i starts; `runs` is the scan of the flags.
KERNEL(name_runs, const int32 *order, const int32 *runs, const int32 *heads, int32 *first) {
    for (const Index i : launch)
        first[order[i]] = order[heads[runs[i + 1] - 1]];
}

// Positions along a curve through the plane of ranks: it adapts to clusters of any density.
KERNEL(rank_keys, const int32 *rank_x, const int32 *rank_y, float64 scale, uint32 *keys) {
    for (const Index i : launch)
        keys[i] = hilbert_index<uint32>(curve_cell(rank_x[i], 0.0, scale, CURVE_LEVELS),
                                        curve_cell(rank_y[i], 0.0, scale, CURVE_LEVELS), CURVE_LEVELS);
}

KERNEL(flag_firsts, const int32 *first, int32 *flags) {
    for (const Index i : launch)
        flags[i] = first[i] == i;
}

// level[i] = the number of bounds up to a hash of vertex i: vertices are drawn into levels whose sizes the bounds
// decide.
KERNEL(draw_levels, const int32 *vertices, const uint32 *bounds, int32 count, uint32 *level) {
    for (const Index i : launch) {
        const uint32 drawn = hash32(uint32(vertices[i]));
        int32 low = 0, high = count;
        while (low < high) {
            const int32 middle = (low + high) / 2;
            if (bounds[middle] <= drawn)
                low = middle + 1;
            else
                high = middle;
        }
        level[i] = uint32(low);
    }
}

// The first vertex of the order that is not on the line through vertices a and b: its place, by atomic minimum.
KERNEL(find_third, const Point *points, const int32 *order, int32 a, int32 b, int32 *place) {
    for (const Index i : launch)
        if (i < racing_load(place) && orient2d(points[a], points[b], points[order[i]]) != 0)
            atomic_min(place, int32(i));
}

// composed[i] = second[first[i]].
KERNEL(compose, const int32 *first, const int32 *second, int32 *composed) {
    for (const Index i : launch)
        composed[i] = second[first[i]];
}
