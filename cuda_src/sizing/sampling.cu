// Division of the rectangles of a quadtree on which a function is sampled (dmr/sizing/sampling). Rectangles, their
// quadrants and the places of samples are numbered as there:
//
//     2-+-3       6-7-8       the corners or quadrants of a rectangle, and all of its places: corners, middles of sides
//     | | |       | | |       and center
//     +-+-+       3-4-5
//     | | |       | | |
//     0-+-1       0-1-2
//
// One thread of the CPU does this, level by level: there are few rectangles, and the function is called in between.
#include "geometry/predicates.cuh"
#include "primitives/random.cuh"

constexpr int QUADRANTS = 4, PLACES = 9, NEW_PLACES = 5;
constexpr float64 MARGIN = 0x1p-6; // rectangles are enlarged by this part of their width: much more than any rounding

constexpr float64 NO_SIZE = -1.0; // at a place that no quadrant has as a corner

// The lower left corner of the extent, and the size of the quadrants of a level.
KERNEL_STRUCT(SampledLevel) {
    float64 left;
    float64 bottom;
    float64 width;
    float64 height;
};

// The places of a quadrant's corners among the nine of its rectangle.
INLINE int place_of_corner(int quadrant, int corner) {
    return quadrant % 2 + corner % 2 + 3 * (quadrant / 2 + corner / 2);
}

INLINE int place_corner(int place) { return place / 2 - place / 6; } // of the places 0, 2, 6 and 8
INLINE int new_place(int k) { return k + 1 + (k > 0) + (k > 3); }    // 1, 3, 4, 5 and 7

INLINE float64 least_of(float64 a, float64 b) { return a < b ? a : b; }
INLINE float64 most_of(float64 a, float64 b) { return a < b ? b : a; }

// flags[i] = 1 for the rectangles that are wider than `coarsest` sizes at their corners; or of which the samples
// deviate by more than `error` from those of their parent, and that are wider than `finest` sizes.
KERNEL(choose_divided, const int32 *corners, const float64 *values, const float64 *deviations, float64 width,
       float64 coarsest, float64 finest, float64 error, int32 *flags) {
    for (const Index i : launch) {
        float64 least = INFINITE;
        for (int k = 0; k < QUADRANTS; ++k) {
            const float64 size = values[corners[QUADRANTS * i + k]];
            least = size < least ? size : least; // NaN is ignored
        }
        flags[i] = width > coarsest * least || (deviations[i] > error && width > finest * least);
    }
}

// The range of one coordinate in the lower and upper halves of a rectangle, slightly enlarged, compared with an edge.
struct Halves {
    bool along[2];             // whether the edge's range meets that of the half
    float64 least[2], most[2]; // cross products of the edge with the ends of the half

    METHOD Halves(float64 low, float64 place, float64 size, float64 one, float64 other, float64 way) {
        for (int half = 0; half < 2; ++half) {
            const float64 begin = low + (place + half) * size;
            const float64 from = begin - MARGIN * size, to = begin + (1 + MARGIN) * size;
            along[half] = most_of(one, other) >= from && least_of(one, other) <= to;
            const float64 at_from = (from - one) * way, at_to = (to - one) * way;
            least[half] = least_of(at_from, at_to), most[half] = most_of(at_from, at_to);
        }
    }
};

// Finds the quadrants that edges may cross: meets = 1 for these. A rectangle meets the domain; so all quadrants do if
// no edge crosses it. The others may lie outside.
//
// rectangles, edges: pairs of a rectangle and an edge that may cross it.
// row_of: by rectangle: its row among those that are divided, or -1.
// places: by row: column and row of the rectangle.
// meets: by row and quadrant; is_crossed: by row. Both start with 0.
// crossed, crossing: receive the pairs of a quadrant (4 * row + quadrant) and an edge; unsure: the quadrants that may
// lie outside; counts: how many pairs and how many such quadrants there are.
KERNEL(find_crossed_quadrants, const int32 *rectangles, const int32 *edges, int64 pairs, const int32 *row_of,
       const int32 *places, int64 divided, const Point *start, const Point *end, SampledLevel level, int32 *meets,
       int32 *is_crossed, int32 *crossed, int32 *crossing, int32 *unsure, int32 *counts) {
    for ([[maybe_unused]] const Index once : launch) {
        int32 found = 0, others = 0;
        for (Index i = 0; i < pairs; ++i) {
            const int32 row = row_of[rectangles[i]];
            if (row < 0)
                continue;
            is_crossed[row] = 1;
            const Point a = start[edges[i]], b = end[edges[i]];
            const Halves x(level.left, 2.0 * places[2 * row], level.width, a.x, b.x, b.y - a.y);
            const Halves y(level.bottom, 2.0 * places[2 * row + 1], level.height, a.y, b.y, b.x - a.x);
            for (int quadrant = 0; quadrant < QUADRANTS; ++quadrant) {
                const int right = quadrant % 2, up = quadrant / 2;
                // The corners of a quadrant lie on both sides of the line through the edge.
                if (!(x.along[right] && y.along[up] && x.least[right] <= y.most[up] && x.most[right] >= y.least[up]))
                    continue;
                meets[QUADRANTS * row + quadrant] = 1;
                crossed[found] = QUADRANTS * row + quadrant;
                crossing[found++] = edges[i];
            }
        }
        for (Index quadrant = 0; quadrant < QUADRANTS * divided; ++quadrant) {
            if (!is_crossed[quadrant / QUADRANTS])
                meets[quadrant] = 1;
            else if (!meets[quadrant])
                unsure[others++] = int32(quadrant);
        }
        counts[0] = found, counts[1] = others;
    }
}

// Numbers the quadrants that meet the domain, row by row, and finds the new places at their corners. Several rectangles
// share a place: it is listed once.
//
// meets, places: as above; corners: by row: the samples at the corners of the rectangle.
// nodes: the number of the first quadrant; row_bits: of the numbers of rows in the whole extent.
// children: receives the numbers of quadrants, -1 for those outside.
// numbers: by row and place: receives the samples at corners, and -2 - k for the k-th new place; -1 for no place.
// table, owners, mask: a hash table of places; the keys in the table start with 0.
// keys: receives the new places, the bits of the column before those of the row; counts: how many quadrants and new
// places there are.
KERNEL(number_quadrants, const int32 *meets, const int32 *places, const int32 *corners, int64 divided, int64 nodes,
       int32 row_bits, int32 *children, int32 *numbers, uint64 *table, int32 *owners, int64 mask, int64 *keys,
       int32 *counts) {
    for ([[maybe_unused]] const Index once : launch) {
        int32 made = 0, found = 0;
        for (Index row = 0; row < divided; ++row) {
            bool needed[PLACES] = {};
            for (int quadrant = 0; quadrant < QUADRANTS; ++quadrant) {
                const bool is_met = meets[QUADRANTS * row + quadrant] != 0;
                children[QUADRANTS * row + quadrant] = is_met ? int32(nodes + made++) : -1;
                for (int corner = 0; corner < QUADRANTS; ++corner)
                    needed[place_of_corner(quadrant, corner)] |= is_met;
            }
            int32 *const at = numbers + PLACES * row;
            for (int place = 0; place < PLACES; ++place) {
                at[place] = -1;
                if (place % 2 == 0 && place != 4) { // a corner of the rectangle
                    at[place] = corners[QUADRANTS * row + place_corner(place)];
                } else if (needed[place]) {
                    const int64 column = 2 * int64(places[2 * row]) + place % 3;
                    const int64 key = column << row_bits | (2 * int64(places[2 * row + 1]) + place / 3);
                    int64 slot = int64(mixed(uint64(key)) & uint64(mask));
                    while (table[slot] != 0 && table[slot] != uint64(key) + 1)
                        slot = (slot + 1) & mask;
                    if (table[slot] == 0) {
                        table[slot] = uint64(key) + 1;
                        owners[slot] = found;
                        keys[found++] = key;
                    }
                    at[place] = -2 - owners[slot];
                }
            }
        }
        counts[0] = made, counts[1] = found;
    }
}

// The largest relative difference between the sizes at new places and what those at the corners of a rectangle give
// there. It is infinite if some of these are infinite, but not all: a bound ends somewhere in the rectangle.
INLINE float64 deviation_of(const float64 *corner, const float64 *found) {
    const float64 one = 0.5 * corner[0], two = 0.5 * corner[1], three = 0.5 * corner[2], four = 0.5 * corner[3];
    const float64 middle = 0.5 * one + 0.5 * two + 0.5 * three + 0.5 * four;
    const float64 given[NEW_PLACES] = {one + two, one + three, middle, two + four, three + four};
    float64 most = 0.0;
    int infinite = 0;
    for (int k = 0; k < NEW_PLACES; ++k) {
        if (found[k] == NO_SIZE || (found[k] == INFINITE && given[k] == INFINITE))
            continue;
        const float64 difference = magnitude(found[k] - given[k]) / (found[k] < given[k] ? found[k] : given[k]);
        most = difference > most ? difference : most; // NaN is ignored
    }
    for (int k = 0; k < QUADRANTS; ++k)
        infinite += corner[k] == INFINITE;
    return infinite % QUADRANTS ? INFINITE : most;
}

// Gives the new places their samples, and the quadrants theirs, and the deviation of these in their rectangle.
//
// rank: of each new place in the order in which they were sampled, from `first` on; values: of the samples.
KERNEL(complete_quadrants, const int32 *rank, int32 first, const float64 *values, const int32 *places,
       const int32 *children, int64 nodes, int32 *numbers, int32 *made_places, int32 *made_corners,
       float64 *deviations) {
    for (const Index row : launch) {
        int32 *const at = numbers + PLACES * row;
        for (int place = 0; place < PLACES; ++place)
            at[place] = at[place] < -1 ? first + rank[-2 - at[place]] : at[place];
        float64 corner[QUADRANTS], found[NEW_PLACES];
        for (int k = 0; k < QUADRANTS; ++k)
            corner[k] = values[at[place_of_corner(k, k)]];
        for (int k = 0; k < NEW_PLACES; ++k)
            found[k] = at[new_place(k)] < 0 ? NO_SIZE : values[at[new_place(k)]];
        const float64 deviation = deviation_of(corner, found);
        for (int quadrant = 0; quadrant < QUADRANTS; ++quadrant) {
            if (children[QUADRANTS * row + quadrant] < 0)
                continue;
            const int64 made = children[QUADRANTS * row + quadrant] - nodes;
            made_places[2 * made] = 2 * places[2 * row] + quadrant % 2;
            made_places[2 * made + 1] = 2 * places[2 * row + 1] + quadrant / 2;
            for (int k = 0; k < QUADRANTS; ++k)
                made_corners[QUADRANTS * made + k] = at[place_of_corner(quadrant, k)];
            deviations[made] = deviation;
        }
    }
}
