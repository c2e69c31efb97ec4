// The triangle and subsegment records, and how they refer to each other.
//
//                2                 Corners 0, 1, 2 run counter-clockwise. Edge k is opposite corner k. Seen from inside
//               / \                the triangle, it runs from corner k + 1 to corner k + 2 (modulo 3).
//      edge 1  /   \  edge 0
//             /     \              link[k] is the neighbour across edge k:
//            0-------1                 >= 0   the triangle of that number,
//             edge 2                   <  0   a subsegment, ~link[k]; every boundary edge is one.
//
// A cavity never crosses a subsegment, so a link needs no additional flag: a link to a triangle can be crossed, and a
// link that stops the walk identifies the subsegment. A subsegment stores the triangles on both of its sides:
//
//                 left             The left triangle has the edge from -> to, the right one the edge to -> from.
//         from -----------> to     On the boundary right is NOTHING.
//                 right
//
// One record is 32 bytes: one sector of a GPU's memory, half a cache line of a CPU's.
#pragma once

#include <type_traits>

#include "geometry/points.cuh"

constexpr int32 NOTHING = -1;

struct alignas(32) Triangle {
    int32 vertex[3];
    int32 link[3];
    uint64 owner; // key of the last cavity that claimed this slot; its epoch tells in which step (owner.cuh)
};

struct alignas(16) Subsegment {
    int32 from, to;
    int32 left, right;
};

// Origin of a vertex, in `vertex_origin`: the number of the input segment it was inserted on, or one of these.
constexpr int32 INPUT_VERTEX = -2, FREE_VERTEX = -1;

// A triangle's corners and links, without its owner, which other threads may change at the same time.
INLINE Triangle without_owner(const Triangle &t) {
    if (READS_WHOLE_RECORDS)
        return t;
    return {{t.vertex[0], t.vertex[1], t.vertex[2]}, {t.link[0], t.link[1], t.link[2]}, 0};
}

// A triangle whose corners and links are read several times. A GPU loads the record at once. A CPU reads the fields
// where they are: copies of a record that was stored just before, by wider loads, would wait for its fields as well.
using TriangleToRead = std::conditional_t<READS_WHOLE_RECORDS, const Triangle, const Triangle &>;

// Stores the fields one by one, for store_record.
INLINE void store_fields(Triangle *place, const Triangle &t) {
    for (int k = 0; k < 3; ++k) {
        racing_store(&place->vertex[k], t.vertex[k]);
        racing_store(&place->link[k], t.link[k]);
    }
    racing_store(&place->owner, t.owner);
}

INLINE int32 corner(const Triangle &t, int k) { return one_of(t.vertex, k); }
INLINE int32 link_across(const Triangle &t, int k) { return one_of(t.link, k); }

INLINE int32 edge_from(const Triangle &t, int k) { return corner(t, next_corner(k)); }
INLINE int32 edge_to(const Triangle &t, int k) { return corner(t, previous_corner(k)); }

// The edge of t that starts at vertex `from`. The caller knows that t has the edge it means. No branch, since a CPU
// would guess wrong two times out of three.
INLINE int edge_that_starts_at(const Triangle &t, int32 from) {
    return 2 - 2 * int(t.vertex[1] == from) - int(t.vertex[2] == from);
}

// ---- Prefetching on a CPU (a GPU does none): records first, then what they point to -------------------------------

// The triangle across a link, or any one, if there is none: prefetching too much takes less time than a branch that
// goes either way.
INLINE int32 perhaps_across(int32 link) { return link < 0 ? 0 : link; }

// The corner of the triangle across edge k that t does not have. (Any number that fits the bits of some vertex if there
// is no triangle across: only good for a prefetch.)
INLINE int32 corner_beyond(const Triangle &t, int k, const Triangle &across) {
    const int32 edge = t.vertex[next_corner(k)] ^ t.vertex[previous_corner(k)];
    return across.vertex[0] ^ across.vertex[1] ^ across.vertex[2] ^ edge;
}

INLINE void prefetch_corners(const Triangle &t, const Point *points) {
    for (int32 v : t.vertex)
        prefetch(&points[v]);
}

INLINE void prefetch_neighbours(const Triangle &t, const Triangle *triangles) {
    for (int32 link : t.link)
        prefetch(&triangles[perhaps_across(link)]);
}

// For a loop over listed triangles that reads their corners.
INLINE void prefetch_triangles(const int32 *listed, Index i, Index end, const Triangle *triangles,
                               const Point *points) {
    constexpr Index FAR = 16, NEAR = 8;
    if (!PREFETCHES)
        return;
    if (i + FAR < end)
        prefetch(&triangles[listed[i + FAR]]);
    if (i + NEAR < end)
        prefetch_corners(triangles[listed[i + NEAR]], points);
}
