// Builds a tree of boxes over triangles or edges (box_tree.cuh), level by level from the items up.
#include "locate/box_tree.cuh"

constexpr int KEY_LEVELS = 24; // of the curve, two bits each
constexpr int LOW_BITS = 16;   // of a key, in a word apart

INLINE CellBox child_box(const BoxNode &node, int k) {
    return {{node.low_x[k], node.low_y[k]}, {node.high_x[k], node.high_y[k]}};
}

INLINE void set_child_box(BoxNode &node, int k, const CellBox &box) {
    node.low_x[k] = box.low.x;
    node.low_y[k] = box.low.y;
    node.high_x[k] = box.high.x;
    node.high_y[k] = box.high.y;
}

// The centre of an item's box, on the grid of the curve.
INLINE Cell centre_of(const Point *points, const int32 *corner, float64 low_x, float64 low_y, float64 cells_per_unit) {
    constexpr int UNUSED = CELL_LEVELS - KEY_LEVELS;
    CellBox box = empty_box();
    for (int k = 0; k < 3; ++k)
        box.include(cell_of(points[corner[k]], low_x, low_y, cells_per_unit));
    return {int32((uint32(box.low.x) + uint32(box.high.x)) / 2 >> UNUSED),
            int32((uint32(box.low.y) + uint32(box.high.y)) / 2 >> UNUSED)};
}

// The place of each item on the curve: that of the centre of its box.
KERNEL(key_items, const Point *points, const int32 *corners, float64 low_x, float64 low_y, float64 cells_per_unit,
       uint32 *high, uint32 *low) {
    for_groups_of_cells(
        launch,
        [&](Index i, uint32 &x, uint32 &y) {
            const Cell centre = centre_of(points, corners + 3 * i, low_x, low_y, cells_per_unit);
            x = uint32(centre.x), y = uint32(centre.y);
        },
        [&](Index first, int count, uint32(&x)[KEYED], uint32(&y)[KEYED]) {
            uint32 upper[KEYED], lower[KEYED];
            hilbert_indices(x, y, KEY_LEVELS, LOW_BITS / 2, upper);
            hilbert_indices(x, y, LOW_BITS / 2, 0, lower);
            for (int k = 0; k < count; ++k)
                high[first + k] = upper[k], low[first + k] = lower[k];
        });
}

KERNEL(gather_keys, const uint32 *keys, const int32 *order, uint32 *gathered) {
    for (const Index i : launch)
        gathered[i] = keys[order[i]];
}

// Copies the corners of an item counter-clockwise. Returns whether it has no area.
INLINE bool collect(const Point *points, const int32 *corner, Point *item) {
    const Point a = points[corner[0]], b = points[corner[1]], c = points[corner[2]];
    const int sign = corner[1] == corner[2] ? 0 : orient2d(a, b, c);
    item[0] = a;
    item[1] = sign < 0 ? c : b;
    item[2] = sign < 0 ? b : c;
    return sign == 0;
}

// Copies the corners of the items, in the order of the tree and counter-clockwise. flat[number]: an item without area.
KERNEL(collect_items, const Point *points, const int32 *corners, const int32 *order, Point *items, int32 *flat) {
    for (const Index i : launch)
        flat[order[i]] = collect(points, corners + 3 * Index(order[i]), items + 3 * i);
}

// A node of level 0. Triangles without area get empty boxes; for edges, `flat` is null.
INLINE void box_of_items(const Point *items, const int32 *numbers, const int32 *flat, Index count, Index node,
                         float64 low_x, float64 low_y, float64 cells_per_unit, BoxNode *nodes) {
    for (int child = 0; child < BRANCHES; ++child) {
        const Index item = node * BRANCHES + child;
        CellBox box = empty_box();
        if (item < count && (flat == nullptr || !flat[numbers[item]]))
            for (int k = 0; k < 3; ++k)
                box.include(cell_of(items[3 * item + k], low_x, low_y, cells_per_unit));
        set_child_box(nodes[node], child, box);
    }
}

KERNEL(box_items, const Point *items, const int32 *numbers, const int32 *flat, int64 count, float64 low_x,
       float64 low_y, float64 cells_per_unit, BoxNode *nodes) {
    for (const Index node : launch)
        box_of_items(items, numbers, flat, count, node, low_x, low_y, cells_per_unit, nodes);
}

// A node of a level from the `count` nodes of the level below.
INLINE void box_of_nodes(const BoxNode *below, Index count, Index node, BoxNode *nodes) {
    for (int child = 0; child < BRANCHES; ++child) {
        CellBox box = empty_box();
        for (int k = 0; k < BRANCHES && node * BRANCHES + child < count; ++k)
            box.include(child_box(below[node * BRANCHES + child], k));
        set_child_box(nodes[node], child, box);
    }
}

KERNEL(box_nodes, const BoxNode *below, int64 count, BoxNode *nodes) {
    for (const Index node : launch)
        box_of_nodes(below, count, node, nodes);
}

// The whole tree of a few items, by one thread of the CPU: one launch instead of about a dozen.
//
// keys, order: memory for 2 * count entries each; the first half of `order` receives the items in their order.
// is_of_edges: whether the items are edges; first: receives the place of the first node of each level.
KERNEL(build_small_tree, const Point *points, const int32 *corners, int64 count, int32 is_of_edges, float64 low_x,
       float64 low_y, float64 cells_per_unit, uint64 *keys, int32 *order, Point *items, int32 *flat, int32 *first,
       BoxNode *nodes) {
    constexpr int DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, PASSES = 2 * KEY_LEVELS / DIGIT_BITS; // an even number
    for ([[maybe_unused]] const Index once : launch) {
        int32 places[PASSES][DIGITS] = {};
        for (Index i = 0; i < count; ++i) {
            const Cell centre = centre_of(points, corners + 3 * i, low_x, low_y, cells_per_unit);
            keys[i] = hilbert_index<uint64>(uint32(centre.x), uint32(centre.y), KEY_LEVELS);
            order[i] = int32(i);
            for (int pass = 0; pass < PASSES; ++pass)
                ++places[pass][keys[i] >> (DIGIT_BITS * pass) & (DIGITS - 1)];
        }
        for (int pass = 0; pass < PASSES; ++pass) { // sorts by one digit after the other
            const Index from = pass % 2 ? count : 0, to = pass % 2 ? 0 : count;
            int32 before = 0;
            ROLLED
            for (int32 &place : places[pass]) {
                const int32 here = place;
                place = before;
                before += here;
            }
            for (Index i = from; i < from + count; ++i) {
                const Index place = to + places[pass][keys[i] >> (DIGIT_BITS * pass) & (DIGITS - 1)]++;
                keys[place] = keys[i];
                order[place] = order[i];
            }
        }
        for (Index i = 0; i < count; ++i)
            flat[order[i]] = collect(points, corners + 3 * Index(order[i]), items + 3 * i);
        Index below = 0, size = (count + BRANCHES - 1) / BRANCHES;
        first[0] = 0;
        for (Index node = 0; node < size; ++node)
            box_of_items(items, order, is_of_edges ? nullptr : flat, count, node, low_x, low_y, cells_per_unit, nodes);
        for (int level = 1; size > 1; ++level) {
            const Index above = below + size, many = (size + BRANCHES - 1) / BRANCHES;
            first[level] = int32(above);
            for (Index node = 0; node < many; ++node)
                box_of_nodes(nodes + below, size, node, nodes + above);
            below = above, size = many;
        }
    }
}
