// A tree of bounding boxes over items: the triangles of a mesh, or edges.
//
//     level 1     [ . . . . ]             [ . . . . ]        A node has the boxes of its four children. Those of node i
//                   | | |  \                                  are the nodes 4 i to 4 i + 3 of the level below; on level
//     level 0   [....] [....] [....] [....] [....] ...        0 they are items. The last level is a single node.
//                ||||
//     items      0123    4567 ...
//
// Items are sorted along a Hilbert curve, and nodes are filled without gaps (Kamel and Faloutsos, "On packing R-trees",
// 1993). The tree needs memory in proportion to the items, however graded, long or thin they are; a search takes
// logarithmic time unless many boxes overlap at its point, as those of long, slanted slivers do.
//
// An item is three points, the corners of a triangle; an edge is a triangle whose last two corners coincide.
#pragma once

#include "geometry/curve.cuh"
#include "geometry/predicates.cuh"

constexpr int BRANCHES = 4;
constexpr int CELL_LEVELS = 31; // boxes are stored in cells of a grid of 2^31 by 2^31

struct Cell {
    int32 x, y;
};

// The cell that contains a point, or the nearest one. It is monotone in the coordinates despite rounding: what a box of
// coordinates contains, the box of their cells contains, too.
INLINE Cell cell_of(Point p, float64 low_x, float64 low_y, float64 cells_per_unit) {
    return {int32(curve_cell(p.x, low_x, cells_per_unit, CELL_LEVELS)),
            int32(curve_cell(p.y, low_y, cells_per_unit, CELL_LEVELS))};
}

// All cells from `low` to `high`; none if low > high.
struct CellBox {
    Cell low, high;

    METHOD void include(Cell cell) { include({cell, cell}); }
    METHOD void include(const CellBox &box) {
        low = {box.low.x < low.x ? box.low.x : low.x, box.low.y < low.y ? box.low.y : low.y};
        high = {box.high.x > high.x ? box.high.x : high.x, box.high.y > high.y ? box.high.y : high.y};
    }
};

INLINE CellBox empty_box() { return {{0x7fffffff, 0x7fffffff}, {-1, -1}}; }

// The boxes of a node's children; that of a missing child is empty (low > high).
struct alignas(64) BoxNode {
    int32 low_x[4], low_y[4], high_x[4], high_y[4];
};

KERNEL_STRUCT(BoxTree) {
    const BoxNode *nodes; // of all levels
    const int32 *first;   // of each level: the place of its first node
    const Point *items;   // three points each, in the order of the tree
    const int32 *numbers; // of each item: that of the triangle or edge
    int64 levels;         // at least 1
    float64 low_x;        // the lower left corner of the grid
    float64 low_y;
    float64 cells_per_unit;
    float64 cell_size; // not below a few units in the last place of any coordinate

    METHOD Cell cell_of(Point p) const { return ::cell_of(p, low_x, low_y, cells_per_unit); }
};

constexpr float64 FAR = 0x1.8p201; // beyond all vertices, and within the range of the predicates

// The coordinate as the predicates can compare it: far away it is limited, and below SMALLEST_COORDINATE it is zero.
INLINE float64 exact_coordinate(float64 x) {
    const float64 limited = x > FAR ? FAR : (x < -FAR ? -FAR : x);
    return magnitude(limited) < SMALLEST_COORDINATE ? 0.0 : limited;
}
INLINE Point with_exact_coordinates(Point p) { return {exact_coordinate(p.x), exact_coordinate(p.y)}; }

// A search goes down from the root, to those children that a test has chosen. What is still to be visited takes four
// bits per level of one word: 2^31 items have 16 levels.
struct Descent {
    uint64 waiting;
    Index node;
    int level; // -1: the node is an item

    METHOD uint32 children() const { return uint32(waiting >> (BRANCHES * level)) & 15; }
    METHOD void choose(uint32 children) { waiting |= uint64(children) << (BRANCHES * level); }
    METHOD void leave_out(uint32 children) { waiting &= ~(uint64(children) << (BRANCHES * level)); }
    // Goes up to the nearest ancestor with a child that is still to be visited.
    METHOD void ascend() {
        const int above = trailing_zeros(waiting) / BRANCHES;
        node >>= 2 * (above - level);
        level = above;
    }
    METHOD void descend(int child) {
        leave_out(1u << child);
        node = node * BRANCHES + child;
        --level;
    }
};

// A bit per child whose box has a cell of `box`. g++ computes four tests at a time.
INLINE uint32 children_across(const BoxNode &node, const CellBox &box) {
    int32 outside[BRANCHES];
    IN_VECTORS
    for (int k = 0; k < BRANCHES; ++k)
        outside[k] = -((box.high.x < node.low_x[k]) | (box.low.x > node.high_x[k]) | (box.high.y < node.low_y[k]) |
                       (box.low.y > node.high_y[k]));
    uint32 left_out = 0;
    for (int k = 0; k < BRANCHES; ++k)
        left_out |= uint32(outside[k]) & (1u << k);
    return ~left_out & 15;
}

// A search above the root, which is its only child.
INLINE Descent from_the_root(const BoxTree &tree) {
    Descent search = {0, 0, int(tree.levels)};
    search.choose(1);
    return search;
}

INLINE const BoxNode &node_of(const BoxTree &tree, const Descent &search) {
    return tree.nodes[tree.first[search.level] + search.node];
}

// A search that begins below all nodes with a single child across the box: where the searches for its cells part.
INLINE Descent from_the_fork(const BoxTree &tree, const CellBox &box) {
    Descent search = from_the_root(tree);
    while (search.waiting != 0 && (search.waiting & (search.waiting - 1)) == 0 && search.level > 0) {
        search.ascend();
        search.descend(trailing_zeros(search.children()));
        search.choose(children_across(node_of(tree, search), box));
    }
    return search;
}
