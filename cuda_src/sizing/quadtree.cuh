// A quadtree of sizes (dmr/sizing/quadtree): every node is a rectangle with samples at its corners.
//
//     2 --- 3       the corners of a node, and its quadrants
//     | 2|3 |
//     |--+--|
//     | 0|1 |
//     0 --- 1
//
// A quadrant outside the domain has no node; a point there takes the size that its parent's corners give.
#pragma once

#include "sizing/interpolation.cuh"

KERNEL_STRUCT(Quadtree) {
    const int32 *children; // four per node, by quadrant; -1: none
    const int32 *corners;  // four samples per node
    const float64 *values; // of the samples
    float64 left;          // lower left corner of the root
    float64 bottom;
    float64 width; // of the root
    float64 height;
    int64 depth; // the finest level has 2^depth cells in each direction

    METHOD float64 size_at(Point p) const {
        const int64 cells = int64(1) << depth;
        const float64 x = limited((p.x - left) / width) * float64(cells);
        const float64 y = limited((p.y - bottom) / height) * float64(cells);
        const int64 column = x < float64(cells) ? int64(x) : cells - 1;
        const int64 row = y < float64(cells) ? int64(y) : cells - 1;
        int32 node = 0;
        int64 level = depth; // a node of level n is 2^n cells wide
        while (level > 0) {
            const int64 quadrant = (column >> (level - 1) & 1) + 2 * (row >> (level - 1) & 1);
            const int32 child = children[4 * int64(node) + quadrant];
            if (child < 0)
                break;
            node = child;
            --level;
        }
        const float64 side = float64(int64(1) << level);
        const float64 right = (x - float64(column >> level) * side) / side;
        const float64 above = (y - float64(row >> level) * side) / side;
        const int32 *const corner = corners + 4 * int64(node);
        const float64 sizes[4] = {values[corner[0]], values[corner[1]], values[corner[2]], values[corner[3]]};
        return bilinear(right, above, sizes);
    }
};
