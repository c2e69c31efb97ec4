// Separates a refined tile into its margin, the triangles in a few layers around listed vertices, and its core
// (docs/internals/tiles.md, "Core and margin"). Vertices are taken in the order of their numbers in the tile: those
// that were admitted have `order[v]`, later ones their own.
#include "mesh/triangles.cuh"

KERNEL(set_listed, const int32 *listed, int32 value, int32 *values) {
    for (const Index i : launch)
        racing_store(&values[listed[i]], value); // the same value, if one is listed twice
}

// layers[v] is the number of layers of triangles between vertex v and the listed vertices and triangles: 0 at these. In
// bytes, those of a large tile fit into the cache.
KERNEL(begin_layers_at_vertices, const int32 *listed, uint8 *layers) {
    for (const Index i : launch)
        racing_store(&layers[listed[i]], uint8(0));
}

KERNEL(begin_layers_at_triangles, const Triangle *triangles, const int32 *listed, uint8 *layers) {
    for (const Index i : launch)
        for (const int32 v : triangles[listed[i]].vertex)
            racing_store(&layers[v], uint8(0));
}

INLINE bool is_within(const Triangle &t, int32 reached, const uint8 *layers) {
    return racing_load(&layers[t.vertex[0]]) <= reached || racing_load(&layers[t.vertex[1]]) <= reached ||
           racing_load(&layers[t.vertex[2]]) <= reached;
}

// Adds the layer after `reached`. The threads of a launch write that number alone, which none of them looks for.
KERNEL(add_layer, const Triangle *triangles, int32 reached, uint8 *layers) {
    for (const Index i : launch) {
        const Triangle t = without_owner(triangles[i]);
        if (is_within(t, reached, layers))
            for (const int32 v : t.vertex)
                if (racing_load(&layers[v]) > reached + 1)
                    racing_store(&layers[v], uint8(reached + 1));
    }
}

// The i-th entry of a list; i if there is no list.
INLINE int32 entry_of(const int32 *listed, Index i) { return listed != nullptr ? listed[i] : int32(i); }

// Flags the listed triangles that are within the layers up to `last`.
KERNEL(flag_layers, const int32 *listed, const Triangle *triangles, int32 last, const uint8 *layers, int32 *within) {
    for (const Index i : launch)
        within[i] = is_within(without_owner(triangles[entry_of(listed, i)]), last, layers);
}

// Divides a list by flags; `before` are the sums of the flags before each.
KERNEL(divide_list, const int32 *listed, const int32 *flags, const int32 *before, int32 *flagged, int32 *others) {
    for (const Index i : launch) {
        if (flags[i])
            flagged[before[i]] = entry_of(listed, i);
        else
            others[i - before[i]] = entry_of(listed, i);
    }
}

// The places of numbers in an ascending list, -1 for those that are not in it.
KERNEL(find_listed, const int32 *listed, int32 count, const int32 *wanted, int32 *places) {
    for (const Index i : launch) {
        int32 low = 0, high = count;
        while (low < high) {
            const int32 middle = low + (high - low) / 2;
            if (listed[middle] < wanted[i])
                low = middle + 1;
            else
                high = middle;
        }
        places[i] = low < count && listed[low] == wanted[i] ? low : -1;
    }
}

INLINE int32 number_in_tile(int32 v, const int32 *order, int32 input_vertices) {
    return v < input_vertices ? order[v] : v;
}

// Of the following, `listed` are the triangles of one side of the tile.
KERNEL(flag_corners, const int32 *listed, const Triangle *triangles, const int32 *order, int32 input_vertices,
       int32 *used) {
    for (const Index i : launch)
        for (const int32 v : without_owner(triangles[listed[i]]).vertex)
            racing_store(&used[number_in_tile(v, order, input_vertices)], 1);
}

// vertex_places: the sums of `used` before each entry.
KERNEL(take_triangles, const int32 *listed, const Triangle *triangles, const int32 *order, int32 input_vertices,
       const int32 *vertex_places, int32 *corners) {
    for (const Index i : launch) {
        const Triangle record = without_owner(triangles[listed[i]]);
        int32 *taken = corners + 3 * i;
        for (int k = 0; k < 3; ++k)
            taken[k] = vertex_places[number_in_tile(record.vertex[k], order, input_vertices)];
    }
}

// The row of labels of each triangle is that of the triangle that it descends from.
KERNEL(take_label_rows, const int32 *listed, const int32 *ancestor, const uint8 *row_of_each, uint8 *rows) {
    for (const Index i : launch)
        rows[i] = row_of_each[ancestor[listed[i]]];
}

// Flags the vertices that one side of the tile shares with another.
KERNEL(flag_shared, const int32 *used, const int32 *used_by_other, int32 *shared) {
    for (const Index v : launch)
        if (used[v] && used_by_other[v])
            shared[v] = 1;
}

// Flags the vertices of one side of the tile that are in a layer.
KERNEL(flag_layer, int32 layer, const uint8 *layers, const int32 *used, const int32 *order, int32 input_vertices,
       int32 *flagged) {
    for (const Index v : launch) {
        const int32 number = number_in_tile(int32(v), order, input_vertices);
        if (used[number] && layers[v] == layer)
            flagged[number] = 1;
    }
}

// The number in the whole is that in `numbers`; the k-th inserted vertex has `first` + k, or -1 - k if `first` is below
// 0. Most origins are FREE_VERTEX:
// the others are flagged.
KERNEL(take_vertices, const Point *points, const int32 *origins, const float64 *parameters, const int32 *used,
       const int32 *vertex_places, const int32 *order, int32 input_vertices, const int64 *numbers, int64 first,
       Point *taken, int32 *taken_origins, int32 *not_free, float64 *taken_parameters, int64 *taken_numbers,
       int32 *taken_from) {
    for (const Index v : launch) {
        const int32 number = number_in_tile(int32(v), order, input_vertices);
        if (!used[number])
            continue;
        const int32 place = vertex_places[number];
        taken[place] = points[v];
        taken_origins[place] = origins[v];
        not_free[place] = origins[v] != FREE_VERTEX;
        taken_parameters[place] = parameters[v];
        const int64 inserted = number - input_vertices;
        taken_numbers[place] = inserted < 0 ? numbers[number] : first < 0 ? -1 - inserted : first + inserted;
        taken_from[place] = number;
    }
}
