// Smoothing of placed points in their triangulation, before refinement: no guarantee holds for them yet.
#include "geometry/predicates.cuh"
#include "mesh/triangles.cuh"
#include "primitives/hash.cuh"

constexpr int MOST_AROUND = 64;     // triangles around a vertex that moves
constexpr float64 RELAXATION = 1.2; // of moves to the mean; Jacobi iteration diverges from 4/3 on

// incident[v] = the highest number of a triangle at v; it starts with NOTHING.
KERNEL(find_incident, const Triangle *triangles, int32 *incident) {
    for (const Index t : launch)
        for (const int32 corner : triangles[t].vertex)
            atomic_max(&incident[corner], int32(t));
}

// Calls visit(triangle, number, place of the vertex in it) for the triangles around a free vertex, counter-clockwise,
// from `first` on. Returns how many there are, at most MOST_AROUND.
template <class Visit>
INLINE int for_triangles_around(const Triangle *triangles, int32 vertex, int32 first, Visit visit) {
    int32 t = first;
    int count = 0;
    do {
        const Triangle one = without_owner(triangles[t]);
        const int k = one.vertex[0] == vertex ? 0 : (one.vertex[1] == vertex ? 1 : 2);
        visit(one, t, k);
        t = link_across(one, next_corner(k));
        ++count;
    } while (t != first && t >= 0 && count < MOST_AROUND);
    return t == first ? count : MOST_AROUND;
}

// The same for the other two corners of each triangle: visit(next, previous).
template <class Visit> INLINE int for_star(const Triangle *triangles, int32 vertex, int32 first, Visit visit) {
    return for_triangles_around(triangles, vertex, first, [&](const Triangle &one, int32, int k) {
        visit(corner(one, next_corner(k)), corner(one, previous_corner(k)));
    });
}

// targets[v] = the place of a free vertex after a move towards the mean of its neighbours (Laplace), and past it, so
// that fewer rounds are needed. Any other vertex stays.
KERNEL(average_neighbours, const Triangle *triangles, const Point *points, const int32 *vertex_origin,
       const int32 *incident, Point *targets) {
    for (const Index v : launch) {
        targets[v] = points[v];
        if (vertex_origin[v] != FREE_VERTEX)
            continue;
        Point sum = {0.0, 0.0};
        const int count = for_star(triangles, int32(v), incident[v], [&](int32 next, int32) {
            sum.x += points[next].x;
            sum.y += points[next].y;
        });
        if (count < MOST_AROUND) {
            const float64 x = points[v].x, y = points[v].y;
            targets[v] = {x + RELAXATION * (sum.x / count - x), y + RELAXATION * (sum.y / count - y)};
        }
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

// ---- Smallest angles ------------------------------------------------------------------------------------------------

// The squared cosine of the smallest angle of a triangle; 2 if it is reversed.
INLINE float64 sharpness(Point a, Point b, Point c) {
    const float64 left = (b.x - a.x) * (c.y - a.y), right = (b.y - a.y) * (c.x - a.x);
    if (!(left - right > ORIENT_BOUND * (magnitude(left) + magnitude(right))))
        return 2.0;
    float64 short_side = squared_length(a, b), one = squared_length(b, c), other = squared_length(c, a);
    if (one < short_side) {
        const float64 longer = short_side;
        short_side = one, one = longer;
    }
    if (other < short_side) {
        const float64 longer = short_side;
        short_side = other, other = longer;
    }
    const float64 dot = 0.5 * (one + other - short_side);
    return dot * dot / (one * other);
}

// The sharpest triangle around a vertex, if the vertex were at p.
INLINE float64 sharpest_around(const Triangle *triangles, const Point *points, int32 vertex, int32 first, Point p) {
    float64 most = 0.0;
    const int count = for_star(triangles, vertex, first, [&](int32 next, int32 previous) {
        const float64 here = sharpness(p, points[next], points[previous]);
        most = here > most ? here : most;
    });
    return count < MOST_AROUND ? most : 2.0;
}

// The cost of the triangles around a vertex if it were at p: the sum of the eighth powers of the cosecants of their
// smallest angles, which the smallest ones dominate; infinity if a triangle is reversed.
INLINE float64 cost_around(const Triangle *triangles, const Point *points, int32 vertex, int32 first, Point p) {
    float64 sum = 0.0;
    const int count = for_star(triangles, vertex, first, [&](int32 next, int32 previous) {
        const float64 here = sharpness(p, points[next], points[previous]);
        const float64 squared = 1.0 / (1.0 - here);
        sum = here < 1.0 ? sum + squared * squared * (squared * squared) : INFINITE;
    });
    return count < MOST_AROUND ? sum : INFINITE;
}

// Sets flags[v] = 1 for the free vertices of a triangle if it is sharper than `limit`.
INLINE void flag_sharp(const Triangle &one, const Point *points, const int32 *vertex_origin, float64 limit,
                       int32 *flags) {
    const int32 *const v = one.vertex;
    if (!(sharpness(points[v[0]], points[v[1]], points[v[2]]) > limit))
        return;
    for (int k = 0; k < 3; ++k)
        if (vertex_origin[v[k]] == FREE_VERTEX)
            racing_store(&flags[v[k]], 1);
}

// flags[v] = 1 for the free vertices of triangles that are sharper than `limit`; flags start with 0.
KERNEL(flag_sharp_corners, const Triangle *triangles, const Point *points, const int32 *vertex_origin, float64 limit,
       int32 *flags) {
    for (const Index t : launch)
        flag_sharp(triangles[t], points, vertex_origin, limit, flags);
}

// The same for listed triangles.
KERNEL(flag_listed_sharp_corners, const int32 *listed, const Triangle *triangles, const Point *points,
       const int32 *vertex_origin, float64 limit, int32 *flags) {
    for (const Index i : launch)
        flag_sharp(triangles[listed[i]], points, vertex_origin, limit, flags);
}

// flags[t] = 1 for the triangles around listed vertices, and for their neighbours; flags start with 0.
KERNEL(flag_around_vertices, const int32 *listed, const Triangle *triangles, const int32 *incident, int32 *flags) {
    for (const Index i : launch) {
        for_triangles_around(triangles, listed[i], incident[listed[i]], [&](const Triangle &one, int32 t, int k) {
            racing_store(&flags[t], 1);
            const int32 across = link_across(one, k);
            if (across >= 0)
                racing_store(&flags[across], 1);
        });
    }
}

// worst[v] = the sharpest triangle around a listed vertex, if it is sharper than `limit`; 0 otherwise.
KERNEL(rate_stars, const int32 *listed, const Triangle *triangles, const Point *points, const int32 *incident,
       float64 limit, float64 *worst) {
    for (const Index i : launch) {
        const int32 v = listed[i];
        const float64 found = sharpest_around(triangles, points, v, incident[v], points[v]);
        worst[v] = found > limit ? found : 0.0;
    }
}

// Moves listed vertices, of which no two are neighbours, to places where the cost is lower: by direct search in eight
// directions. (Freitag, Jones and Plassmann 1999 maximise the smallest angle, in independent sets, too.) The order of
// neighbours is a hash that differs from sweep to sweep. A vertex around which no triangle is sharper than `limit` any
// more stays. moved[i] = 1 if the i-th one moves; it starts with 0.
KERNEL(lift_stars, const int32 *listed, const Triangle *triangles, const int32 *incident, const float64 *worst,
       float64 limit, uint32 sweep, Point *points, int32 *moved) {
    constexpr float64 DIAGONAL = 0.70710678118654752;
    for (const Index i : launch) {
        const int32 v = listed[i];
        if (worst[v] == 0.0)
            continue;
        const uint32 priority = hash32(hash32(sweep) ^ uint32(v));
        bool first = true;
        float64 squared_reach = INFINITE;
        const Point start = points[v];
        for_star(triangles, v, incident[v], [&](int32 next, int32) {
            first = first && (worst[next] == 0.0 || hash32(hash32(sweep) ^ uint32(next)) < priority);
            const float64 squared = squared_length(start, points[next]);
            squared_reach = squared < squared_reach ? squared : squared_reach;
        });
        if (!first || !(sharpest_around(triangles, points, v, incident[v], start) > limit))
            continue;
        Point best = start;
        float64 least = cost_around(triangles, points, v, incident[v], start), step = 0.25 * square_root(squared_reach);
        for (int turn = 0; turn < 6; ++turn) {
            const Point center = best;
            Point by = {step, 0.0};
            for (int direction = 0; direction < 8; ++direction) {
                const Point p = {center.x + by.x, center.y + by.y};
                const float64 here = cost_around(triangles, points, v, incident[v], p);
                if (here < least)
                    least = here, best = p;
                by = {DIAGONAL * (by.x - by.y), DIAGONAL * (by.x + by.y)};
            }
            if (best.x == center.x && best.y == center.y)
                step *= 0.5;
        }
        if (best.x != start.x || best.y != start.y) {
            points[v] = best;
            moved[i] = 1;
        }
    }
}
