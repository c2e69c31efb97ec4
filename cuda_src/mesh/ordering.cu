// Orders vertices along a Hilbert curve and triangles after their vertices: neighbours in the plane become neighbours
// in memory. The keys are integers, and ties are broken by index: the same order everywhere.
#include "geometry/curve.cuh"
#include "geometry/predicates.cuh"
#include "mesh/triangles.cuh"

constexpr int ITEMS = 8;                // points per member of a survey
constexpr int TILE = TEAM_SIZE * ITEMS; // points per team

KERNEL(curve_keys, const Point *points, float64 low_x, float64 low_y, float64 scale, uint32 *keys) {
    for (const Index v : launch)
        keys[v] = hilbert_index<uint32>(curve_cell(points[v].x, low_x, scale, CURVE_LEVELS),
                                        curve_cell(points[v].y, low_y, scale, CURVE_LEVELS), CURVE_LEVELS);
}

struct Box {
    float64 low_x, low_y, high_x, high_y;
};

INLINE bool usable(float64 x, float64 smallest, float64 largest) {
    return magnitude(x) <= largest && (magnitude(x) >= smallest || x == 0.0); // NaN fails both
}

// Computes the bounding boxes of tiles of points. If a coordinate is outside the range of the predicates, low_x is
// -INFINITE.
TEAM_KERNEL(survey_points, const Point *points, int64 count, float64 smallest, float64 largest, Box *boxes) {
    TEAM_SHARED(Box, box, TEAM_SIZE);
    for (const Team team : launch.teams()) {
        team.for_members([&](int member) {
            Box &own = box[member];
            own = {INFINITE, INFINITE, -INFINITE, -INFINITE};
            for (int item = 0; item < ITEMS; ++item) {
                const Index i = team.number * TILE + Index(item) * TEAM_SIZE + member;
                if (i >= count)
                    break;
                const Point p = points[i];
                own = {p.x < own.low_x ? p.x : own.low_x, p.y < own.low_y ? p.y : own.low_y,
                       p.x > own.high_x ? p.x : own.high_x, p.y > own.high_y ? p.y : own.high_y};
                if (!usable(p.x, smallest, largest) || !usable(p.y, smallest, largest))
                    own.low_x = -INFINITE;
            }
        });
        for (int reach = TEAM_SIZE / 2; reach > 0; reach /= 2)
            team.for_members([&](int member) {
                if (member < reach) {
                    Box &own = box[member];
                    const Box other = box[member + reach];
                    own = {other.low_x < own.low_x ? other.low_x : own.low_x,
                           other.low_y < own.low_y ? other.low_y : own.low_y,
                           other.high_x > own.high_x ? other.high_x : own.high_x,
                           other.high_y > own.high_y ? other.high_y : own.high_y};
                }
            });
        if (team.leads())
            boxes[team.number] = box[0];
        team.barrier();
    }
}

// ordered[i] = points[order[i]], and rank[order[i]] = i.
KERNEL(reorder_points, const Point *points, const int32 *order, Point *ordered, int32 *rank) {
    for (const Index i : launch) {
        ordered[i] = points[order[i]];
        rank[order[i]] = int32(i);
    }
}

// Row i of `ordered` = row order[i] of `rows`.
KERNEL(reorder_rows, const float64 *rows, const int32 *order, int32 width, float64 *ordered) {
    for (const Index i : launch)
        for (int32 column = 0; column < width; ++column)
            ordered[i * width + column] = rows[Index(order[i]) * width + column];
}

// The least rank of each triangle's corners: the key by which triangles are sorted.
KERNEL(triangle_keys, const int32 *corners, const int32 *rank, uint32 *keys) {
    for (const Index t : launch) {
        const uint32 a = rank[corners[3 * t]], b = rank[corners[3 * t + 1]], c = rank[corners[3 * t + 2]];
        const uint32 least = a < b ? a : b;
        keys[t] = least < c ? least : c;
    }
}

KERNEL(make_triangles, const int32 *corners, const int32 *rank, const int32 *order, Triangle *triangles) {
    for (const Index i : launch) {
        const Index t = order[i];
        Triangle &made = triangles[i];
        for (int k = 0; k < 3; ++k) {
            made.vertex[k] = rank[corners[3 * t + k]];
            made.link[k] = NOTHING;
        }
        made.owner = 0;
    }
}

// Restores the user's numbering: input vertices have their original numbers again, Steiner points keep theirs.
KERNEL(restore_corners, const Triangle *triangles, const int32 *order, int32 input_vertices, int32 *corners) {
    for (const Index t : launch)
        for (int k = 0; k < 3; ++k) {
            const int32 v = triangles[t].vertex[k];
            corners[3 * t + k] = v < input_vertices ? order[v] : v;
        }
}

// flags[v] = 1 if the origin of vertex v is a segment.
KERNEL(flag_on_segments, const int32 *origins, int32 *flags) {
    for (const Index v : launch)
        flags[v] = origins[v] >= 0;
}

KERNEL(restore_ends, const Subsegment *subsegments, const int32 *order, int32 input_vertices, int32 *ends) {
    for (const Index s : launch) {
        const int32 u = subsegments[s].from, v = subsegments[s].to;
        ends[2 * s] = u < input_vertices ? order[u] : u;
        ends[2 * s + 1] = v < input_vertices ? order[v] : v;
    }
}
