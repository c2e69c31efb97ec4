// The C interface of unions and components (dmr/distributed/unions/native.py).
#include <algorithm>
#include <cmath>
#include <mutex>
#include <new>
#include <vector>

#include "components.hpp"
#include "portable/interrupts.hpp"
#include "rows.hpp"
#include "union.hpp"

using namespace unions;

namespace {

struct Point {
    double x, y;
};

double squared_length(Point a, Point b) {
    const double x = b.x - a.x, y = b.y - a.y;
    return x * x + y * y;
}

// Does work that a signal ends.
template <class Work> void interruptible(const Work &work) {
    host::interruptible([&](host::Call &) {
        try {
            work();
        } catch (const host::Interrupted &) {
        }
    });
}

} // namespace

extern "C" int32_t dmr_unions_interface() { return 3; }

// Copies rows of a table, each of `width` bytes; `rows` are of int64 if `wide`, else of int32.
extern "C" void dmr_take_rows(const unsigned char *table, int64_t width, const void *rows, int32_t wide, int64_t count,
                              int32_t threads, unsigned char *out) {
    interruptible([&] {
        if (wide)
            take_rows(table, width, static_cast<const int64_t *>(rows), count, threads, out);
        else
            take_rows(table, width, static_cast<const int32_t *>(rows), count, threads, out);
    });
}

// Flags numbers, which are of int64 if `wide`, else of int32.
extern "C" void dmr_flag(const void *numbers, int32_t wide, int64_t count, int32_t threads, unsigned char *found) {
    interruptible([&] {
        if (wide)
            flag(static_cast<const int64_t *>(numbers), count, threads, found);
        else
            flag(static_cast<const int32_t *>(numbers), count, threads, found);
    });
}

// Flags the triangles with at least `least` corners that are flagged.
extern "C" void dmr_touch(const int32_t (*triangles)[3], int64_t count, const unsigned char *near, int32_t least,
                          int32_t threads, unsigned char *found) {
    interruptible([&] { touch(triangles, count, near, least, threads, found); });
}

// Flags the triangles with a cut edge: without a segment, and without a triangle on its other side.
extern "C" void dmr_frozen(const int32_t (*neighbours)[3], const int32_t (*segments)[3], int64_t count, int32_t threads,
                           unsigned char *found) {
    interruptible([&] { flag_frozen({neighbours, segments}, count, threads, found); });
}

// Flags the edges between active triangles and frozen ones, at the active ones.
extern "C" void dmr_cut_edges(const int32_t (*neighbours)[3], const int32_t (*segments)[3], const unsigned char *frozen,
                              int64_t count, int32_t threads, unsigned char (*found)[3]) {
    interruptible([&] { flag_cut_edges({neighbours, segments}, frozen, count, threads, found); });
}

// Computes the area of each triangle, and flags: 1 if its smallest angle is below the bound whose squared cosine is
// given, and 2 if it is, and the longest edge is more than `long_edge` times the height above it.
extern "C" void dmr_shapes(const Point *points, const int32_t (*triangles)[3], int64_t count, double cosine_squared,
                           double long_edge, int32_t threads, double *areas, unsigned char *flags) {
    interruptible([&] {
        by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t t = begin; t < end; ++t) {
                const Point a = points[triangles[t][0]], b = points[triangles[t][1]], c = points[triangles[t][2]];
                const double p = squared_length(a, b), q = squared_length(b, c), r = squared_length(c, a);
                const double area = 0.5 * std::abs((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
                // The dot product of the two longer edges. The square of the sine of the angle between them is
                // (2 area)^2 over the product of their squared lengths.
                const double dot = 0.5 * (p + q + r) - std::min(std::min(p, q), r);
                const bool skinny = dot * dot > cosine_squared * (dot * dot + 4.0 * area * area);
                const bool thin = skinny && std::max(std::max(p, q), r) > long_edge * 2.0 * area;
                areas[t] = area;
                flags[t] = (unsigned char)(skinny + 2 * thin);
            }
        });
    });
}

// Finds for each of some triangles the longest edge that is a segment, and that the opposite corner lies above, or
// beside by no more than its height: the number of the edge in the triangle, -1 if there is none, its length, and this
// height. `keys` are those of all segments, ascending.
extern "C" void dmr_walls(const Point *points, const int32_t (*triangles)[3], const int64_t *rows, int64_t count,
                          const int64_t *keys, int64_t segments, int32_t threads, int64_t *walls, double *lengths,
                          double *heights) {
    interruptible([&] {
        by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const int32_t *const corners = triangles[rows[i]];
                walls[i] = -1;
                lengths[i] = 0.0;
                heights[i] = 1.0;
                for (int k = 0; k < 3; ++k) {
                    const int32_t apex = corners[k], u = corners[(k + 1) % 3], v = corners[(k + 2) % 3];
                    const Point start = points[u];
                    const Point along{points[v].x - start.x, points[v].y - start.y};
                    const Point over{points[apex].x - start.x, points[apex].y - start.y};
                    const double length = std::sqrt(along.x * along.x + along.y * along.y);
                    const double height = (along.x * over.y - along.y * over.x) / length;
                    const double foot = (along.x * over.x + along.y * over.y) / length;
                    const bool above =
                        foot >= -height && foot <= length + height && length > lengths[i] && height > 0.0;
                    const int64_t key = int64_t(std::min(u, v)) << 32 | std::max(u, v);
                    if (!above || !std::binary_search(keys, keys + segments, key))
                        continue;
                    walls[i] = k;
                    lengths[i] = length;
                    heights[i] = height;
                }
            }
        });
    });
}

// Sorts values into `bins` bins of a width from `low` on, of which the last has all higher ones, and adds up the
// weights in each.
extern "C" void dmr_bins(const double *values, const int64_t *weights, int64_t count, double low, double width,
                         int32_t bins, int32_t threads, int16_t *found, int64_t *sums) {
    interruptible([&] {
        std::mutex one_adds;
        triangulation::share_indices(threads, count, [&](std::size_t begin, std::size_t end) {
            std::vector<int64_t> own(bins);
            for (std::size_t i = begin; i < end; ++i) {
                if (i % ROWS_PER_STOP == 0)
                    host::stop_point();
                found[i] = int16_t(width > 0.0 ? std::min((values[i] - low) / width, bins - 1.0) : 0.0);
                own[found[i]] += weights[i];
            }
            const std::lock_guard<std::mutex> lock(one_adds);
            for (int32_t k = 0; k < bins; ++k)
                sums[k] += own[k];
        });
    });
}

// Unites lists. Returns the length of the union, or -1 if there is too little memory.
extern "C" int64_t dmr_unite(const List *lists, int32_t count, int32_t threads, int64_t *numbers, int32_t *from) {
    int64_t length = 0;
    host::interruptible([&](host::Call &) {
        try {
            length = Union(lists, count, threads).write(numbers, from);
        } catch (const host::Interrupted &) {
        } catch (const std::bad_alloc &) {
            length = -1;
        }
    });
    return length;
}

// Finds numbers in a list: their places, or -1. As long as they ascend, each is searched from the place of the last one
// on.
extern "C" void dmr_find_numbers(const List *list, const int64_t *wanted, int64_t count, int32_t threads,
                                 int32_t *found) {
    interruptible([&] {
        by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
            int64_t at = 0;
            for (std::size_t k = begin; k < end; ++k) {
                const bool after = k > begin && wanted[k - 1] <= wanted[k];
                at = after ? list->lower_bound_after(wanted[k], at) : list->lower_bound(wanted[k]);
                found[k] = at < list->count && list->number(at) == wanted[k] ? int32_t(at) : -1;
            }
        });
    });
}

// Finds the connected components of triangles: labels[t] becomes the smallest number of a triangle in that of t. Of
// each triangle, `neighbours` has three, -1 where there is none.
extern "C" void dmr_components(const int32_t (*neighbours)[3], int64_t count, int32_t threads, int32_t *labels) {
    interruptible([&] { find_components(neighbours, count, threads, labels); });
}
