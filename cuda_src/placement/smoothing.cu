// Smoothing of placed points in their triangulation, before refinement: no guarantee holds for them yet.
#include "geometry/predicates.cuh"
#include "placement/stars.cuh"

constexpr float64 RELAXATION = 1.2; // of moves to the mean; Jacobi iteration diverges from 4/3 on

// incident[v] = the highest number of a triangle at v; it starts with NOTHING.
KERNEL(find_incident, const Triangle *triangles, int32 *incident) {
    for (const Index t : launch)
        for (const int32 corner : triangles[t].vertex)
            atomic_max(&incident[corner], int32(t));
}

// The neighbours of a free vertex, counter-clockwise, while no edge is flipped; NOTHING after the last one. None of a
// vertex beside a needle, as those along a long segment that must not be split: the mean of its neighbours is far away.
constexpr int LISTED_NEIGHBOURS = 8;
struct alignas(32) Neighbours {
    int32 vertex[8]; // LISTED_NEIGHBOURS
};
constexpr int32 NOT_LISTED = -2; // the first entry of a vertex with more neighbours

KERNEL(gather_neighbours, const Triangle *triangles, const Point *points, const int32 *vertex_origin,
       const int32 *incident, Neighbours *neighbours) {
    for (const Index v : launch) {
        Neighbours around;
        for (int32 &each : around.vertex)
            each = NOTHING;
        if (vertex_origin[v] == FREE_VERTEX) {
            int found = 0;
            float64 nearest = INFINITE, farthest = 0.0;
            const int count = for_star(triangles, int32(v), incident[v], [&](int32 next, int32) {
                const float64 squared = squared_length(points[v], points[next]);
                nearest = squared < nearest ? squared : nearest;
                farthest = squared > farthest ? squared : farthest;
                if (found < LISTED_NEIGHBOURS)
                    around.vertex[found] = next;
                ++found;
            });
            if (count == MOST_AROUND || farthest > NEEDLE * NEEDLE * nearest)
                around.vertex[0] = NOTHING;
            else if (count > LISTED_NEIGHBOURS)
                around.vertex[0] = NOT_LISTED;
        }
        neighbours[v] = around;
    }
}

// targets[v] = the place of a free vertex after a move towards the mean of its neighbours (Laplace), and past it, so
// that fewer rounds are needed. Any other vertex stays.
KERNEL(average_neighbours, const Neighbours *neighbours, const Triangle *triangles, const Point *points,
       const int32 *incident, Point *targets) {
    for (const Index v : launch) {
        const Neighbours around = neighbours[v];
        Point sum = {0.0, 0.0};
        const auto add = [&](int32 next) {
            sum.x += points[next].x;
            sum.y += points[next].y;
        };
        int count = 0;
        if (around.vertex[0] == NOT_LISTED)
            count = for_star(triangles, int32(v), incident[v], [&](int32 next, int32) { add(next); });
        else
            for (; count < LISTED_NEIGHBOURS && around.vertex[count] != NOTHING; ++count)
                add(around.vertex[count]);
        Point target = points[v];
        if (count > 0) {
            const float64 x = target.x, y = target.y;
            target = {x + RELAXATION * (sum.x / count - x), y + RELAXATION * (sum.y / count - y)};
        }
        targets[v] = target;
    }
}

// Sets found[0] = 1 if the moves to the targets reverse a triangle; its free corners stay (stays[v] = 1).
KERNEL(find_reversed, const Triangle *triangles, const Point *targets, int32 *stays, int32 *found) {
    for (const Index t : launch) {
        const int32 *const v = triangles[t].vertex;
        if (orient2d(targets[v[0]], targets[v[1]], targets[v[2]]) > 0)
            continue;
        racing_store(found, 1);
        for (int k = 0; k < 3; ++k)
            racing_store(&stays[v[k]], 1);
    }
}

KERNEL(take_moves_back, const Point *points, const int32 *stays, Point *targets) {
    for (const Index v : launch)
        if (stays[v])
            targets[v] = points[v];
}
