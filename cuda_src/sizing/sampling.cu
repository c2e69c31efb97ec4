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
#include "locate/containing.cuh"
#include "primitives/random.cuh"

constexpr int QUADRANTS = 4, PLACES = 9, NEW_PLACES = 5;
constexpr float64 MARGIN = 0x1p-6; // rectangles are enlarged by this part of their width: much more than any rounding

constexpr float64 NO_SIZE = -1.0; // at a place that no quadrant has as a corner

// The lower left corner of the extent, the size of the quadrants of a level, and how many columns and rows of them the
// domain has.
KERNEL_STRUCT(SampledLevel) {
    float64 left;
    float64 bottom;
    float64 width;
    float64 height;
    int64 columns;
    int64 rows;

    // Whether a quadrant of a rectangle, by its column and row, may meet the domain.
    METHOD bool has(const int32 *place, int quadrant) const {
        return 2 * int64(place[0]) + quadrant % 2 < columns && 2 * int64(place[1]) + quadrant / 2 < rows;
    }
};

// The places of a quadrant's corners among the nine of its rectangle.
INLINE int place_of_corner(int quadrant, int corner) {
    return quadrant % 2 + corner % 2 + 3 * (quadrant / 2 + corner / 2);
}

INLINE int place_corner(int place) { return place / 2 - place / 6; } // of the places 0, 2, 6 and 8
INLINE int new_place(int k) { return k + 1 + (k > 0) + (k > 3); }    // 1, 3, 4, 5 and 7

// The range of one coordinate in the lower and upper halves of a rectangle, slightly enlarged, compared with an edge.
struct Halves {
    bool along[2];             // whether the edge's range meets that of the half
    float64 least[2], most[2]; // cross products of the edge with the ends of the half

    METHOD Halves(float64 low, float64 place, float64 size, float64 one, float64 other, float64 way) {
        for (int half = 0; half < 2; ++half) {
            const float64 begin = low + (place + half) * size;
            const float64 from = begin - MARGIN * size, to = begin + (1 + MARGIN) * size;
            along[half] = greater(one, other) >= from && lesser(one, other) <= to;
            const float64 at_from = (from - one) * way, at_to = (to - one) * way;
            least[half] = lesser(at_from, at_to), most[half] = greater(at_from, at_to);
        }
    }
};

// The rectangles of a level that are divided, row by row.
KERNEL_STRUCT(DividedRectangles) {
    int32 *rectangle;  // by row: the number of the rectangle
    int32 *places;     // by row: its column and row
    int32 *corners;    // by row: the samples at its corners
    int32 *is_crossed; // by row: whether an edge may cross it
    int32 *meets;      // by row and quadrant: whether that may meet the domain
};

// The conditions under which a rectangle is divided.
KERNEL_STRUCT(DivisionRule) {
    float64 width;    // of the rectangles; infinite where all are divided
    float64 coarsest; // widest rectangle, in sizes at its corners,
    float64 finest;   // and narrowest one that is divided because of its deviation
    float64 error;    // largest deviation from the parent's samples
};

// Lists the rectangles that are divided, and finds their quadrants that edges may cross: meets = 1 for these. A
// rectangle meets the domain; so all quadrants do if no edge crosses it. The others may lie outside.
//
// rectangles_count: of the level; places, corners, deviations: of these; values: of the samples.
// rectangles, edges: pairs of a rectangle and an edge that may cross it; rows: memory for the rows of rectangles.
// crossed, crossing: receive the pairs of a quadrant (4 * row + quadrant) and an edge; unsure: the quadrants that may
// lie outside; counts: how many rows, pairs and such quadrants there are.
// children: receives four times -1 per rectangle.
// deviation: receives the largest one of a rectangle that is not divided, if any is.
KERNEL(divide_rectangles, int64 rectangles_count, const int32 *places, const int32 *corners, const float64 *deviations,
       const float64 *values, DivisionRule rule, const int32 *rectangles, const int32 *edges, int64 pairs,
       const Point *start, const Point *end, SampledLevel level, DividedRectangles divided, int32 *rows, int32 *crossed,
       int32 *crossing, int32 *unsure, int32 *children, int32 *counts, float64 *deviation) {
    for ([[maybe_unused]] const Index once : launch) {
        int32 count = 0, found = 0, others = 0;
        float64 most = 0.0;
        for (Index i = 0; i < rectangles_count; ++i) {
            bool is_divided = rule.width == INFINITE;
            if (!is_divided) {
                float64 least = INFINITE;
                for (int k = 0; k < QUADRANTS; ++k) {
                    const float64 size = values[corners[QUADRANTS * i + k]];
                    least = size < least ? size : least; // NaN is ignored
                }
                is_divided = rule.width > rule.coarsest * least ||
                             (deviations[i] > rule.error && rule.width > rule.finest * least);
            }
            rows[i] = is_divided ? count : -1;
            for (int k = 0; k < QUADRANTS; ++k)
                children[QUADRANTS * i + k] = -1;
            if (!is_divided) {
                most = deviations[i] > most ? deviations[i] : most;
                continue;
            }
            divided.rectangle[count] = int32(i);
            divided.is_crossed[count] = 0;
            divided.places[2 * count] = places[2 * i], divided.places[2 * count + 1] = places[2 * i + 1];
            for (int k = 0; k < QUADRANTS; ++k) {
                divided.corners[QUADRANTS * count + k] = corners[QUADRANTS * i + k];
                divided.meets[QUADRANTS * count + k] = 0;
            }
            ++count;
        }
        for (Index i = 0; i < pairs; ++i) {
            const int32 row = rows[rectangles[i]];
            if (row < 0)
                continue;
            divided.is_crossed[row] = 1;
            const Point a = start[edges[i]], b = end[edges[i]];
            const Halves x(level.left, 2.0 * divided.places[2 * row], level.width, a.x, b.x, b.y - a.y);
            const Halves y(level.bottom, 2.0 * divided.places[2 * row + 1], level.height, a.y, b.y, b.x - a.x);
            for (int quadrant = 0; quadrant < QUADRANTS; ++quadrant) {
                const int right = quadrant % 2, up = quadrant / 2;
                // The corners of a quadrant lie on both sides of the line through the edge.
                if (!(x.along[right] && y.along[up] && x.least[right] <= y.most[up] && x.most[right] >= y.least[up]) ||
                    !level.has(divided.places + 2 * row, quadrant))
                    continue;
                divided.meets[QUADRANTS * row + quadrant] = 1;
                crossed[found] = QUADRANTS * row + quadrant;
                crossing[found++] = edges[i];
            }
        }
        for (Index quadrant = 0; quadrant < QUADRANTS * count; ++quadrant) {
            if (!level.has(divided.places + 2 * (quadrant / QUADRANTS), int(quadrant % QUADRANTS)))
                continue;
            if (!divided.is_crossed[quadrant / QUADRANTS])
                divided.meets[quadrant] = 1;
            else if (!divided.meets[quadrant])
                unsure[others++] = int32(quadrant);
        }
        counts[0] = count, counts[1] = found, counts[2] = others;
        deviation[0] = most;
    }
}

// meets[quadrant] = 1 for those unsure quadrants of divided rectangles whose center is in a triangle of the domain.
//
// level: that of the quadrants; places: by row, the column and row of a rectangle.
KERNEL(locate_quadrants, const int32 *unsure, BoxTree triangles, SampledLevel level, const int32 *places,
       int32 *meets) {
    for (const Index i : launch) {
        const int32 row = unsure[i] / QUADRANTS, quadrant = unsure[i] % QUADRANTS;
        const Point center = {level.left + (2.0 * places[2 * row] + quadrant % 2 + 0.5) * level.width,
                              level.bottom + (2.0 * places[2 * row + 1] + quadrant / 2 + 0.5) * level.height};
        meets[unsure[i]] = containing_triangle(triangles, center) >= 0;
    }
}

// The places of samples: from 0 to 1 in the part of the extent that the domain fills, and not beyond the domain.
KERNEL_STRUCT(SampledPlaces) {
    float64 left;
    float64 bottom;
    float64 width;
    float64 height;
    float64 right; // of the domain
    float64 top;
    float64 step; // of the columns and rows of the quadrants

    METHOD Point at(int64 column, int64 row) const {
        return {lesser(left + float64(column) * step * width, right),
                lesser(bottom + float64(row) * step * height, top)};
    }
};

// Numbers the quadrants that meet the domain, row by row, and finds the new places at their corners. Several rectangles
// share a place: it is listed once.
//
// count: of the rows; nodes: the number of the first quadrant; first: that of the first new sample.
// row_bits: of the numbers of rows in the whole extent.
// children: by rectangle of the level: receives the numbers of quadrants, -1 for those outside.
// numbers: by row and place: receives the samples, -1 where there is none.
// table, owners, mask: memory for a hash table of places.
// points: receives the new places; counts: behind the three numbers before, how many quadrants and new places there
// are.
// crossed, crossed_count: quadrants that edges may cross, as 4 * row + quadrant; crossed_numbers: receives the number
// of each among the quadrants that are made.
KERNEL(number_quadrants, DividedRectangles divided, int64 count, int64 nodes, int64 first, int32 row_bits,
       SampledPlaces sampled, int32 *children, int32 *numbers, uint64 *table, int32 *owners, int64 mask, Point *points,
       int32 *counts, const int32 *crossed, int64 crossed_count, int32 *crossed_numbers) {
    for ([[maybe_unused]] const Index once : launch) {
        int32 made = 0, found = 0;
        for (Index slot = 0; slot <= mask; ++slot)
            table[slot] = 0;
        for (Index row = 0; row < count; ++row) {
            bool needed[PLACES] = {};
            for (int quadrant = 0; quadrant < QUADRANTS; ++quadrant) {
                const bool is_met = divided.meets[QUADRANTS * row + quadrant] != 0;
                children[QUADRANTS * Index(divided.rectangle[row]) + quadrant] = is_met ? int32(nodes + made++) : -1;
                for (int corner = 0; corner < QUADRANTS; ++corner)
                    needed[place_of_corner(quadrant, corner)] |= is_met;
            }
            int32 *const at = numbers + PLACES * row;
            for (int place = 0; place < PLACES; ++place) {
                at[place] = -1;
                if (place % 2 == 0 && place != 4) { // a corner of the rectangle
                    at[place] = divided.corners[QUADRANTS * row + place_corner(place)];
                } else if (needed[place]) {
                    const int64 column = 2 * int64(divided.places[2 * row]) + place % 3;
                    const int64 line = 2 * int64(divided.places[2 * row + 1]) + place / 3;
                    const int64 key = column << row_bits | line;
                    int64 slot = int64(mixed(uint64(key)) & uint64(mask));
                    while (table[slot] != 0 && table[slot] != uint64(key) + 1)
                        slot = (slot + 1) & mask;
                    if (table[slot] == 0) {
                        table[slot] = uint64(key) + 1;
                        owners[slot] = found;
                        points[found++] = sampled.at(column, line);
                    }
                    at[place] = int32(first + owners[slot]);
                }
            }
        }
        counts[3] = made, counts[4] = found;
        for (Index i = 0; i < crossed_count; ++i) {
            const Index rectangle = divided.rectangle[crossed[i] / QUADRANTS];
            crossed_numbers[i] = int32(children[QUADRANTS * rectangle + crossed[i] % QUADRANTS] - nodes);
        }
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

// Gives the quadrants their places, their samples, and the deviation of these in their rectangle.
//
// values: of the samples; null where deviations are of no interest.
KERNEL(complete_quadrants, DividedRectangles divided, const float64 *values, const int32 *children, int64 nodes,
       const int32 *numbers, int32 *made_places, int32 *made_corners, float64 *deviations) {
    for (const Index row : launch) {
        const int32 *const at = numbers + PLACES * row, *const mine =
                                                            children + QUADRANTS * Index(divided.rectangle[row]);
        float64 deviation = 0.0;
        if (values) {
            float64 corner[QUADRANTS], found[NEW_PLACES];
            for (int k = 0; k < QUADRANTS; ++k)
                corner[k] = values[at[place_of_corner(k, k)]];
            for (int k = 0; k < NEW_PLACES; ++k)
                found[k] = at[new_place(k)] < 0 ? NO_SIZE : values[at[new_place(k)]];
            deviation = deviation_of(corner, found);
        }
        for (int quadrant = 0; quadrant < QUADRANTS; ++quadrant) {
            if (mine[quadrant] < 0)
                continue;
            const int64 made = mine[quadrant] - nodes;
            made_places[2 * made] = 2 * divided.places[2 * row] + quadrant % 2;
            made_places[2 * made + 1] = 2 * divided.places[2 * row + 1] + quadrant / 2;
            for (int k = 0; k < QUADRANTS; ++k)
                made_corners[QUADRANTS * made + k] = at[place_of_corner(quadrant, k)];
            deviations[made] = deviation;
        }
    }
}
