// A lattice of equilateral triangles in the interior of a domain, where one size is wanted. It is what a front makes
// that starts at a single edge; fronts from a round outline would become narrower, and lose points on their way.
#include "geometry/points.cuh"
#include "primitives/hash.cuh"

// Rows and columns of places. Row 0 lies on the x axis of a frame; odd rows are shifted by half the spacing.
//
//      .   .   .   .    row 1
//    .   .   .   .      row 0: columns 0, 1, 2, 3
//
// A span is a part of a row that lies in the domain.
KERNEL_STRUCT(Lattice) {
    float64 x; // origin of the frame
    float64 y;
    float64 along_x; // unit vector of its first axis
    float64 along_y;
    float64 spacing;
    float64 rise; // distance of two rows
    int64 lowest; // number of the first row
    int64 rows;
    int64 spans;
    const int32 *first_span; // by row, from the first one on: where its spans begin; one more at the end
    const int32 *row_of_span;
    const int32 *column;      // by span: its first column
    const int32 *first_place; // by span: number of its first place; one more at the end

    METHOD float64 shift(Index row) const { return row & 1 ? 0.5 : 0.0; }

    METHOD Point at(float64 column, Index row) const {
        const float64 u = spacing * (column + shift(row)), w = rise * row;
        return {x + (u * along_x - w * along_y), y + (u * along_y + w * along_x)};
    }

    METHOD Point in_frame(Point p) const {
        const float64 dx = p.x - x, dy = p.y - y;
        return {dx * along_x + dy * along_y, dy * along_x - dx * along_y};
    }

    // The span of a place: the last one that begins at or before it. `guess`: where it may be.
    METHOD Index span_of(Index place, Index guess) const {
        if (first_place[guess] <= place && place < first_place[guess + 1])
            return guess;
        Index low = 0, high = spans;
        while (high - low > 1) {
            const Index middle = low + (high - low) / 2;
            if (first_place[middle] <= place)
                low = middle;
            else
                high = middle;
        }
        return low;
    }

    // The place in a row and column, or -1.
    METHOD Index place_at(Index row, Index of_row) const {
        if (row < lowest || row >= lowest + rows)
            return -1;
        for (Index span = first_span[row - lowest]; span < first_span[row - lowest + 1]; ++span) {
            const Index place = first_place[span] + (of_row - column[span]);
            if (of_row >= column[span] && place < first_place[span + 1])
                return place;
        }
        return -1;
    }
};

constexpr float64 OFFSET = 0x1p-20; // of places, in spacings

// The places of a lattice, all flagged. They are off by a pseudorandom millionth of the spacing: many sets of four
// exact places lie on a circle, and their in-circle tests would need exact arithmetic.
KERNEL(list_lattice, Lattice lattice, Point *places, int32 *flags) {
    Index span = 0; // a CPU's next place is in the same one
    for (const Index i : launch) {
        span = lattice.span_of(i, span);
        const Point p =
            lattice.at(float64(lattice.column[span] + (i - lattice.first_place[span])), lattice.row_of_span[span]);
        const uint32 hash = hash32(uint32(i));
        const float64 unit = OFFSET * 0x1p-16 * lattice.spacing;
        places[i] = {p.x + unit * (float64(hash & 0xffff) - 0x1p15), p.y + unit * (float64(hash >> 16) - 0x1p15)};
        flags[i] = 1;
    }
}

// The number of the first row or column at or above a coordinate, within [least, most].
INLINE Index first_from(float64 coordinate, Index least, Index most) {
    if (!(coordinate > float64(least)))
        return least;
    if (coordinate >= float64(most))
        return most;
    const Index below = Index(coordinate); // towards zero
    return float64(below) < coordinate ? below + 1 : below;
}

// Removes the flags of places that are nearer than `distance` to a piece of the outline.
KERNEL(unflag_near_pieces, Lattice lattice, const Point *points, const int32 *pieces, float64 distance, int32 *flags) {
    for (const Index i : launch) {
        const Point a = lattice.in_frame(points[pieces[2 * i]]), b = lattice.in_frame(points[pieces[2 * i + 1]]);
        const float64 left = (a.x < b.x ? a.x : b.x) - distance, right = (a.x < b.x ? b.x : a.x) + distance;
        const float64 bottom = (a.y < b.y ? a.y : b.y) - distance, top = (a.y < b.y ? b.y : a.y) + distance;
        const Index end = lattice.lowest + lattice.rows;
        for (Index row = first_from(bottom / lattice.rise, lattice.lowest, end);
             row < first_from(top / lattice.rise, lattice.lowest, end); ++row)
            for (Index span = lattice.first_span[row - lattice.lowest];
                 span < lattice.first_span[row - lattice.lowest + 1]; ++span) {
                const Index first = lattice.column[span], place = lattice.first_place[span];
                const Index last = first + lattice.first_place[span + 1] - place;
                const float64 shift = lattice.shift(row);
                const Index stop = first_from(right / lattice.spacing - shift, first, last);
                for (Index column = first_from(left / lattice.spacing - shift, first, last); column < stop; ++column) {
                    const Point p = {lattice.spacing * (column + shift), lattice.rise * row};
                    if (squared_distance(p, a, b) < distance * distance)
                        racing_store(&flags[place + (column - first)], 0);
                }
            }
    }
}

// flags[i] = 1 for places whose size differs by at most `most`.
KERNEL(flag_equal_sizes, const float64 *sizes, float64 size, float64 most, int32 *flags) {
    for (const Index i : launch)
        flags[i] = magnitude(sizes[i] - size) <= most;
}

// nodes[i] = the place listed[i].
KERNEL(take_places, const int32 *listed, const Point *places, Point *nodes) {
    for (const Index i : launch)
        nodes[i] = places[listed[i]];
}

// marks[p] = 1 for the places of nodes, which are listed among listed places.
KERNEL(mark_lattice_nodes, const int32 *places, const int32 *listed, uint8 *marks) {
    for (const Index i : launch)
        marks[places[listed[i]]] = 1;
}

// flags[i] = 1 for the nodes of a lattice that do not have all six neighbours in it.
KERNEL(flag_lattice_sides, Lattice lattice, const int32 *places, const int32 *listed, const uint8 *marks,
       int32 *flags) {
    Index span = 0; // a CPU's next node is in the same one
    for (const Index i : launch) {
        const Index place = places[listed[i]];
        span = lattice.span_of(place, span);
        const Index row = lattice.row_of_span[span],
                    column = lattice.column[span] + (place - lattice.first_place[span]);
        bool all = true;
        for (int k = 0; k < 6 && all; ++k) {
            const Index up = k / 2 - 1, right = k % 2; // beside it, a neighbour is a whole column away
            const Index there =
                lattice.place_at(row + up, up ? column + right - 1 + (row & 1) : column + 2 * right - 1);
            all = there >= 0 && marks[there];
        }
        flags[i] = !all;
    }
}
