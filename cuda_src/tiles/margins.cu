// Separates a refined tile into its margin, the triangles in a few layers around listed vertices, and its core
// (docs/internals/tiles.md, "Core and margin"). Vertices are taken in the order of their numbers in the tile: those
// that were admitted have `order[v]`, later ones their own.
#include "mesh/triangles.cuh"

KERNEL(set_listed, const int32 *listed, int32 value, int32 *values) {
    for (const Index i : launch)
        racing_store(&values[listed[i]], value); // the same value, if one is listed twice
}

// layers[v] is the number of layers of triangles between vertex v and the listed ones: 0 at corners of listed
// triangles.
KERNEL(begin_layers, const Triangle *triangles, const int32 *listed, int32 *layers) {
    for (const Index i : launch)
        for (const int32 v : triangles[listed[i]].vertex)
            racing_store(&layers[v], 0);
}

INLINE bool is_within(const Triangle &t, int32 reached, const int32 *layers) {
    return racing_load(&layers[t.vertex[0]]) <= reached || racing_load(&layers[t.vertex[1]]) <= reached ||
           racing_load(&layers[t.vertex[2]]) <= reached;
}

// Adds the layer after `reached`. The threads of a launch write that number alone, which none of them looks for.
KERNEL(add_layer, const Triangle *triangles, int32 reached, int32 *layers) {
    for (const Index i : launch) {
        const Triangle t = without_owner(triangles[i]);
        if (is_within(t, reached, layers))
            for (const int32 v : t.vertex)
                if (racing_load(&layers[v]) > reached + 1)
                    racing_store(&layers[v], reached + 1);
    }
}

// Flags the triangles that are within `last` layers, but not within `before`.
KERNEL(flag_layers, const Triangle *triangles, int32 before, int32 last, const int32 *layers, int32 *chosen) {
    for (const Index i : launch) {
        const Triangle t = without_owner(triangles[i]);
        chosen[i] = is_within(t, last, layers) && !is_within(t, before, layers);
    }
}

INLINE int32 number_in_tile(int32 v, const int32 *order, int32 input_vertices) {
    return v < input_vertices ? order[v] : v;
}

KERNEL(flag_corners, const Triangle *triangles, const int32 *chosen, const int32 *order, int32 input_vertices,
       int32 *used) {
    for (const Index t : launch)
        if (chosen[t])
            for (const int32 v : without_owner(triangles[t]).vertex)
                racing_store(&used[number_in_tile(v, order, input_vertices)], 1);
}

// Flags the vertices that one side of the tile shares with another.
KERNEL(flag_shared, const int32 *used, const int32 *used_by_other, int32 *shared) {
    for (const Index v : launch)
        if (used[v] && used_by_other[v])
            shared[v] = 1;
}

// places and vertex_places: the sums of `chosen` and of `used` before each entry.
KERNEL(take_triangles, const Triangle *triangles, const int32 *chosen, const int32 *places, const int32 *order,
       int32 input_vertices, const int32 *vertex_places, int32 *corners) {
    for (const Index t : launch) {
        if (!chosen[t])
            continue;
        const Triangle record = without_owner(triangles[t]);
        int32 *taken = corners + 3 * Index(places[t]);
        for (int k = 0; k < 3; ++k)
            taken[k] = vertex_places[number_in_tile(record.vertex[k], order, input_vertices)];
    }
}

// The row of labels of each chosen triangle is that of the triangle that it descends from.
KERNEL(take_label_rows, const int32 *ancestor, const uint8 *row_of_each, const int32 *chosen, const int32 *places,
       uint8 *rows) {
    for (const Index t : launch)
        if (chosen[t])
            rows[places[t]] = row_of_each[ancestor[t]];
}

// The number in the whole is that in `numbers`; the k-th inserted vertex has -1 - k. Most origins are FREE_VERTEX:
// the others are flagged.
KERNEL(take_vertices, const Point *points, const int32 *origins, const float64 *parameters, const int32 *used,
       const int32 *vertex_places, const int32 *order, int32 input_vertices, const int64 *numbers, Point *taken,
       int32 *taken_origins, int32 *not_free, float64 *taken_parameters, int64 *taken_numbers, int32 *taken_from) {
    for (const Index v : launch) {
        const int32 number = number_in_tile(int32(v), order, input_vertices);
        if (!used[number])
            continue;
        const int32 place = vertex_places[number];
        taken[place] = points[v];
        taken_origins[place] = origins[v];
        not_free[place] = origins[v] != FREE_VERTEX;
        taken_parameters[place] = parameters[v];
        taken_numbers[place] = number < input_vertices ? numbers[number] : int64(input_vertices - 1 - number);
        taken_from[place] = number;
    }
}
