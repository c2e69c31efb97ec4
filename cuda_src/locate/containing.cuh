// The triangle that contains a point, exactly: triangles are closed, and of several the one with the lowest number is
// taken.
#pragma once

#include "locate/box_tree.cuh"

INLINE bool contains(const Point *corner, Point p) {
    return orient2d(corner[0], corner[1], p) >= 0 && orient2d(corner[1], corner[2], p) >= 0 &&
           orient2d(corner[2], corner[0], p) >= 0;
}

// found[k]: the triangle that contains points[k], or -1, for the first `count` of MOST points. Each step of a search
// waits for the one before; a CPU core advances several searches at the same time.
template <int MOST> INLINE void find_triangles(const BoxTree &triangles, int count, const Point *points, int32 *found) {
    Descent search[MOST];
    Point p[MOST];
    CellBox cell[MOST], all = empty_box();
    for (int k = 0; k < count; ++k) {
        p[k] = with_exact_coordinates(points[k]);
        cell[k] = {triangles.cell_of(p[k]), triangles.cell_of(p[k])};
        all.include(cell[k]);
        found[k] = -1;
    }
    const Descent first = MOST > 1 ? from_the_fork(triangles, all) : from_the_root(triangles);
    for (int k = 0; k < count; ++k)
        search[k] = first;
    for (bool any = true; any;) {
        any = false;
        for (int k = 0; k < count; ++k) {
            if (search[k].waiting == 0)
                continue;
            any = true;
            search[k].ascend();
            search[k].descend(trailing_zeros(search[k].children()));
            if (search[k].level >= 0) {
                search[k].choose(children_across(node_of(triangles, search[k]), cell[k]));
                continue;
            }
            const int32 number = triangles.numbers[search[k].node];
            if (uint32(number) < uint32(found[k]) && contains(triangles.items + 3 * search[k].node, p[k]))
                found[k] = number;
        }
    }
}

INLINE int32 containing_triangle(const BoxTree &triangles, Point p) {
    int32 found;
    find_triangles<1>(triangles, 1, &p, &found);
    return found;
}
