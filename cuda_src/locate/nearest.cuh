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

// Visits the items of a tree that `search` needs, depth-first, the child with the smallest bound first:
//
//     search.bound(place, child)  a lower bound of what the items below a child of the node at `place` give
//     search.best()               the smallest value so far
//     search.visit(item)
//
// Every box whose bound is not above the best value so far is visited, so that the result does not depend on the order.
template <class Search> INLINE void search_by_bounds(const BoxTree &tree, Search &search) {
    Descent path = from_the_root(tree);
    path.ascend();
    path.descend(0);
    path.choose(15);
    while (path.waiting != 0) {
        path.ascend();
        const uint32 children = path.children();
        const Index place = tree.first[path.level] + path.node;
        int chosen = 0;
        float64 least = INFINITE;
        for (int k = 0; k < BRANCHES; ++k) {
            const float64 bound = children >> k & 1 ? search.bound(place, k) : INFINITE;
            chosen = bound < least ? k : chosen;
            least = bound < least ? bound : least;
        }
        if (!(least < INFINITE && least <= search.best() * SLACK)) {
            path.leave_out(15);
            continue;
        }
        path.descend(chosen);
        if (path.level < 0)
            search.visit(path.node);
        else
            path.choose(15);
    }
}

struct NearestSearch {
    const BoxTree &edges;
    Point p;
    Nearest found;

    METHOD float64 bound(Index place, int child) const { return squared_gap(edges, edges.nodes[place], child, p); }
    METHOD float64 best() const { return found.distance; }
    METHOD void visit(Index item) { take_nearer(edges, item, p, found); }
};

INLINE Nearest nearest_edge(const BoxTree &edges, Point point) {
    NearestSearch search = {edges, with_exact_coordinates(point), {INFINITE, 0.0, 0x7fffffff}};
    search_by_bounds(edges, search);
    return search.found;
}
