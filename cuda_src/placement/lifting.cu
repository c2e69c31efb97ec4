// Lifts small angles of placed points in their triangulation, by a direct search for better places of their vertices.
#include "geometry/predicates.cuh"
#include "mesh/failing_edge.cuh"
#include "placement/stars.cuh"
#include "primitives/hash.cuh"

// The squared cosine of the smallest angle of a triangle, from the squares of its sides.
INLINE float64 squared_cosine(float64 ab, float64 bc, float64 ca) {
    const float64 shorter = ab < bc ? ab : bc, one = ab < bc ? bc : ab;
    const float64 shortest = shorter < ca ? shorter : ca, other = shorter < ca ? ca : shorter;
    const float64 dot = 0.5 * (one + other - shortest);
    return dot * dot / (one * other);
}

// Whether the triangle of the origin, b and c is counter-clockwise beyond doubt.
INLINE bool turns_left(Point b, Point c) {
    const float64 left = b.x * c.y, right = b.y * c.x;
    return left - right > ORIENT_BOUND * (magnitude(left) + magnitude(right));
}

// The squared cosine of the smallest angle of a triangle; 2 if it is reversed.
INLINE float64 sharpness(Point a, Point b, Point c) {
    if (!turns_left({b.x - a.x, b.y - a.y}, {c.x - a.x, c.y - a.y}))
        return 2.0;
    return squared_cosine(squared_length(a, b), squared_length(b, c), squared_length(c, a));
}

// Whether one edge of a triangle is so much longer than another that no move of a vertex helps: it lacks points.
INLINE bool is_needle(Point a, Point b, Point c) {
    const float64 ab = squared_length(a, b), bc = squared_length(b, c), ca = squared_length(c, a);
    const float64 shorter = ab < bc ? ab : bc, longer = ab < bc ? bc : ab;
    return (longer < ca ? ca : longer) > NEEDLE * NEEDLE * (shorter < ca ? shorter : ca);
}

// The sharpest triangle around a vertex; 0 if one is a needle.
INLINE float64 sharpest_around(const Triangle *triangles, const Point *points, int32 vertex, int32 first,
                               float64 limit) {
    float64 most = 0.0;
    bool needle = false;
    const int count = for_star(triangles, vertex, first, [&](int32 next, int32 previous) {
        const Point a = points[vertex], b = points[next], c = points[previous];
        const float64 here = sharpness(a, b, c);
        most = here > most ? here : most;
        needle = needle || (here > limit && is_needle(a, b, c));
    });
    return needle ? 0.0 : count < MOST_AROUND ? most : 2.0;
}

// The triangles around a vertex that moves.
struct LiftedStar {
    int count = 0;
    Point corners[MOST_AROUND]; // counter-clockwise; the first one again at the end
    float64 sides[MOST_AROUND]; // the squared distance from each to the next one

    METHOD void close() {
        corners[count] = corners[0];
        for (int k = 0; k < count; ++k)
            sides[k] = squared_length(corners[k], corners[k + 1]);
    }

    // The costs of the triangles if the vertex were at each of some places: the sum of the eighth powers of the
    // cosecants of their smallest angles, which the smallest ones dominate; infinity if a triangle is reversed. A loop
    // over the places without a branch: a CPU computes several at a time.
    template <int PLACES> METHOD void find_costs(const float64 *x, const float64 *y, float64 *sums) const {
        float64 there_x[PLACES], there_y[PLACES], squared_there[PLACES];
        for (int i = 0; i < PLACES; ++i) {
            sums[i] = 0.0;
            there_x[i] = corners[0].x - x[i], there_y[i] = corners[0].y - y[i];
            squared_there[i] = there_x[i] * there_x[i] + there_y[i] * there_y[i];
        }
        for (int k = 0; k < count; ++k)
            for (int i = 0; i < PLACES; ++i) {
                const Point here = {there_x[i], there_y[i]};
                const float64 squared_here = squared_there[i];
                const Point there = {corners[k + 1].x - x[i], corners[k + 1].y - y[i]};
                there_x[i] = there.x, there_y[i] = there.y;
                squared_there[i] = there.x * there.x + there.y * there.y;
                // The sine of the smallest angle is twice the area over the product of the two longer sides.
                const float64 twice_area = here.x * there.y - here.y * there.x;
                const float64 product =
                    greater(squared_here, squared_there[i]) * greater(lesser(squared_here, squared_there[i]), sides[k]);
                const float64 squared = product / (twice_area * twice_area);
                const float64 cost = squared * squared * (squared * squared);
                const float64 least = turns_left(here, there) ? 0.0 : INFINITE;
                sums[i] += cost > least ? cost : least; // the cost is above 0, unless the triangle is degenerate
            }
    }
};

// A set that kernels add to: `listed` has its elements in any order, and `marks` is 1 for each of them, 0 for others.
KERNEL_STRUCT(Listing) {
    int32 *marks;
    int32 *listed;
    int32 *count;

    METHOD void add(int32 element) const {
        if (racing_load(&marks[element]) == 0 && compare_and_swap(&marks[element], 0, 1) == 0)
            listed[atomic_add(count, 1)] = element;
    }
};

// Adds the free vertices of a triangle if it is sharper than `limit`, and no needle.
INLINE void list_sharp(const Triangle &one, const Point *points, const int32 *vertex_origin, float64 limit,
                       const Listing &sharp) {
    const int32 *const v = one.vertex;
    const Point a = points[v[0]], b = points[v[1]], c = points[v[2]];
    if (!(sharpness(a, b, c) > limit) || is_needle(a, b, c))
        return;
    for (int k = 0; k < 3; ++k)
        if (vertex_origin[v[k]] == FREE_VERTEX)
            sharp.add(v[k]);
}

// Lists the free vertices of triangles that are sharper than `limit`.
KERNEL(list_sharp_corners, const Triangle *triangles, const Point *points, const int32 *vertex_origin, float64 limit,
       Listing sharp) {
    for (const Index t : launch)
        list_sharp(triangles[t], points, vertex_origin, limit, sharp);
}

// The same for listed triangles, whose marks are removed.
KERNEL(list_sharp_corners_around, Listing around, const Triangle *triangles, const Point *points,
       const int32 *vertex_origin, float64 limit, Listing sharp) {
    for (const Index i : launch) {
        around.marks[around.listed[i]] = 0;
        list_sharp(triangles[around.listed[i]], points, vertex_origin, limit, sharp);
    }
}

// Listed vertices that are to be moved.
KERNEL_STRUCT(Stars) {
    const Triangle *triangles;
    const int32 *incident;
    Point *points;
    float64 *worst; // by vertex: the sharpest triangle around it, if that is sharper than the limit; 0 otherwise
    int32 *moved;   // by place in the list: 1 if the vertex has moved; between two turns 0, as `worst`
    int32 *settled; // by vertex: 1 if no move has lowered its cost, and no neighbour has moved since
    float64 limit;

    METHOD void rate(int32 v) const {
        const float64 found = sharpest_around(triangles, points, v, incident[v], limit);
        worst[v] = found > limit ? found : 0.0;
    }

    // Moves a vertex to where its cost is lower, by direct search in eight directions, unless a neighbour goes first:
    // the order is a hash that differs from sweep to sweep. (Freitag, Jones and Plassmann 1999 maximise the smallest
    // angle, in independent sets, too.) A vertex around which no triangle is sharper than the limit any more stays.
    // Returns whether it has moved.
    METHOD bool lift(int32 v, uint32 sweep) const {
        constexpr float64 DIAGONAL = 0.70710678118654752;
        constexpr int DIRECTIONS = 8;
        if (worst[v] == 0.0 || racing_load(&settled[v]) != 0) // a neighbour that moves goes first
            return false;
        const uint32 priority = hash32(hash32(sweep) ^ uint32(v));
        bool first = true;
        float64 squared_reach = INFINITE, sharpest = 0.0;
        const Point start = points[v];
        LiftedStar star;
        const int count = for_star(triangles, v, incident[v], [&](int32 next, int32 previous) {
            first = first && (worst[next] == 0.0 || hash32(hash32(sweep) ^ uint32(next)) < priority);
            if (!first)
                return;
            const float64 squared = squared_length(start, points[next]);
            squared_reach = squared < squared_reach ? squared : squared_reach;
            const float64 here = sharpness(start, points[next], points[previous]);
            sharpest = here > sharpest ? here : sharpest;
            star.corners[star.count++] = points[next];
        });
        if (!first || count == MOST_AROUND || !(sharpest > limit))
            return false;
        star.close();
        Point best = start;
        float64 least, step = 0.25 * square_root(squared_reach);
        star.find_costs<1>(&start.x, &start.y, &least);
        for (int turn = 0; turn < 6; ++turn) {
            float64 x[DIRECTIONS], y[DIRECTIONS], costs[DIRECTIONS];
            Point by = {step, 0.0};
            for (int k = 0; k < DIRECTIONS; ++k) {
                x[k] = best.x + by.x, y[k] = best.y + by.y;
                by = {DIAGONAL * (by.x - by.y), DIAGONAL * (by.x + by.y)};
            }
            star.find_costs<DIRECTIONS>(x, y, costs);
            bool found = false;
            for (int k = 0; k < DIRECTIONS; ++k)
                if (costs[k] < least) {
                    least = costs[k], best = {x[k], y[k]};
                    found = true;
                }
            if (!found)
                step *= 0.5;
        }
        if (best.x == start.x && best.y == start.y) {
            settled[v] = 1;
            return false;
        }
        points[v] = best;
        for_star(triangles, v, incident[v], [&](int32 next, int32) { racing_store(&settled[next], 0); });
        return true;
    }

    // After the sweeps: lists the triangles around a vertex that has moved, and their neighbours.
    METHOD void finish(int32 v, bool has_moved, const Listing &around) const {
        worst[v] = 0.0;
        if (has_moved)
            for_triangles_around(triangles, v, incident[v], [&](const Triangle &one, int32 t, int k) {
                around.add(t);
                const int32 across = link_across(one, k);
                if (across >= 0)
                    around.add(across);
            });
    }
};

// The first step of a turn: rates the listed vertices, and removes their marks.
KERNEL(rate_stars, Listing sharp, Stars stars) {
    for (const Index i : launch) {
        sharp.marks[sharp.listed[i]] = 0;
        stars.rate(sharp.listed[i]);
    }
}

// A sweep over the listed vertices.
KERNEL(lift_stars, Listing sharp, Stars stars, uint32 sweep) {
    for (const Index i : launch)
        if (stars.lift(sharp.listed[i], sweep))
            stars.moved[i] = 1;
}

// The last step of a turn: lists the triangles around the vertices that have moved, and their neighbours.
KERNEL(finish_stars, Listing sharp, Stars stars, Listing around) {
    for (const Index i : launch) {
        stars.finish(sharp.listed[i], stars.moved[i] != 0, around);
        stars.moved[i] = 0;
    }
}

// The numbers after turns by one team.
enum LiftEntry : int32 {
    TURNS_RUN,
    TRIANGLES_CHANGED, // in the last turn, and their neighbours
    EDGES_FAIL,        // 1 if an edge of these is to be flipped, or they are many: several teams look for such edges
    VERTICES_LISTED,   // for the next turn
    LIFT_ENTRIES
};

constexpr int TRIANGLES_PER_VERTEX = 2; // of the vertices that one team moves, which it searches for edges to flip

// Several turns, by one team: one launch instead of more than ten per turn. They end when edges are to be flipped, when
// no vertex is listed for the next one, or more than `most`, and after `turns`.
//
// count: of the listed vertices; around: lists triangles, whose marks stay only if edges are to be flipped.
TEAM_KERNEL(lift_few_stars, Listing sharp, Stars stars, const int32 *vertex_origin, uint32 sweeps, int32 turns,
            int64 count, int64 most, Listing around, int32 *report) {
    for (const Team team : launch.teams()) {
        Index listed = count;
        for (int32 turn = 1, ends = 0; !ends; ++turn) {
            const Piece vertices = {0, listed};
            for (const Index i : team.share(vertices)) {
                sharp.marks[sharp.listed[i]] = 0;
                stars.rate(sharp.listed[i]);
            }
            team.barrier();
            for (uint32 sweep = 0; sweep < sweeps; ++sweep) {
                for (const Index i : team.share(vertices))
                    if (stars.lift(sharp.listed[i], sweep))
                        stars.moved[i] = 1;
                team.barrier();
            }
            for (const Index i : team.share(vertices)) {
                stars.finish(sharp.listed[i], stars.moved[i] != 0, around);
                stars.moved[i] = 0;
            }
            if (team.leads())
                *sharp.count = report[EDGES_FAIL] = 0;
            team.barrier();
            const Piece triangles = {0, racing_load(around.count)};
            const bool many = triangles.end > TRIANGLES_PER_VERTEX * most;
            for (const Index i : team.share(many ? Piece{0, 0} : triangles))
                if (failing_edge(stars.triangles, stars.points, around.listed[i]) != NOTHING)
                    racing_store(&report[EDGES_FAIL], 1);
            team.barrier();
            const bool fails = many || racing_load(&report[EDGES_FAIL]) != 0;
            if (!fails)
                for (const Index i : team.share(triangles)) {
                    around.marks[around.listed[i]] = 0;
                    list_sharp(stars.triangles[around.listed[i]], stars.points, vertex_origin, stars.limit, sharp);
                }
            team.barrier();
            listed = racing_load(sharp.count);
            ends = fails || listed == 0 || listed > most || turn == turns;
            team.barrier();
            if (team.leads()) {
                *around.count = 0;
                if (ends) {
                    *sharp.count = 0;
                    report[TURNS_RUN] = turn, report[TRIANGLES_CHANGED] = int32(triangles.end);
                    report[VERTICES_LISTED] = int32(listed), report[EDGES_FAIL] = fails;
                }
            }
        }
    }
}
