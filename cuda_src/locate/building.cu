// Builds a tree of boxes over triangles or edges (box_tree.cuh), level by level from the items up.
#include "locate/box_tree.cuh"

constexpr int KEY_LEVELS = 24;             // of the curve, two bits each
constexpr int LOW_BITS = 16;               // of a key, in a word apart
constexpr int KEYED = ONE_MEMBER ? 16 : 1; // items whose keys are computed together

INLINE CellBox child_box(const BoxNode &node, int k) {
    return {{node.low_x[k], node.low_y[k]}, {node.high_x[k], node.high_y[k]}};
}

INLINE void set_child_box(BoxNode &node, int k, const CellBox &box) {
    node.low_x[k] = box.low.x;
    node.low_y[k] = box.low.y;
    node.high_x[k] = box.high.x;
    node.high_y[k] = box.high.y;
}

// The place of each item on the curve: that of the centre of its box.
KERNEL(key_items, const Point *points, const int32 *corners, float64 low_x, float64 low_y, float64 cells_per_unit,
       uint32 *high, uint32 *low) {
    constexpr int UNUSED = CELL_LEVELS - KEY_LEVELS;
    uint32 x[KEYED], y[KEYED], upper[KEYED], lower[KEYED];
    int count = 0;
    for (const Index i : launch) {
        CellBox box = empty_box();
        for (int k = 0; k < 3; ++k)
            box.include(cell_of(points[corners[3 * i + k]], low_x, low_y, cells_per_unit));
        x[count] = (uint32(box.low.x) + uint32(box.high.x)) / 2 >> UNUSED;
        y[count] = (uint32(box.low.y) + uint32(box.high.y)) / 2 >> UNUSED;
        if (++count < KEYED && i + 1 < launch.stop())
            continue;
        for (int k = count; k < KEYED; ++k)
            x[k] = y[k] = 0;
        hilbert_indices(x, y, KEY_LEVELS, LOW_BITS / 2, upper);
        hilbert_indices(x, y, LOW_BITS / 2, 0, lower);
        for (int k = 0; k < count; ++k) {
            high[i + 1 - count + k] = upper[k];
            low[i + 1 - count + k] = lower[k];
        }
        count = 0;
    }
}

KERNEL(gather_keys, const uint32 *keys, const int32 *order, uint32 *gathered) {
    for (const Index i : launch)
        gathered[i] = keys[order[i]];
}

// Copies the corners of the items, in the order of the tree and counter-clockwise. flat[number]: an item without area.
KERNEL(collect_items, const Point *points, const int32 *corners, const int32 *order, Point *items, int32 *flat) {
    for (const Index i : launch) {
        const int32 *corner = corners + 3 * Index(order[i]);
        const Point a = points[corner[0]], b = points[corner[1]], c = points[corner[2]];
        const int sign = corner[1] == corner[2] ? 0 : orient2d(a, b, c);
        flat[order[i]] = sign == 0;
        items[3 * i] = a;
        items[3 * i + 1] = sign < 0 ? c : b;
        items[3 * i + 2] = sign < 0 ? b : c;
    }
}

// The nodes of level 0. Triangles without area get empty boxes; for edges, `flat` is null.
KERNEL(box_items, const Point *items, const int32 *numbers, const int32 *flat, int64 count, float64 low_x,
       float64 low_y, float64 cells_per_unit, BoxNode *nodes) {
    for (const Index node : launch)
        for (int child = 0; child < BRANCHES; ++child) {
            const Index item = node * BRANCHES + child;
            CellBox box = empty_box();
            if (item < count && (flat == nullptr || !flat[numbers[item]]))
                for (int k = 0; k < 3; ++k)
                    box.include(cell_of(items[3 * item + k], low_x, low_y, cells_per_unit));
            set_child_box(nodes[node], child, box);
        }
}

// The nodes of a level from the `count` nodes of the level below.
KERNEL(box_nodes, const BoxNode *below, int64 count, BoxNode *nodes) {
    for (const Index node : launch)
        for (int child = 0; child < BRANCHES; ++child) {
            CellBox box = empty_box();
            for (int k = 0; k < BRANCHES && node * BRANCHES + child < count; ++k)
                box.include(child_box(below[node * BRANCHES + child], k));
            set_child_box(nodes[node], child, box);
        }
}
