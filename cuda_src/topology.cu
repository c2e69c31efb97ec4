// From a list of corners to linked triangles, and the checks of a triangulation that need no more than a look around.
//
// Directed edges are kept by their starting vertex (CSR: first[v] up to first[v + 1]); the triangle across edge u -> v
// is the one that has v -> u. The order within a vertex's bucket depends on who came first, what is found in it does not.
#include "triangles.cuh"

// A place for the least index at which something was found wrong; NONE where nothing was.
constexpr int32 NONE = 0x7fffffff;

// The link of an edge while nothing is known of its other side.
constexpr int32 UNLINKED = -0x7fffffff - 1;

// Turns clockwise triangles around (and counts them); reports the first one without area.
KERNEL(orient_triangles, const Point *points, int32 *corners, int32 *turned, int32 *flat) {
    FOR_RANGE (t) {
        const int sign = orient2d(points[corners[3 * t]], points[corners[3 * t + 1]], points[corners[3 * t + 2]]);
        if (sign < 0) {
            const int32 second = corners[3 * t + 1];
            corners[3 * t + 1] = corners[3 * t + 2];
            corners[3 * t + 2] = second;
            atomic_add(turned, 1);
        } else if (sign == 0) {
            atomic_min(flat, int32(t));
        }
    }
}

KERNEL(count_edges_out, const Triangle *triangles, int32 *counts) {
    FOR_RANGE (t)
        for (int k = 0; k < 3; ++k)
            atomic_add(&counts[triangles[t].vertex[k]], 1);
}

// filled[v] counts up from 0; half-edges are triangle << 2 | edge.
KERNEL(list_edges_out, const Triangle *triangles, const int32 *first, int32 *filled, int32 *half_edges) {
    FOR_RANGE (t)
        for (int k = 0; k < 3; ++k) {
            const int32 from = edge_from(triangles[t], k);
            half_edges[first[from] + atomic_add(&filled[from], 1)] = int32(t) << 2 | k;
        }
}

// Visits the half-edges u -> v (more than one only where triangles overlap). They are looked for at the end with fewer
// triangles, so that a hub of many triangles is not gone through for each of them: a triangle with an edge out of v has
// one into v as well, the edge before.
template <class Visit>
INLINE void for_half_edges(const Triangle *triangles, const int32 *first, const int32 *half_edges, int32 u, int32 v,
                           Visit visit) {
    const bool at_start = first[u + 1] - first[u] <= first[v + 1] - first[v];
    const int32 end = at_start ? u : v;
    for (int32 place = first[end]; place < first[end + 1]; ++place) {
        const int32 t = half_edges[place] >> 2;
        const int out = half_edges[place] & 3, e = at_start ? out : previous_corner(out);
        if (edge_from(triangles[t], e) == u && edge_to(triangles[t], e) == v)
            visit(t << 2 | e);
    }
}

// The half-edge u -> v, or NOTHING.
INLINE int32 find_half_edge(const Triangle *triangles, const int32 *first, const int32 *half_edges, int32 u, int32 v) {
    int32 found = NOTHING;
    for_half_edges(triangles, first, half_edges, u, v, [&](int32 half_edge) { found = half_edge; });
    return found;
}

// Links all triangles; an edge that two triangles have on the same side is reported by the greater of their
// original indices (the least over all such edges).
KERNEL(link_triangles, const int32 *first, const int32 *half_edges, const int32 *order, Triangle *triangles,
       int32 *overlapping) {
    FOR_RANGE (t)
        for (int k = 0; k < 3; ++k) {
            const int32 from = edge_from(triangles[t], k), to = edge_to(triangles[t], k);
            const int32 across = find_half_edge(triangles, first, half_edges, to, from);
            triangles[t].link[k] = across == NOTHING ? UNLINKED : across >> 2;
            for_half_edges(triangles, first, half_edges, from, to, [&](int32 half_edge) {
                const int32 twin = half_edge >> 2;
                if (twin != t)
                    atomic_min(overlapping, order[twin] > order[t] ? order[twin] : order[t]);
            });
        }
}

// How many triangles at each vertex hold the direction of the positive x axis, the lower edge of the corner counted
// and the upper one not. Around a vertex that is covered once there is one at most.
KERNEL(count_windings, const Triangle *triangles, const Point *points, int32 *windings) {
    FOR_RANGE (t)
        for (int k = 0; k < 3; ++k) {
            const int32 v = triangles[t].vertex[k];
            const Point center = points[v];
            const Point start = points[edge_from(triangles[t], k)], stop = points[edge_to(triangles[t], k)];
            const auto upper = [&](Point p) { return p.y > center.y || (p.y == center.y && p.x < center.x); };
            // The corner is below 180 degrees: it holds the axis where it starts on or below and stops above it.
            if (!upper(start) && upper(stop))
                atomic_add(&windings[v], 1);
        }
}

KERNEL(report_windings, const int32 *windings, const int32 *order, int32 *folded) {
    FOR_RANGE (v)
        if (windings[v] > 1)
            atomic_min(folded, order[v]);
}

// Constrained edges that the user named become subsegments 0, 1, ...; ends are vertex ranks. A segment that is no edge
// of the mesh is reported.
KERNEL(attach_segments, const int32 *ends, const int32 *first, const int32 *half_edges, Triangle *triangles,
       Subsegment *subsegments, int32 *missing) {
    FOR_RANGE (s) {
        int32 from = ends[2 * s], to = ends[2 * s + 1];
        int32 left = find_half_edge(triangles, first, half_edges, from, to);
        int32 right = find_half_edge(triangles, first, half_edges, to, from);
        if (left == NOTHING && right == NOTHING) {
            atomic_min(missing, int32(s));
            continue;
        }
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

// Edges that are still UNLINKED after attach_segments are boundary edges that nobody named.
KERNEL(count_boundary, const Triangle *triangles, int32 *counts) {
    FOR_RANGE (t) {
        counts[t] = 0;
        for (int k = 0; k < 3; ++k)
            counts[t] += triangles[t].link[k] == UNLINKED;
    }
}

KERNEL(attach_boundary, const int32 *offsets, int32 named, Triangle *triangles, Subsegment *subsegments) {
    FOR_RANGE (t) {
        int32 next = named + offsets[t];
        for (int k = 0; k < 3; ++k)
            if (triangles[t].link[k] == UNLINKED) {
                subsegments[next] = {edge_from(triangles[t], k), edge_to(triangles[t], k), int32(t), NOTHING};
                triangles[t].link[k] = ~next++;
            }
    }
}
