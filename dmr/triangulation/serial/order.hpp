// Orders of points: along a Hilbert curve, and of insertion.
#pragma once

#include "geometry/points.cuh"
#include "threads.hpp"

namespace triangulation {

// The square that the curve fills: the smallest around points.
struct CurveSquare {
    Point low;
    float64 extent;
};

CurveSquare square_around(const Point *points, int32 count, int threads);

// The position of a point along a curve of 4^levels cells.
uint64 curve_position(const CurveSquare &square, Point p, int levels);

struct Place {
    uint32 key; // position along the curve
    int32 point;
};

// Sorts by key; equal keys stay in order.
void sort_places(Table<Place> &places, int threads);

// Points by their position along the curve of the mesh's order (curve_keys in cuda_src/mesh/ordering.cu); ties by
// number.
Table<Place> curve_order(const CurveSquare &square, const Point *points, int32 count, int threads);

// The order in which points are inserted: a biased randomised insertion order (Amenta, Choi and Rote 2003). Rounds grow
// geometrically; each is a random sample of the remaining points, sorted along a Hilbert curve. The curve makes walks
// short and memory accesses local; the rounds make the expected work O(n log n) for any distribution of the points.
struct InsertionOrder {
    Table<int32> places;      // by turn: the place of its point along the curve
    std::vector<size_t> ends; // the turns where rounds end
};

InsertionOrder insertion_order(const Table<Place> &along, const Point *points, int threads);

// Places that cut [begin, end) into parts of nearly equal size: parts + 1 places, none between two indices of which
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
