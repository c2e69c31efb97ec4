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
    int64 depth;   // the finest level has 2^depth cells in each direction
    int32 *starts; // per cell of level `start_level`, row by row: the deepest node down to there, and its level
    int64 start_level;

    // Goes down from a node of a level to the deepest one that holds a cell of the finest level, at most to level
    // `last`.
    METHOD void descend(int64 column, int64 row, int64 last, int32 & node, int64 & level) const {
        for (; level < last; ++level) {
            const int64 half = depth - level - 1;
            const int32 child = children[4 * int64(node) + (column >> half & 1) + 2 * (row >> half & 1)];
            if (child < 0)
                break;
            node = child;
        }
    }

    METHOD void find_start(Index cell) const {
        const int64 finer = depth - start_level;
        const int64 column = (cell & ((int64(1) << start_level) - 1)) << finer, row = cell >> start_level << finer;
        int32 node = 0;
        int64 level = 0;
        descend(column, row, start_level, node, level);
        starts[2 * cell] = node, starts[2 * cell + 1] = int32(level);
    }

    METHOD float64 size_at(Point p) const {
        const int64 cells = int64(1) << depth;
        const float64 x = limited((p.x - left) / width) * float64(cells);
        const float64 y = limited((p.y - bottom) / height) * float64(cells);
        const int64 column = x < float64(cells) ? int64(x) : cells - 1;
        const int64 row = y < float64(cells) ? int64(y) : cells - 1;
        const int64 finer = depth - start_level, cell = (row >> finer << start_level) + (column >> finer);
        int32 node = starts[2 * cell];
        int64 level = starts[2 * cell + 1];
        descend(column, row, depth, node, level);
        level = depth - level; // a node is 2^level cells wide
        const float64 side = float64(int64(1) << level);
        const float64 right = (x - float64(column >> level) * side) / side;
        const float64 above = (y - float64(row >> level) * side) / side;
        const int32 *const corner = corners + 4 * int64(node);
        const float64 sizes[4] = {values[corner[0]], values[corner[1]], values[corner[2]], values[corner[3]]};
        return bilinear(right, above, sizes);
    }
};
