// The triangles that contain the points of a group, on a CPU.
//
// Points that are close to each other cross nearly the same boxes. One search finds the candidates: the triangles whose
// boxes the box of the group crosses. The box of each candidate is then compared with all points of the group, in
// vectors, which gives one bit per point and candidate:
//
//     candidate:   0  1  2  3  ...
//     point 0:     0  1  1  0
//     point 1:     0  0  1  0
//
// Only the pairs with a set bit are tested exactly. A group with too many candidates is divided in two.
#pragma once

#include "locate/containing.cuh"

constexpr int MOST_APART = 8;       // points of a group that are located without candidates
constexpr int MOST_CANDIDATES = 64; // of a group
constexpr int COMPARED = 32;        // candidates compared together: bits of a word

struct Candidates {
    CellBox box[MOST_CANDIDATES];
    int32 item[MOST_CANDIDATES];
    int32 number[MOST_CANDIDATES]; // of the triangle
    int count;
};

// Finds the items whose boxes cross a box. Returns false if there are too many.
INLINE bool find_candidates(const BoxTree &triangles, const CellBox &box, Candidates &candidates) {
    candidates.count = 0;
    Descent search = from_the_root(triangles);
    while (search.waiting != 0) {
        search.ascend();
        search.descend(trailing_zeros(search.children()));
        const BoxNode &node = node_of(triangles, search);
        const uint32 children = children_across(node, box);
        if (search.level > 0) {
            search.choose(children);
            const BoxNode *below = triangles.nodes + triangles.first[search.level - 1] + search.node * BRANCHES;
            for (uint32 rest = children; rest != 0; rest &= rest - 1)
                prefetch(below + trailing_zeros(rest));
            continue;
        }
        if (candidates.count > MOST_CANDIDATES - BRANCHES)
            return false;
        for (int k = 0; k < BRANCHES; ++k) { // without branches: stores all four, and keeps those across the box
            const Index item = search.node * BRANCHES + k;
            candidates.item[candidates.count] = int32(item);
            candidates.box[candidates.count] = {{node.low_x[k], node.low_y[k]}, {node.high_x[k], node.high_y[k]}};
            candidates.count += int(children >> k & 1);
        }
    }
    for (int k = 0; k < candidates.count; ++k) {
        prefetch(triangles.items + 3 * Index(candidates.item[k]));
        candidates.number[k] = triangles.numbers[candidates.item[k]];
    }
    return true;
}

// Sets bit k of bits[i] if the cell (x[i], y[i]) is in the box of candidate first + k.
template <int MOST>
INLINE void compare_boxes(const Candidates &candidates, int first, const int32 (&x)[MOST], const int32 (&y)[MOST],
                          uint32 (&bits)[MOST]) {
    for (int i = 0; i < MOST; ++i)
        bits[i] = 0;
    const int count = candidates.count - first < COMPARED ? candidates.count - first : COMPARED;
    for (int k = 0; k < count; ++k) {
        const CellBox box = candidates.box[first + k];
        const uint32 bit = 1u << k;
        for (int i = 0; i < MOST; ++i) {
            const bool outside = (x[i] < box.low.x) | (x[i] > box.high.x) | (y[i] < box.low.y) | (y[i] > box.high.y);
            bits[i] |= outside ? 0 : bit;
        }
    }
}

// The same as `contains`, without a branch that goes either way. The filter of `orient2d` compares all three sides with
// the sum of their bounds, which rounding does not make less than any of them.
INLINE bool contains_by_filter(const Point *corner, Point p) {
    const float64 ax = corner[0].x - p.x, ay = corner[0].y - p.y, bx = corner[1].x - p.x, by = corner[1].y - p.y;
    const float64 cx = corner[2].x - p.x, cy = corner[2].y - p.y;
    const float64 left[] = {ax * by, bx * cy, cx * ay}, right[] = {ay * bx, by * cx, cy * ax};
    const float64 least = lesser(lesser(left[0] - right[0], left[1] - right[1]), left[2] - right[2]);
    const float64 magnitudes = (magnitude(left[0]) + magnitude(right[0])) + (magnitude(left[1]) + magnitude(right[1])) +
                               (magnitude(left[2]) + magnitude(right[2]));
    return magnitude(least) > ORIENT_BOUND * magnitudes ? least > 0.0 : contains(corner, p);
}

// Takes the lowest number of the candidates first, first + 1, ... that contain a point, for the points with such bits.
// One candidate of every point is tested in turn: how many a point has cannot be predicted.
template <int MOST>
INLINE void test_candidates(const BoxTree &triangles, const Candidates &candidates, int first, int count,
                            const Point *points, uint32 (&bits)[MOST], int32 *found) {
    int waiting[MOST], length = 0;
    for (int i = 0; i < count; ++i) {
        waiting[length] = i;
        length += bits[i] != 0;
    }
    while (length > 0) {
        const int tested = length;
        length = 0;
        for (int turn = 0; turn < tested; ++turn) {
            const int i = waiting[turn], candidate = first + trailing_zeros(bits[i]);
            const bool is_inside =
                contains_by_filter(triangles.items + 3 * Index(candidates.item[candidate]), points[i]);
            const uint32 number =
                uint32(candidates.number[candidate]) | (uint32(is_inside) - 1); // outside: the highest
            found[i] = int32(number < uint32(found[i]) ? number : uint32(found[i]));
            bits[i] &= bits[i] - 1;
            waiting[length] = i;
            length += bits[i] != 0;
        }
    }
}

// The same as `find_triangles`, for points that are likely to be close to each other.
template <int MOST>
INLINE void find_triangles_of_group(const BoxTree &triangles, int count, const Point *points, int32 *found) {
    if constexpr (MOST <= MOST_APART) {
        find_triangles<MOST>(triangles, count, points, found);
    } else {
        int32 x[MOST], y[MOST];
        Point p[MOST];
        CellBox all = empty_box();
        for (int i = 0; i < count; ++i) {
            p[i] = with_exact_coordinates(points[i]);
            const Cell cell = triangles.cell_of(p[i]);
            x[i] = cell.x;
            y[i] = cell.y;
            all.include(cell);
            found[i] = -1;
        }
        for (int i = count; i < MOST; ++i)
            x[i] = y[i] = -1;
        Candidates candidates;
        if (!find_candidates(triangles, all, candidates)) {
            const int half = count < MOST / 2 ? count : MOST / 2;
            find_triangles_of_group<MOST / 2>(triangles, half, points, found);
            find_triangles_of_group<MOST / 2>(triangles, count - half, points + half, found + half);
            return;
        }
        uint32 bits[MOST];
        for (int first = 0; first < candidates.count; first += COMPARED) {
            compare_boxes<MOST>(candidates, first, x, y, bits);
            test_candidates<MOST>(triangles, candidates, first, count, p, bits, found);
        }
    }
}
