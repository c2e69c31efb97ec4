// The order in which points are inserted: a biased randomised insertion order (Amenta, Choi and Rote 2003). Rounds grow
// geometrically; each is a random sample of the remaining points, sorted along a Hilbert curve. The curve makes walks
// short and memory accesses local; the rounds make the expected work O(n log n) for any distribution of the points.
#pragma once

#include "curve_order.hpp"

namespace triangulation {

struct InsertionOrder {
    Table<int32> places;      // by turn: the place of its point along the curve
    std::vector<size_t> ends; // the turns where rounds end
};

InsertionOrder insertion_order(const Table<Place> &along, const CurveSquare &square, const Point *points, int threads);

// Where to cut [begin, end) into parts of nearly equal size: parts + 1 places, none between two indices of which
// joined(i) says that i belongs to i - 1.
template <class Joined> std::vector<size_t> cut_between(size_t begin, size_t end, int parts, const Joined &joined) {
    std::vector<size_t> cuts(parts + 1, end);
    cuts[0] = begin;
    for (int k = 1; k < parts; ++k) {
        size_t cut = begin + (end - begin) * size_t(k) / size_t(parts);
        cut = cut < cuts[k - 1] ? cuts[k - 1] : cut;
        while (cut < end && cut > begin && joined(cut))
            ++cut;
        cuts[k] = cut;
    }
    return cuts;
}

} // namespace triangulation
