// Keeps the triangles of some parts of a triangulated plane (dmr/triangulation/host_triangles.py).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "portable/host_pool.hpp"
#include "threads.hpp"

using std::int32_t;
using std::size_t;
using namespace triangulation;

namespace {

constexpr int32_t DONE = 0, FAILED = -1, NOT_KEPT = -1;

constexpr size_t AT_ONCE = 1 << 14; // triangles between two stop points

// Runs the work; returns its result, or FAILED if there is too little memory or a signal ended it.
template <class Work> int32_t guarded(const Work &work) {
    int32_t result = FAILED;
    host::interruptible([&](host::Call &) {
        try {
            result = work();
        } catch (const host::Interrupted &) { // Python raises its exception
        } catch (const std::bad_alloc &) {
        }
    });
    return result;
}

} // namespace

// Numbers the triangles whose parts are kept: numbers[i] is the place of triangle i among them, or -1. `kept` has a
// byte per label. Returns how many there are, or -1 if the call failed.
extern "C" int32_t dmr_number_kept(const int32_t *labels, int32_t count, const unsigned char *kept, int32_t threads,
                                   int32_t *numbers) {
    return guarded([&] {
        const int pieces = pieces_for(threads);
        std::vector<int32_t> first(pieces + 1, 0); // by piece: the number of its first triangle
        share_out(threads, pieces, [&](int piece) {
            const Share share = share_of(size_t(count), piece, pieces);
            for (size_t i = share.begin; i < share.end; ++i)
                first[piece + 1] += int32_t(kept[labels[i]] != 0);
        });
        for (int piece = 0; piece < pieces; ++piece)
            first[piece + 1] += first[piece];
        share_out(threads, pieces, [&](int piece) {
            const Share share = share_of(size_t(count), piece, pieces);
            int32_t next = first[piece];
            for (size_t i = share.begin; i < share.end; ++i)
                numbers[i] = kept[labels[i]] != 0 ? next++ : NOT_KEPT;
        });
        return first[pieces];
    });
}

// Copies the triangles that have a number to their places: corners and neighbours, 3 each, and labels. Neighbours get
// their numbers, -1 if they are not kept. Returns 0, or -1 if the call failed.
extern "C" int32_t dmr_keep_triangles(const int32_t *corners, const int32_t *neighbours, const int32_t *labels,
                                      const int32_t *numbers, int32_t count, int32_t threads, int32_t *kept_corners,
                                      int32_t *kept_neighbours, int32_t *kept_labels) {
    return guarded([&] {
        share_indices(threads, size_t(count), [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) {
                if (i % AT_ONCE == 0)
                    host::stop_point();
                if (numbers[i] == NOT_KEPT)
                    continue;
                const size_t to = size_t(numbers[i]);
                for (size_t k = 0; k < 3; ++k) {
                    const int32_t across = neighbours[3 * i + k];
                    kept_corners[3 * to + k] = corners[3 * i + k];
                    kept_neighbours[3 * to + k] = across < 0 ? across : numbers[across];
                }
                kept_labels[to] = labels[i];
            }
        });
        return DONE;
    });
}
