// Vertices along a Hilbert curve and triangles after their vertices: neighbours in the plane become neighbours in
// memory. Integer keys, ties by index: the same order everywhere.
#include "triangles.cuh"

constexpr int CURVE_LEVELS = 16; // two bits of the key each

// Position along the curve of cell (x, y) of a 2^16 by 2^16 grid: from the coarsest level down, take the quadrant's
// number along the curve, then turn the quadrant into standard position.
INLINE uint32 hilbert_index(uint32 x, uint32 y) {
    uint32 index = 0;
    for (uint32 side = 1u << (CURVE_LEVELS - 1); side > 0; side >>= 1) {
        const uint32 right = (x & side) != 0, upper = (y & side) != 0;
        index = index << 2 | ((3 * right) ^ upper);
        if (!upper) {
            if (right) {
                x = ~x;
                y = ~y;
            }
            const uint32 turned = x;
            x = y;
            y = turned;
        }
    }
    return index;
}

INLINE uint32 cell(float64 x, float64 low, float64 scale) {
    const float64 place = (x - low) * scale;
    return place >= 65535.0 ? 65535u : (place > 0.0 ? uint32(place) : 0u);
}

KERNEL(curve_keys, const Point *points, float64 low_x, float64 low_y, float64 scale, uint32 *keys) {
    FOR_RANGE (v)
        keys[v] = hilbert_index(cell(points[v].x, low_x, scale), cell(points[v].y, low_y, scale));
}

// ordered[i] = points[order[i]], and rank[order[i]] = i.
KERNEL(reorder_points, const Point *points, const int32 *order, Point *ordered, int32 *rank) {
    FOR_RANGE (i) {
        ordered[i] = points[order[i]];
        rank[order[i]] = int32(i);
    }
}

// The least rank of each triangle's corners: what triangles are sorted by.
KERNEL(triangle_keys, const int32 *corners, const int32 *rank, uint32 *keys) {
    FOR_RANGE (t) {
        const uint32 a = rank[corners[3 * t]], b = rank[corners[3 * t + 1]], c = rank[corners[3 * t + 2]];
        const uint32 least = a < b ? a : b;
        keys[t] = least < c ? least : c;
    }
}

KERNEL(make_triangles, const int32 *corners, const int32 *rank, const int32 *order, Triangle *triangles) {
    FOR_RANGE (i) {
        const Index t = order[i];
        Triangle &made = triangles[i];
        for (int k = 0; k < 3; ++k) {
            made.vertex[k] = rank[corners[3 * t + k]];
            made.link[k] = NOTHING;
        }
        made.owner = 0;
    }
}

// Back to the user's numbers: input vertices have their own again, Steiner points keep theirs.
KERNEL(restore_triangles, const Triangle *triangles, const Subsegment *subsegments, const int32 *order,
       int32 input_vertices, int32 *corners, int32 *neighbours) {
    FOR_RANGE (t) {
        const Triangle made = triangles[t];
        for (int k = 0; k < 3; ++k) {
            const int32 v = made.vertex[k], link = made.link[k];
            corners[3 * t + k] = v < input_vertices ? order[v] : v;
            int32 across = link;
            if (link < 0) {
                const Subsegment s = subsegments[~link];
                across = s.left == int32(t) ? s.right : s.left;
            }
            neighbours[3 * t + k] = across;
        }
    }
}
