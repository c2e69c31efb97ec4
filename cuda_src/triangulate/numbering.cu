// The canonical numbering of the triangles of a plane: it depends on the triangulation only, not on how it was made.
//
// A triangle begins with its lowest vertex, by the user's numbers. Triangles are sorted along the curve by that vertex,
// and those with the same lowest vertex by their second one. (dmr/triangulation/serial/numbering.cpp does the same.)
#include "triangulate/half_edges.cuh"

constexpr int32 FEW = 32; // triangles at a lowest vertex that a thread sorts; with more, all are sorted by key

// A triangle and the corner where it begins, as slot << 2 | corner.
INLINE int32 second_number(const Plane &plane, int32 begin) {
    return plane.numbers[plane.triangles[begin >> 2].vertex[next_corner(begin & 3)]];
}

INLINE int lowest_corner(const Plane &plane, const Triangle &t) {
    const int32 a = plane.numbers[t.vertex[0]], b = plane.numbers[t.vertex[1]], c = plane.numbers[t.vertex[2]];
    return a < b ? (a < c ? 0 : 2) : (b < c ? 1 : 2);
}

// Counts the triangles by the rank of their lowest vertex along the curve. `ranks` are null if vertices are in that
// order.
KERNEL(count_triangles, Plane plane, const int32 *ranks, int32 *counts) {
    for (const Index slot : launch) {
        const Triangle t = without_owner(plane.triangles[slot]);
        if (ghost_corner(t) != NOTHING)
            continue;
        const int32 lowest = corner(t, lowest_corner(plane, t));
        atomic_add(&counts[ranks != nullptr ? ranks[lowest] : lowest], int32(1));
    }
}

// Lists them by that rank; `counts` end at 0.
KERNEL(list_triangles, Plane plane, const int32 *ranks, const int32 *starts, int32 *counts, int32 *listed) {
    for (const Index slot : launch) {
        const Triangle t = without_owner(plane.triangles[slot]);
        if (ghost_corner(t) != NOTHING)
            continue;
        const int begin = lowest_corner(plane, t);
        const int32 lowest = corner(t, begin), rank = ranks != nullptr ? ranks[lowest] : lowest;
        listed[starts[rank] + atomic_add(&counts[rank], int32(-1)) - 1] = int32(slot) << 2 | begin;
    }
}

// Sorts the triangles at each lowest vertex by their second one, unless there are many.
KERNEL(sort_triangles, Plane plane, const int32 *starts, int32 *listed, int32 *many) {
    for (const Index rank : launch) {
        const int32 first = starts[rank], last = starts[rank + 1];
        if (last - first > FEW) {
            racing_store(many, 1);
            continue;
        }
        for (int32 i = first + 1; i < last; ++i) { // insertion sort
            const int32 moved = listed[i], number = second_number(plane, moved);
            int32 place = i;
            for (; place > first && second_number(plane, listed[place - 1]) > number; --place)
                listed[place] = listed[place - 1];
            listed[place] = moved;
        }
    }
}

// Keys of the listed triangles: the number of their second vertex, or the rank of their lowest one.
KERNEL(second_keys, Plane plane, const int32 *listed, uint32 *keys) {
    for (const Index i : launch)
        keys[i] = uint32(second_number(plane, listed[i]));
}

KERNEL(lowest_keys, Plane plane, const int32 *listed, const int32 *ranks, uint32 *keys) {
    for (const Index i : launch) {
        const int32 lowest = plane.triangles[listed[i] >> 2].vertex[listed[i] & 3];
        keys[i] = uint32(ranks != nullptr ? ranks[lowest] : lowest);
    }
}

// number[slot] = the number of its triangle; ghosts keep theirs, NOTHING.
KERNEL(number_triangles, const int32 *listed, int32 *number) {
    for (const Index i : launch)
        number[listed[i] >> 2] = int32(i);
}

// flags[slot] = 1 if it holds a ghost.
KERNEL(flag_ghosts, const int32 *number, int32 *flags) {
    for (const Index slot : launch)
        flags[slot] = number[slot] == NOTHING;
}

// For each listed ghost, an end of its edge of the hull, by the user's numbers: all vertices of the hull, once.
KERNEL(export_hull, Plane plane, const int32 *ghosts, int32 *hull) {
    for (const Index i : launch) {
        const Triangle &t = plane.triangles[ghosts[i]];
        hull[i] = plane.numbers[edge_from(t, ghost_corner(t))];
    }
}

// Corners in the user's numbers, and neighbours; NOTHING beyond the hull.
KERNEL(export_triangles, Plane plane, const int32 *listed, const int32 *number, int32 *corners, int32 *neighbours) {
    for (const Index i : launch) {
        const Triangle t = without_owner(plane.triangles[listed[i] >> 2]);
        int k = listed[i] & 3;
        for (int turn = 0; turn < 3; ++turn, k = next_corner(k)) {
            corners[3 * i + turn] = plane.numbers[corner(t, k)];
            neighbours[3 * i + turn] = number[slot_across(plane, t, k)];
        }
    }
}

// The piece of each subsegment: its ends in the user's numbers, and the half-edges on its sides, as triangle << 2 |
// edge; NOTHING beyond the hull.
KERNEL(export_pieces, Plane plane, const int32 *listed, const int32 *number, Subsegment *pieces) {
    for (const Index s : launch) {
        const Subsegment piece = plane.subsegments[s];
        const auto side = [&](int32 slot, int32 start) {
            const int32 t = number[slot];
            const int turned =
                t == NOTHING ? 0 : edge_that_starts_at(plane.triangles[slot], start) + 3 - (listed[t] & 3);
            return t == NOTHING ? NOTHING : half_edge(t, turned % 3);
        };
        pieces[s] = {plane.numbers[piece.from], plane.numbers[piece.to], side(piece.left, piece.from),
                     side(piece.right, piece.to)};
    }
}
