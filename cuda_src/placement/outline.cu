// Vertices on the segments of an outline.
#include "geometry/steiner.cuh"

// places[i] = the point at parameters[i] of the segment ends[2 * segments[i]] -> ends[2 * segments[i] + 1].
KERNEL(points_on_segments, const Point *points, const int32 *ends, const int32 *segments, const float64 *parameters,
       Point *places) {
    for (const Index i : launch) {
        const int32 s = segments[i];
        places[i] = point_on_segment(points[ends[2 * s]], points[ends[2 * s + 1]], parameters[i]);
    }
}

constexpr float64 LEAST_WEIGHT = 1e-6; // added to that of an edge, so that no sum is 0
constexpr float64 MOST_WEIGHT = 1e3;   // of an edge: in a needle it could be as large as numbers can be

// The cotangents of the angles of a triangle. Those of a needle are divided by one number, so that the energy of any
// values in it remains positive.
INLINE void find_cotangents(const Point *points, const int32 *corner, float64 *cotangents) {
    float64 area = 0.0, largest = 0.0; // doubled; of the products
    for (int k = 0; k < 3; ++k) {
        const Point apex = points[corner[k]], a = points[corner[(k + 1) % 3]], b = points[corner[(k + 2) % 3]];
        const Point u = {a.x - apex.x, a.y - apex.y}, w = {b.x - apex.x, b.y - apex.y};
        area = magnitude(u.x * w.y - u.y * w.x);
        cotangents[k] = u.x * w.x + u.y * w.y;
        largest = magnitude(cotangents[k]) > largest ? magnitude(cotangents[k]) : largest;
    }
    const float64 divisor = area * MOST_WEIGHT > largest ? area : largest / MOST_WEIGHT;
    for (int k = 0; k < 3; ++k)
        cotangents[k] /= divisor;
}

// The weights of linear finite elements: the cotangents of the angles opposite the edges. That of one triangle is
// negative beside an obtuse angle; the sum of both at an edge is not, inside a Delaunay mesh. (In the fan of needles
// between a fine outline and a vertex, the two nearly cancel.) Lists the vertices of a mesh without a given value,
// their neighbours, once per triangle at an edge, and the sums of the weights: by one thread, in a fixed order.
//
// rows: by vertex: memory for its place in the list; moved, first, ends, weights, totals: as below; first has one more
// entry than vertices are listed. listed: receives their number.
KERNEL(weigh_neighbours, const Point *points, int64 vertices, const int32 *triangles, int64 count,
       const int32 *is_given, int32 *rows, int32 *moved, int32 *first, int32 *ends, float64 *weights, float64 *totals,
       int32 *listed) {
    for ([[maybe_unused]] const Index once : launch) {
        for (Index v = 0; v < vertices; ++v)
            rows[v] = 0;
        for (Index i = 0; i < 3 * count; ++i)
            rows[triangles[i]] += is_given[triangles[i]] ? 0 : 2;
        int32 found = 0, entries = 0;
        for (Index v = 0; v < vertices; ++v) {
            if (rows[v] == 0)
                continue;
            first[found] = entries;
            entries += rows[v];
            moved[found] = int32(v);
            totals[found] = 0.0;
            rows[v] = found++;
        }
        for (Index t = 0; t < count; ++t) {
            const int32 *const corner = triangles + 3 * t;
            if (is_given[corner[0]] && is_given[corner[1]] && is_given[corner[2]])
                continue;
            float64 cotangents[3];
            find_cotangents(points, corner, cotangents);
            for (int k = 0; k < 3; ++k)
                for (int way = 1; way < 3; ++way) {
                    const int32 start = corner[(k + way) % 3];
                    if (is_given[start])
                        continue;
                    const int32 place = first[rows[start]]++; // moved back below
                    ends[place] = corner[(k + 3 - way) % 3];
                    weights[place] = cotangents[k] + LEAST_WEIGHT;
                    totals[rows[start]] += weights[place];
                }
        }
        for (int32 row = found; row > 0; --row)
            first[row] = first[row - 1];
        first[0] = 0;
        *listed = found;
    }
}

// The values for which each of the listed vertices has the weighted mean of its neighbours, by the method of conjugate
// gradients (Hestenes and Stiefel 1952), with the sums of the weights as preconditioner, in a fixed order: by one
// thread. It ends when no value differs from that mean by more than `accuracy`, relatively, or after `steps` steps.
//
// numbers: by vertex, its place in the list, as `weigh_neighbours` leaves it in `rows`; is_given: by vertex.
// scratch: memory for three values per listed vertex.
KERNEL(solve_means, const int32 *moved, const int32 *numbers, const int32 *is_given, const int32 *first,
       const int32 *ends, const float64 *weights, const float64 *totals, int64 count, int32 steps, float64 accuracy,
       float64 *scratch, float64 *values) {
    float64 *const residual = scratch, *const direction = scratch + count, *const image = scratch + 2 * count;
    for ([[maybe_unused]] const Index once : launch) {
        float64 rest = 0.0; // the squared residual, in the norm of the preconditioner
        bool done = true;
        for (Index i = 0; i < count; ++i) {
            float64 sum = -totals[i] * values[moved[i]];
            for (int32 k = first[i]; k < first[i + 1]; ++k)
                sum += weights[k] * values[ends[k]];
            residual[i] = sum;
            direction[i] = sum / totals[i];
            rest += sum * direction[i];
            done &= magnitude(direction[i]) <= accuracy * magnitude(values[moved[i]]);
        }
        for (int32 step = 0; step < steps && !done; ++step) {
            float64 curvature = 0.0;
            for (Index i = 0; i < count; ++i) {
                float64 sum = totals[i] * direction[i];
                for (int32 k = first[i]; k < first[i + 1]; ++k)
                    if (!is_given[ends[k]])
                        sum -= weights[k] * direction[numbers[ends[k]]];
                image[i] = sum;
                curvature += direction[i] * sum;
            }
            if (!(curvature > 0.0)) // rounding has ended the progress
                break;
            const float64 way = rest / curvature, before = rest;
            rest = 0.0;
            done = true;
            for (Index i = 0; i < count; ++i) {
                float64 &value = values[moved[i]];
                value += way * direction[i];
                residual[i] -= way * image[i];
                const float64 off = residual[i] / totals[i];
                rest += residual[i] * off;
                done &= magnitude(off) <= accuracy * magnitude(value);
            }
            for (Index i = 0; i < count; ++i)
                direction[i] = residual[i] / totals[i] + rest / before * direction[i];
        }
    }
}
