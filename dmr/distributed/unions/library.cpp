// The C interface of unions and components (dmr/distributed/unions/native.py).
#include <algorithm>
#include <new>

#include "portable/interrupts.hpp"
#include "union.hpp"

using namespace unions;

namespace {

constexpr int64_t TRIANGLES_PER_STOP = 1 << 20; // after which a signal is handled

} // namespace

extern "C" int32_t dmr_unions_interface() { return 1; }

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
extern "C" void dmr_find_numbers(const List *list, const int64_t *wanted, int64_t count, int32_t *found) {
    host::interruptible([&](host::Call &) {
        int64_t at = 0;
        for (int64_t k = 0; k < count; ++k) {
            at = list->lower_bound_after(wanted[k], k > 0 && wanted[k - 1] <= wanted[k] ? at : 0);
            found[k] = at < list->count && list->number(at) == wanted[k] ? int32_t(at) : -1;
        }
    });
}

// Finds the connected components of triangles: labels[t] becomes the smallest number of a triangle in that of t. Of
// each triangle, `neighbours` has three, -1 where there is none.
extern "C" void dmr_components(const int32_t *neighbours, int64_t count, int32_t *labels) {
    host::interruptible([&](host::Call &) {
        const auto root = [&](int32_t t) {
            while (labels[t] != t)
                t = labels[t] = labels[labels[t]];
            return t;
        };
        try {
            for (int64_t t = 0; t < count; ++t) {
                if (t % TRIANGLES_PER_STOP == 0)
                    host::stop_point();
                labels[t] = int32_t(t);
                for (int k = 0; k < 3; ++k) {
                    const int32_t across = neighbours[3 * t + k];
                    if (across < 0 || across >= t) // the pair comes later
                        continue;
                    const int32_t a = root(int32_t(t)), b = root(across);
                    labels[std::max(a, b)] = std::min(a, b);
                }
            }
            for (int64_t t = 0; t < count; ++t)
                labels[t] = labels[labels[t]]; // that of a smaller triangle is final
        } catch (const host::Interrupted &) {
        }
    });
}
