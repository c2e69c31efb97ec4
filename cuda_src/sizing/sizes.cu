// Sizes at points, from several kinds of sources (dmr/sizing). Each kernel lowers the sizes that the kernels before it
// have left, so that the smallest of several sources holds.
#include "sizing/interpolation.cuh"
#include "sizing/quadtree.cuh"

KERNEL(fill_sizes, float64 size, float64 *sizes) {
    for (const Index i : launch)
        sizes[i] = size;
}

KERNEL(scale_sizes, float64 factor, float64 *sizes) {
    for (const Index i : launch)
        sizes[i] *= factor;
}

KERNEL(lower_to, float64 size, float64 *sizes) {
    for (const Index i : launch)
        lower(sizes[i], size);
}

// Lowers sizes to those that the host has evaluated.
KERNEL(lower_to_given, const float64 *given, float64 *sizes) {
    for (const Index i : launch)
        lower(sizes[i], given[i]);
}

// Bilinear interpolation on a grid: values[row * columns + column] at (x[column], y[row]). A point outside the grid
// takes the size at the nearest point of the grid.
KERNEL(lower_by_grid, const Point *points, const float64 *x, int64 columns, const float64 *y, int64 rows,
       const float64 *values, float64 *sizes) {
    for (const Index i : launch) {
        const Interval across = interval_of(x, columns, points[i].x), up = interval_of(y, rows, points[i].y);
        const float64 *const corner = values + up.number * columns + across.number;
        const float64 corners[4] = {corner[0], corner[1], corner[columns], corner[columns + 1]};
        lower(sizes[i], bilinear(across.position, up.position, corners));
    }
}

// Fills `starts` of a quadtree.
KERNEL(find_quadtree_starts, Quadtree tree) {
    for (const Index cell : launch)
        tree.find_start(cell);
}

// Bilinear interpolation in the leaves of a quadtree.
KERNEL(lower_by_quadtree, const Point *points, Quadtree tree, float64 *sizes) {
    for (const Index i : launch)
        lower(sizes[i], tree.size_at(points[i]));
}
