// The C interface of unions, components and blocks (dmr/distributed/unions/native.py).
#include <algorithm>
#include <cmath>
#include <mutex>
#include <new>
#include <vector>

#include "blocks.hpp"
#include "components.hpp"
#include "cuts.hpp"
#include "links.hpp"
#include "portable/interrupts.hpp"
#include "predictions.hpp"
#include "rows.hpp"
#include "union.hpp"

using namespace unions;

namespace {

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

extern "C" int32_t dmr_unions_interface() { return 5; }

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

// Copies rows, each of `width` bytes, to those of a table; no two to the same one.
extern "C" void dmr_put_rows(const unsigned char *rows, int64_t width, const int32_t *places, int64_t count,
                             int32_t threads, unsigned char *table) {
    interruptible([&] { put_rows(rows, width, places, count, threads, table); });
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

// Flags the vertices on the border of a patch with the rest of the domain; `inside` flags the segments that are not on
// its boundary.
extern "C" void dmr_border(const int32_t (*neighbours)[3], const int32_t (*segments)[3], const int32_t (*triangles)[3],
                           int64_t count, const unsigned char *inside, int32_t threads, unsigned char *found) {
    interruptible([&] { flag_border({neighbours, segments}, triangles, count, inside, threads, found); });
}

// Lists the edges between active triangles and frozen ones. Returns how many there are, at most three per frozen one,
// or -1 if there is too little memory.
extern "C" int64_t dmr_cut_edges(const int32_t (*neighbours)[3], const int32_t (*segments)[3],
                                 const int32_t (*triangles)[3], int64_t count, const unsigned char *frozen,
                                 int32_t threads, int32_t *starts, int32_t *ends, int32_t *beyond) {
    int64_t listed = 0;
    interruptible([&] {
        try {
            const Edges edges{neighbours, segments};
            listed = int64_t(list_cut_edges(edges, triangles, count, frozen, threads, starts, ends, beyond));
        } catch (const std::bad_alloc &) {
            listed = -1;
        }
    });
    return listed;
}

// Finds pairs of numbers among others, of which no two are equal: their places, or -1. The first numbers of all are
// below `numbers`. Returns 0, or -1 if there is too little memory.
extern "C" int32_t dmr_find_pairs(const int32_t (*pairs)[2], int64_t count, int64_t numbers, const int32_t (*wanted)[2],
                                  int64_t wanted_count, int32_t threads, int32_t *found) {
    int32_t result = 0;
    interruptible([&] {
        try {
            find_pairs(pairs, count, numbers, wanted, wanted_count, threads, found);
        } catch (const std::bad_alloc &) {
            result = -1;
        }
    });
    return result;
}

// Predicts the triangles of the result in some triangles, or in all if `rows` is null. Writes what is wanted of each:
// its area, what the bound on angles needs, what the bounds on areas need, both as a whole number, and whether it is
// skinny and flat. What is null is not wanted.
extern "C" void dmr_predict(const Point *points, const int32_t (*triangles)[3], const int64_t *rows, int64_t count,
                            const Demand *demand, int32_t threads, double *areas, double *by_angle, double *by_size,
                            int64_t *weights, unsigned char *thin) {
    interruptible([&] {
        by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const Prediction found = predict(*demand, points, triangles, rows == nullptr ? i : rows[i]);
                if (areas != nullptr)
                    areas[i] = found.area;
                if (by_angle != nullptr)
                    by_angle[i] = found.by_angle;
                if (by_size != nullptr)
                    by_size[i] = found.by_size;
                if (weights != nullptr)
                    weights[i] = weight_of(*demand, found);
                if (thin != nullptr)
                    thin[i] = found.thin;
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

// Divides some triangles, or all if `rows` is null, into blocks of about equal weight, and writes the block of each.
// Returns 0, or -1 if there is too little memory.
extern "C" int32_t dmr_blocks(const Point *points, const int32_t (*triangles)[3], const int64_t *rows,
                              const int64_t *weights, int64_t count, int32_t blocks, double shift, int32_t threads,
                              int32_t *found) {
    int32_t result = 0;
    interruptible([&] {
        try {
            Blocks({points, triangles, rows, weights, std::size_t(count)}, blocks, shift, threads, found);
        } catch (const std::bad_alloc &) {
            result = -1;
        }
    });
    return result;
}

// Adds up the weights in each block.
extern "C" void dmr_block_weights(const int32_t *block, const int64_t *weights, int64_t count, int32_t blocks,
                                  int32_t threads, int64_t *sums) {
    interruptible([&] {
        std::mutex one_adds;
        by_pieces(threads, count, [&](std::size_t begin, std::size_t end) {
            std::vector<int64_t> own(blocks);
            for (std::size_t i = begin; i < end; ++i)
                own[block[i]] += weights[i];
            const std::lock_guard<std::mutex> lock(one_adds);
            for (int32_t k = 0; k < blocks; ++k)
                sums[k] += own[k];
        });
    });
}

// Flags the triangles, among those flagged before, with an edge to another block or patch that is no segment.
extern "C" void dmr_beside_cuts(const int32_t (*neighbours)[3], const int32_t (*segments)[3], const int32_t *block,
                                int64_t count, int32_t threads, const unsigned char *before, unsigned char *found) {
    interruptible([&] { flag_beside_cuts({neighbours, segments}, block, count, threads, before, found); });
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

// Finds the triangle across each edge of triangles that do not overlap, -1 if there is none. Returns 0, or -1 if there
// is too little memory.
extern "C" int32_t dmr_link(const int32_t (*triangles)[3], int64_t count, int64_t vertices, int32_t threads,
                            int32_t (*neighbours)[3]) {
    int32_t result = 0;
    interruptible([&] {
        try {
            link(triangles, std::size_t(count), std::size_t(vertices), threads, neighbours);
        } catch (const std::bad_alloc &) {
            result = -1;
        }
    });
    return result;
}

// Finds the connected components of triangles: labels[t] becomes the smallest number of a triangle in that of t. Of
// each triangle, `neighbours` has three, -1 where there is none.
extern "C" void dmr_components(const int32_t (*neighbours)[3], int64_t count, int32_t threads, int32_t *labels) {
    interruptible([&] { find_components(neighbours, count, threads, labels); });
}
