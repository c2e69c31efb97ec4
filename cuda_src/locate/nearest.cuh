// The edge nearest to a point.
#pragma once

#include "locate/barycentric.cuh"
#include "locate/box_tree.cuh"

// Tolerance of the comparison of distances, so that rounding leaves out no box.
constexpr float64 SLACK = 1.0 + 0x1p-40;

// A lower bound of the squared distance of a point from a child's box; infinite if the box is empty. The margin of a
// cell on each side covers all rounding.
INLINE float64 squared_gap(const BoxTree &tree, const BoxNode &node, int child, Point p) {
    if (node.low_x[child] > node.high_x[child])
        return INFINITE;
    const float64 left = tree.low_x + (float64(node.low_x[child]) - 1.0) * tree.cell_size - p.x;
    const float64 right = p.x - (tree.low_x + (float64(node.high_x[child]) + 2.0) * tree.cell_size);
    const float64 below = tree.low_y + (float64(node.low_y[child]) - 1.0) * tree.cell_size - p.y;
    const float64 above = p.y - (tree.low_y + (float64(node.high_y[child]) + 2.0) * tree.cell_size);
    const float64 x = left > right ? left : right, y = below > above ? below : above;
    return (x > 0.0 ? x * x : 0.0) + (y > 0.0 ? y * y : 0.0);
}

struct Nearest {
    float64 distance; // squared
    float64 place;    // on the edge: 0 at its start and 1 at its end
    int32 edge;       // of several at equal distance, the one with the lowest number
};

INLINE void take_nearer(const BoxTree &edges, Index item, Point p, Nearest &best) {
    const Point u = edges.items[3 * item], v = edges.items[3 * item + 1];
    const float64 place = place_along(u, v, p);
    const Point along = minus(v, u), rest = minus(p, u);
    const Point gap = place == 1.0 ? minus(p, v) : Point{rest.x - place * along.x, rest.y - place * along.y};
    const float64 distance = gap.x * gap.x + gap.y * gap.y;
    const int32 number = edges.numbers[item];
    if (distance < best.distance || (distance == best.distance && number < best.edge))
        best = {distance, place, number};
}

// Searches depth-first, the nearest child first. Every box that is not farther than the best edge so far is visited, so
// that the result does not depend on the order.
INLINE Nearest nearest_edge(const BoxTree &edges, Point point) {
    const Point p = with_exact_coordinates(point);
    Nearest best = {INFINITE, 0.0, 0x7fffffff};
    Descent search = from_the_root(edges);
    search.ascend();
    search.descend(0);
    search.choose(15);
    while (search.waiting != 0) {
        search.ascend();
        const uint32 children = search.children();
        const BoxNode &node = node_of(edges, search);
        int nearest = 0;
        float64 least = INFINITE;
        for (int k = 0; k < BRANCHES; ++k) {
            const float64 gap = children >> k & 1 ? squared_gap(edges, node, k, p) : INFINITE;
            nearest = gap < least ? k : nearest;
            least = gap < least ? gap : least;
        }
        if (!(least < INFINITE && least <= best.distance * SLACK)) {
            search.leave_out(15);
            continue;
        }
        search.descend(nearest);
        if (search.level < 0)
            take_nearer(edges, search.node, p, best);
        else
            search.choose(15);
    }
    return best;
}
