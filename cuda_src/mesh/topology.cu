// Links the triangles of a list of corners, and makes the local checks of a triangulation.
//
// Directed edges are stored by their start vertex (CSR: first[v] up to first[v + 1]); the triangle across edge u -> v
// is the one that has v -> u. The order within a vertex's bucket depends on thread timing; the results do not.
#include "geometry/predicates.cuh"
#include "mesh/split_states.cuh"
#include "mesh/triangles.cuh"

// Where the least index of an error is stored, NO_INDEX stands for no error.

// The link of an edge while its other side is unknown.
constexpr int32 UNLINKED = -0x7fffffff - 1;

// Reverses clockwise triangles, and counts them. Reports the first triangle without area, and the first one with a
// corner that is not the index of a vertex.
KERNEL(orient_triangles, const Point *points, int32 vertices, int32 *corners, int32 *reversed, int32 *flat,
       int32 *stray) {
    for (const Index t : launch) {
        const int32 a = corners[3 * t], b = corners[3 * t + 1], c = corners[3 * t + 2];
        if (a < 0 || a >= vertices || b < 0 || b >= vertices || c < 0 || c >= vertices) {
            atomic_min(stray, int32(t));
            continue;
        }
        const int sign = orient2d(points[a], points[b], points[c]);
        if (sign < 0) {
            corners[3 * t + 1] = c;
            corners[3 * t + 2] = b;
            atomic_add(reversed, 1);
        } else if (sign == 0) {
            atomic_min(flat, int32(t));
        }
    }
}

// A triangle given by its corners alone.
struct TriangleCorners {
    int32 vertex[3];
};

template <class Cornered> INLINE void count_out(const Cornered &triangle, int32 *counts) {
    for (int k = 0; k < 3; ++k)
        atomic_add(&counts[triangle.vertex[k]], 1);
}

template <class Cornered>
INLINE void list_out(Index t, const Cornered &triangle, const int32 *first, int32 *filled, int32 *half_edges) {
    for (int k = 0; k < 3; ++k) {
        const int32 from = triangle.vertex[next_corner(k)];
        half_edges[first[from] + atomic_add(&filled[from], 1)] = int32(t) << 2 | k;
    }
}

// Visits the triangles on both sides of an edge: visit(half_edge, true) for u -> v, visit(half_edge, false) for v -> u,
// until a visit returns true.
// There is more than one each only if triangles overlap. The search is at the end with fewer triangles, so that a hub
// of many triangles is not scanned for each of them: a triangle with an edge out of a vertex also has one into it, the
// edge before.
template <class Cornered, class Visit>
INLINE void for_sides(const Cornered *triangles, const int32 *first, const int32 *half_edges, int32 u, int32 v,
                      Visit visit) {
    const bool at_u = first[u + 1] - first[u] <= first[v + 1] - first[v];
    const int32 near = at_u ? u : v, far = at_u ? v : u;
    for (int32 place = first[near], last = first[near + 1]; place < last; ++place) {
        const int32 t = half_edges[place] >> 2;
        const int out = half_edges[place] & 3;
        if (triangles[t].vertex[previous_corner(out)] == far && visit(half_edges[place], at_u))
            return;
        if (triangles[t].vertex[out] == far && visit(t << 2 | previous_corner(out), !at_u))
            return;
    }
}

KERNEL(count_edges_out, const Triangle *triangles, int32 *counts) {
    for (const Index t : launch)
        count_out(triangles[t], counts);
}

KERNEL(count_sides_out, const TriangleCorners *triangles, int32 *counts) {
    for (const Index t : launch)
        count_out(triangles[t], counts);
}

// filled[v] counts up from 0; half-edges are triangle << 2 | edge.
KERNEL(list_edges_out, const Triangle *triangles, const int32 *first, int32 *filled, int32 *half_edges) {
    for (const Index t : launch)
        list_out(t, triangles[t], first, filled, half_edges);
}

KERNEL(list_sides_out, const TriangleCorners *triangles, const int32 *first, int32 *filled, int32 *half_edges) {
    for (const Index t : launch)
        list_out(t, triangles[t], first, filled, half_edges);
}

// marks[v] = 1 for the corners of triangles.
KERNEL(mark_corners, const int32 *corners, uint8 *marks) {
    for (const Index i : launch)
        racing_store(&marks[corners[i]], uint8(1));
}

// places[order[i]] = i.
KERNEL(invert_order, const int32 *order, int32 *places) {
    for (const Index i : launch)
        places[order[i]] = int32(i);
}

// Links triangles whose neighbours in the user's numbering are known.
KERNEL(link_neighbours, const int32 *neighbours, const int32 *order, const int32 *places, Triangle *triangles) {
    for (const Index i : launch)
        for (int k = 0; k < 3; ++k) {
            const int32 across = neighbours[3 * Index(order[i]) + k];
            triangles[i].link[k] = across == NOTHING ? UNLINKED : places[across];
        }
}

// Links all triangles. An edge that two triangles have on the same side is reported by the greater of their original
// indices (the least over all such edges).
KERNEL(link_triangles, const int32 *first, const int32 *half_edges, const int32 *order, Triangle *triangles,
       int32 *overlapping) {
    for (const Index t : launch)
        for (int k = 0; k < 3; ++k) {
            int32 across = UNLINKED;
            const auto side = [&](int32 half_edge, bool same) {
                const int32 other = half_edge >> 2;
                if (!same)
                    across = other;
                else if (other != t)
                    atomic_min(overlapping, order[other] > order[t] ? order[other] : order[t]);
                return false;
            };
            for_sides(triangles, first, half_edges, edge_from(triangles[t], k), edge_to(triangles[t], k), side);
            triangles[t].link[k] = across;
        }
}

// The same for corners alone: the triangle across each edge, or NOTHING. `overlapping` becomes 1 if an edge is found
// twice on one side.
KERNEL(find_neighbours, const TriangleCorners *triangles, const int32 *first, const int32 *half_edges,
       int32 *neighbours, int32 *overlapping) {
    for (const Index t : launch)
        for (int k = 0; k < 3; ++k) {
            int32 across = NOTHING;
            const auto side = [&](int32 half_edge, bool same) {
                if (!same)
                    across = half_edge >> 2;
                else if (half_edge != (int32(t) << 2 | k))
                    atomic_max(overlapping, 1);
                return false;
            };
            const int32(&vertex)[3] = triangles[t].vertex;
            for_sides(triangles, first, half_edges, vertex[next_corner(k)], vertex[previous_corner(k)], side);
            neighbours[3 * t + k] = across;
        }
}

// Counts the triangles at each vertex that contain the direction of the positive x axis; the lower edge of the corner
// is included, the upper one is not. A vertex that is covered once has at most one.
KERNEL(count_windings, const Triangle *triangles, const Point *points, int32 *windings) {
    for (const Index t : launch)
        for (int k = 0; k < 3; ++k) {
            const int32 v = triangles[t].vertex[k];
            const Point center = points[v];
            const Point start = points[edge_from(triangles[t], k)], stop = points[edge_to(triangles[t], k)];
            const auto upper = [&](Point p) { return p.y > center.y || (p.y == center.y && p.x < center.x); };
            // The corner is below 180 degrees: it contains the axis if it starts on or below it and stops above it.
            if (!upper(start) && upper(stop))
                atomic_add(&windings[v], 1);
        }
}

KERNEL(report_windings, const int32 *windings, const int32 *order, int32 *folded) {
    for (const Index v : launch)
        if (windings[v] > 1)
            atomic_min(folded, order[v]);
}

// Makes the user's constrained edges subsegments 0, 1, ...; `ends` are in the user's numbering. Reports a segment that
// is not an edge of the mesh. If a half-edge of each is known, `sides` has it, with a triangle in the user's numbering,
// and `places` the triangles' places; otherwise edges are searched in the list of half-edges.
KERNEL(attach_segments, const int32 *ends, const int32 *rank, const int32 *first, const int32 *half_edges,
       const int32 *sides, const int32 *places, Triangle *triangles, Subsegment *subsegments, int32 *missing) {
    for (const Index s : launch) {
        int32 from = rank[ends[2 * s]], to = rank[ends[2 * s + 1]];
        int32 found = NOTHING; // a half-edge between the two, in either direction
        if (sides != nullptr)
            found = places[sides[s] >> 2] << 2 | (sides[s] & 3);
        else
            for_sides(triangles, first, half_edges, from, to, [&](int32 half_edge, bool) {
                found = half_edge;
                return true;
            });
        if (found == NOTHING) {
            atomic_min(missing, int32(s));
            continue;
        }
        // The other side is linked: nobody else writes the links of this edge.
        const Triangle &t = triangles[found >> 2];
        const int32 end = edge_to(t, found & 3), across = t.link[found & 3];
        const int32 other = across < 0 ? NOTHING : across << 2 | edge_that_starts_at(triangles[across], end);
        int32 left = end == to ? found : other, right = end == to ? other : found;
        if (left == NOTHING) {
            const int32 end = from;
            from = to, to = end;
            left = right, right = NOTHING;
        }
        triangles[left >> 2].link[left & 3] = ~int32(s);
        if (right != NOTHING)
            triangles[right >> 2].link[right & 3] = ~int32(s);
        subsegments[s] = {from, to, left >> 2, right == NOTHING ? NOTHING : right >> 2};
    }
}

// Edges that are still UNLINKED after attach_segments are boundary edges that the user did not name: counts them per
// triangle, and adds them to `all`.
KERNEL(count_boundary, const Triangle *triangles, int32 *counts, int32 *all) {
    for (const Index t : launch) {
        int32 count = 0;
        for (int k = 0; k < 3; ++k)
            count += triangles[t].link[k] == UNLINKED;
        counts[t] = count;
        if (count)
            atomic_add(all, count);
    }
}

KERNEL(attach_boundary, const int32 *offsets, int32 named, Triangle *triangles, Subsegment *subsegments) {
    for (const Index t : launch) {
        int32 next = named + offsets[t];
        for (int k = 0; k < 3; ++k)
            if (triangles[t].link[k] == UNLINKED) {
                subsegments[next] = {edge_from(triangles[t], k), edge_to(triangles[t], k), int32(t), NOTHING};
                triangles[t].link[k] = ~next++;
            }
    }
}

// The first split states of the subsegments, of which those on the boundary are kept.
KERNEL(keep_boundary, const Subsegment *subsegments, int32 *split_states) {
    for (const Index s : launch)
        split_states[s] = subsegments[s].right == NOTHING ? int32(KEPT) : int32(NO_REQUEST);
}
