// Sizes that grow with the distance from segments.
#include "locate/nearest.cuh"
#include "sizing/interpolation.cuh"

KERNEL_STRUCT(SegmentSizes) {
    const float64 *sizes; // of the segments, by number
    const float64 *least; // the smallest size among the segments below each child of a node of the tree
    float64 growth;       // per unit of distance
};

// The smallest of `most` and the sizes that segments give at a point. A search as in nearest_edge, by sizes instead of
// distances: whatever box may have a smaller size than the best so far is visited, so that the order does not matter.
INLINE float64 smallest_size(const BoxTree &segments, const SegmentSizes &given, Point point, float64 most) {
    const Point p = with_exact_coordinates(point);
    float64 best = most;
    Descent search = from_the_root(segments);
    search.ascend();
    search.descend(0);
    search.choose(15);
    while (search.waiting != 0) {
        search.ascend();
        const uint32 children = search.children();
        const Index place = segments.first[search.level] + search.node;
        int chosen = 0;
        float64 least = INFINITE;
        for (int k = 0; k < BRANCHES; ++k) {
            const float64 gap = children >> k & 1 ? squared_gap(segments, segments.nodes[place], k, p) : INFINITE;
            const float64 bound = given.least[BRANCHES * place + k] + given.growth * square_root(gap);
            chosen = bound < least ? k : chosen;
            least = bound < least ? bound : least;
        }
        if (!(least < INFINITE && least <= best * SLACK)) {
            search.leave_out(15);
            continue;
        }
        search.descend(chosen);
        if (search.level >= 0) {
            search.choose(15);
            continue;
        }
        Nearest here = {INFINITE, 0.0, 0x7fffffff};
        take_nearer(segments, search.node, p, here);
        lower(best, given.sizes[here.edge] + given.growth * square_root(here.distance));
    }
    return best;
}

KERNEL(lower_by_segments, BoxTree segments, SegmentSizes given, const Point *points, float64 *sizes) {
    for (const Index i : launch)
        sizes[i] = smallest_size(segments, given, points[i], sizes[i]);
}
