// Insertion of segments into a Delaunay triangulation, which makes it a constrained one.
//
// Segments are divided at the vertices on them. Pieces that are edges become subsegments at once. The others are
// inserted in rounds: each claims the triangles that it crosses, by atomic maximum of a unique key, and those that own
// all of theirs become edges, by flips. The flips of flips.cu then restore the Delaunay property.
#include "triangulate/strip.cuh"

// Visits the pieces of a segment between vertices u and v of a triangulation without subsegments.
template <class Visit> INLINE void for_pieces(const Plane &plane, int32 u, int32 v, Visit visit) {
    int32 start = u, smaller = u;
    while (start != v) {
        int32 met = v;
        if (find_edge(plane, start, v, &smaller) == NOTHING) {
            int32 h = toward(plane, leaving(plane, start), plane.points[v]);
            if (start_of(plane, h) == start)
                met = end_of(plane, h);
            for (uint32 step = 1; start_of(plane, h) != start; ++step) {
                if (step % 4096 == 0)
                    STOP_POINT();
                const int32 entered = twin(plane, h);
                met = apex_of(plane, entered);
                const int side = met == v ? 0 : orient2d(plane.points[start], plane.points[v], plane.points[met]);
                if (side == 0)
                    break;
                h = side > 0 ? next(entered) : previous(entered);
            }
        }
        visit(start, met);
        start = met;
    }
}

// `ends` of the segments are points, in the user's numbers, and vertex_of[point] is the vertex there.
KERNEL(count_pieces, Plane plane, const int32 *ends, const int32 *vertex_of, int32 *counts) {
    for (const Index s : launch) {
        int32 count = 0;
        for_pieces(plane, vertex_of[ends[2 * s]], vertex_of[ends[2 * s + 1]], [&](int32, int32) { ++count; });
        counts[s] = count;
    }
}

// Makes the records of the pieces, in order; segment_of[piece] is the segment.
KERNEL(list_pieces, Plane plane, const int32 *ends, const int32 *vertex_of, const int32 *offsets, int32 *segment_of) {
    for (const Index s : launch) {
        int32 piece = offsets[s];
        for_pieces(plane, vertex_of[ends[2 * s]], vertex_of[ends[2 * s + 1]], [&](int32 start, int32 met) {
            plane.subsegments[piece] = {start, met, NOTHING, NOTHING};
            segment_of[piece++] = int32(s);
        });
    }
}

// Finds the pieces that are edges, and the triangles on their sides; missing[piece] = 1 for the others.
KERNEL(find_edges, Plane plane, int32 *missing) {
    for (const Index s : launch) {
        Subsegment &piece = plane.subsegments[s];
        int32 smaller = NOTHING;
        const int32 h = find_edge(plane, piece.from, piece.to, &smaller);
        missing[s] = h == NOTHING;
        if (h != NOTHING) {
            piece.left = triangle_of(h);
            piece.right = triangle_of(twin(plane, h));
        }
    }
}

// Makes them subsegments. Sets `conflict` to 1 if two pieces are the same edge.
KERNEL(constrain_edges, Plane plane, const int32 *missing, int32 *conflict) {
    for (const Index s : launch) {
        if (missing[s])
            continue;
        const Subsegment piece = plane.subsegments[s];
        int32 *const left =
            &plane.triangles[piece.left].link[edge_that_starts_at(plane.triangles[piece.left], piece.from)];
        int32 *const right =
            &plane.triangles[piece.right].link[edge_that_starts_at(plane.triangles[piece.right], piece.to)];
        const bool ordered = piece.left < piece.right; // of two equal pieces, both try the lower side first
        const int32 higher = ordered ? piece.right : piece.left;
        if (compare_and_swap(ordered ? left : right, higher, ~int32(s)) == higher)
            *(ordered ? right : left) = ~int32(s);
        else
            racing_store(conflict, 1);
    }
}

// Claims the triangles that the waiting pieces change. Sets `conflict` to 1 if a subsegment blocks one.
KERNEL(claim_strips, Plane plane, const int32 *waiting, uint32 epoch, int32 *ways, int32 *conflict) {
    for (const Index i : launch) {
        const Subsegment piece = plane.subsegments[waiting[i]];
        const int32 way = ways[i] = find_way(plane, piece);
        const uint64 key = cavity_key(epoch, false, 0, int32(i));
        const auto claim = [&](int32 slot) { atomic_max(&plane.triangles[slot].owner, key); };
        if (way == NOTHING || !for_strip(plane, way, piece, claim))
            racing_store(conflict, 1);
    }
}

// lost[i] = 1 unless the piece owns all that it has claimed.
KERNEL(check_strips, Plane plane, const int32 *waiting, const int32 *ways, uint32 epoch, int32 *lost) {
    for (const Index i : launch) {
        const uint64 key = cavity_key(epoch, false, 0, int32(i));
        bool all = true;
        for_strip(plane, ways[i], plane.subsegments[waiting[i]],
                  [&](int32 slot) { all = all && plane.triangles[slot].owner == key; });
        lost[i] = !all;
    }
}

// Inserts the others, and flags the triangles that may have edges to be flipped.
KERNEL(insert_strips, Plane plane, const int32 *waiting, const int32 *ways, const int32 *lost, int32 *changed) {
    for (const Index i : launch) {
        if (lost[i])
            continue;
        for_strip(plane, ways[i], plane.subsegments[waiting[i]], [&](int32 slot) { racing_store(&changed[slot], 1); });
        insert_piece(plane, ways[i], waiting[i]);
    }
}

// The edge of each listed triangle that is to be flipped, as find_listed_flips of mesh/flips.cu, with ties broken;
// flags[i] belongs to the i-th.
KERNEL(find_plane_flips, Plane plane, const int32 *listed, int32 *edges, int32 *flags) {
    for (const Index i : launch) {
        const int32 t = listed[i];
        const Triangle &mine = plane.triangles[t];
        int32 failing = NOTHING;
        for (int k = 0; k < 3 && failing == NOTHING && ghost_corner(mine) == NOTHING; ++k) {
            const int32 other = mine.link[k];
            if (other <= t || ghost_corner(plane.triangles[other]) != NOTHING)
                continue;
            const Triangle &across = plane.triangles[other];
            const int32 opposite = across.vertex[edge_that_starts_at(across, edge_to(mine, k))];
            if (incircle_untied(plane.numbered(mine.vertex[0]), plane.numbered(mine.vertex[1]),
                                plane.numbered(mine.vertex[2]), plane.numbered(opposite)) > 0)
                failing = k;
        }
        edges[t] = failing;
        flags[i] = failing != NOTHING;
    }
}
