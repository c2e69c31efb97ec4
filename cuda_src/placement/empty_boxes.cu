// The first points of interiors that are nearly empty (dmr/refinement/placement/empty_boxes.py): the centers of the
// empty boxes of a quadtree over the vertices (Bern, Eppstein and Gilbert, "Provably good mesh generation", 1994).
//
// Along the Hilbert curve of ordering.cu the vertices of a box follow each other, and their keys begin with the same
// digits. A box with more than FULL vertices is divided; a quarter of it without vertices is empty.
#include "geometry/curve.cuh"
#include "locate/nearest.cuh"
#include "mesh/triangles.cuh"
#include "primitives/hash.cuh"

constexpr int32 FULL = 24;          // vertices of a box that is not divided
constexpr float64 OFF_CENTER = 0.2; // at most, in sides of the box: a grid's points would lie on common circles
constexpr float64 CLEARANCE = 0.25; // of a point from all segments, in sides of its box

KERNEL_STRUCT(CurveGrid) {
    const Point *points; // along the curve
    const uint32 *keys;  // of these: ascending
    int64 count;
    float64 low_x; // the lower left corner of the whole
    float64 low_y;
    float64 extent;
};

// The number of levels on which two keys are in the same box.
INLINE int common_levels(uint32 a, uint32 b) {
    int levels = 0;
    while (levels < CURVE_LEVELS && a >> (2 * (CURVE_LEVELS - 1 - levels)) == b >> (2 * (CURVE_LEVELS - 1 - levels)))
        ++levels;
    return levels;
}

// Whether one of the keys from place `first` on begins with the digits of a box of this level.
INLINE bool is_occupied(const CurveGrid &grid, Index first, uint32 box, int level) {
    const int rest = 2 * (CURVE_LEVELS - level);
    Index low = first, high = grid.count;
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (grid.keys[middle] >> rest < box)
            low = middle + 1;
        else
            high = middle;
    }
    return low < grid.count && grid.keys[low] >> rest == box;
}

// Calls visit(x, y, level) with the cell of each empty quarter of the boxes that are divided and begin with vertex i.
template <class Visit> INLINE void for_empty_quarters(const CurveGrid &grid, Index i, Visit visit) {
    if (i + FULL >= grid.count)
        return;
    const int first = i == 0 ? 0 : common_levels(grid.keys[i - 1], grid.keys[i]) + 1;
    const int last = common_levels(grid.keys[i], grid.keys[i + FULL]);
    const float64 scale = float64(1 << CURVE_LEVELS) / grid.extent;
    const uint32 x = curve_cell(grid.points[i].x, grid.low_x, scale, CURVE_LEVELS);
    const uint32 y = curve_cell(grid.points[i].y, grid.low_y, scale, CURVE_LEVELS);
    for (int level = first + 1; level <= last + 1 && level <= CURVE_LEVELS; ++level)
        for (uint32 quarter = 0; quarter < 4; ++quarter) {
            const int below = CURVE_LEVELS - level;
            const uint32 cell_x = (x >> (below + 1)) << 1 | (quarter & 1),
                         cell_y = (y >> (below + 1)) << 1 | quarter >> 1;
            if (!is_occupied(grid, i, hilbert_index<uint32>(cell_x, cell_y, level), level))
                visit(cell_x, cell_y, level);
        }
}

KERNEL(count_empty_boxes, CurveGrid grid, int32 *counts) {
    for (const Index i : launch) {
        counts[i] = 0;
        for_empty_quarters(grid, i, [&](uint32, uint32, int) { ++counts[i]; });
    }
}

// A number from -1 to 1, drawn by a hash.
INLINE float64 drawn(uint32 hash) { return float64(hash & 0xffff) / 32768.0 - 1.0; }

// The points near the centers of the empty boxes, and the sides of these; first: the scan of the counts.
KERNEL(place_in_empty_boxes, CurveGrid grid, const int32 *first, Point *points, float64 *sides) {
    for (const Index i : launch) {
        Index place = first[i];
        for_empty_quarters(grid, i, [&](uint32 x, uint32 y, int level) {
            const float64 side = grid.extent / float64(1 << level);
            const uint32 hash = hash32(hash32(x) + y);
            points[place] =
                with_exact_coordinates({grid.low_x + (float64(x) + 0.5 + OFF_CENTER * drawn(hash)) * side,
                                        grid.low_y + (float64(y) + 0.5 + OFF_CENTER * drawn(hash >> 16)) * side});
            sides[place++] = side;
        });
    }
}

// Ends as soon as an edge is nearer to the point than the limit.
struct NearSearch {
    const BoxTree &edges;
    Point p;
    float64 limit; // squared
    bool found;

    METHOD float64 bound(Index place, int child) const { return squared_gap(edges, edges.nodes[place], child, p); }
    METHOD float64 best() const { return found ? -1.0 : limit; }
    METHOD void visit(Index item) {
        found |= squared_distance(p, edges.items[3 * item], edges.items[3 * item + 1]) < limit;
    }
};

INLINE bool is_near(const BoxTree &edges, Point p, float64 distance) {
    NearSearch search = {edges, p, distance * distance, false};
    search_by_bounds(edges, search);
    return search.found;
}

// Whether a point lies in the domain: whether a ray to its right crosses the boundary an odd number of times.
INLINE bool is_inside(const BoxTree &edges, const Subsegment *subsegments, Point p) {
    const Cell cell = edges.cell_of(p);
    const CellBox ray = {cell, {0x7fffffff, cell.y}};
    bool inside = false;
    for (Descent search = from_the_root(edges); search.waiting != 0;) {
        search.ascend();
        search.descend(trailing_zeros(search.children()));
        if (search.level >= 0) {
            search.choose(children_across(node_of(edges, search), ray));
            continue;
        }
        const Point u = edges.items[3 * search.node], v = edges.items[3 * search.node + 1];
        if (subsegments[edges.numbers[search.node]].right < 0 && (u.y > p.y) != (v.y > p.y))
            inside ^= (orient2d(u, v, p) > 0) == (v.y > u.y);
    }
    return inside;
}

// kept[i] = 1 if a point lies in the domain, and not too near to a segment for the side of its box.
KERNEL(keep_in_domain, BoxTree edges, const Subsegment *subsegments, const Point *points, const float64 *sides,
       int32 *kept) {
    for (const Index i : launch)
        kept[i] = is_inside(edges, subsegments, points[i]) && !is_near(edges, points[i], CLEARANCE * sides[i]);
}
