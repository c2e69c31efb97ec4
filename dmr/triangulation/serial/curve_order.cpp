#include "curve_order.hpp"

#include <algorithm>

#include "geometry/curve.cuh"

namespace triangulation {

namespace {

constexpr int32 POINTS_AT_ONCE = 1 << 14; // points between two stop points

// Sorts by key, 11 bits at a time; equal keys stay in order.
void sort_places(std::vector<Place> &places) {
    std::vector<Place> other(places.size());
    for (int shift : {0, 11, 22}) {
        size_t starts[2049] = {0};
        for (const Place &place : places)
            ++starts[(place.key >> shift & 2047) + 1];
        for (int digit = 0; digit < 2048; ++digit)
            starts[digit + 1] += starts[digit];
        host::stop_point();
        for (const Place &place : places)
            other[starts[place.key >> shift & 2047]++] = place;
        places.swap(other);
        host::stop_point();
    }
}

} // namespace

CurveSquare square_around(const Point *points, int32 count) {
    Point low = points[0], high = points[0];
    for (int32 i = 1; i < count; ++i) {
        low = {std::min(low.x, points[i].x), std::min(low.y, points[i].y)};
        high = {std::max(high.x, points[i].x), std::max(high.y, points[i].y)};
    }
    return {low, std::max(high.x - low.x, high.y - low.y)};
}

uint64 curve_position(const CurveSquare &square, Point p, int levels) {
    const float64 scale = square.extent > 0 ? float64(1 << levels) / square.extent : 0.0;
    return hilbert_index<uint64>(curve_cell(p.x, square.low.x, scale, levels),
                                 curve_cell(p.y, square.low.y, scale, levels), levels);
}

std::vector<Place> curve_order(const CurveSquare &square, const Point *points, int32 count) {
    std::vector<Place> places(count);
    for (int32 i = 0; i < count; ++i) {
        if (i % POINTS_AT_ONCE == 0)
            host::stop_point();
        places[i] = {uint32(curve_position(square, points[i], CURVE_LEVELS)), i};
    }
    sort_places(places);
    return places;
}

} // namespace triangulation
