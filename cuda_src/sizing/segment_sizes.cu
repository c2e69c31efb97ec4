// Sizes that grow with the distance from segments.
#include "locate/nearest.cuh"
#include "sizing/interpolation.cuh"

KERNEL_STRUCT(SegmentSizes) {
    const float64 *sizes; // of the segments, by number
    const float64 *least; // the smallest size among the segments below each child of a node of the tree
    float64 growth;       // per unit of distance
};

struct SmallestSize {
    const BoxTree &segments;
    const SegmentSizes &given;
    Point p;
    float64 found;

    METHOD float64 bound(Index place, int child) const {
        const float64 gap = squared_gap(segments, segments.nodes[place], child, p);
        return given.least[BRANCHES * place + child] + given.growth * square_root(gap);
    }
    METHOD float64 best() const { return found; }
    METHOD void visit(Index item) {
        Nearest here = {INFINITE, 0.0, 0x7fffffff};
        take_nearer(segments, item, p, here);
        lower(found, given.sizes[here.edge] + given.growth * square_root(here.distance));
    }
};

// The smallest of `most` and the sizes that segments give at a point.
INLINE float64 smallest_size(const BoxTree &segments, const SegmentSizes &given, Point point, float64 most) {
    SmallestSize search = {segments, given, with_exact_coordinates(point), most};
    search_by_bounds(segments, search);
    return search.found;
}

KERNEL(lower_by_segments, BoxTree segments, SegmentSizes given, const Point *points, float64 *sizes) {
    for (const Index i : launch)
        sizes[i] = smallest_size(segments, given, points[i], sizes[i]);
}
