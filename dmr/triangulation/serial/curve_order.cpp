#include "curve_order.hpp"

#include <algorithm>

#include "geometry/curve.cuh"
#include "threads.hpp"

namespace triangulation {

namespace {

constexpr size_t POINTS_AT_ONCE = 1 << 14; // points between two stop points

// Sorts by key, 11 bits at a time; equal keys stay in order. Each thread counts and moves one part of the places.
void sort_places(std::vector<Place> &places, int threads) {
    constexpr size_t DIGITS = 2048;
    std::vector<Place> other(places.size());
    std::vector<size_t> starts(DIGITS * size_t(threads)); // by digit, and by thread for each
    for (int shift : {0, 11, 22}) {
        std::fill(starts.begin(), starts.end(), 0);
        on_threads(threads, [&](int k) {
            const Share share = share_of(places.size(), k, threads);
            std::vector<size_t> counts(DIGITS);
            for (size_t i = share.begin; i < share.end; ++i)
                ++counts[places[i].key >> shift & (DIGITS - 1)];
            for (size_t digit = 0; digit < DIGITS; ++digit)
                starts[digit * size_t(threads) + size_t(k)] = counts[digit];
        });
        size_t before = 0;
        for (size_t &start : starts) {
            const size_t count = start;
            start = before;
            before += count;
        }
        host::stop_point();
        on_threads(threads, [&](int k) {
            const Share share = share_of(places.size(), k, threads);
            std::vector<size_t> next(DIGITS);
            for (size_t digit = 0; digit < DIGITS; ++digit)
                next[digit] = starts[digit * size_t(threads) + size_t(k)];
            for (size_t i = share.begin; i < share.end; ++i)
                other[next[places[i].key >> shift & (DIGITS - 1)]++] = places[i];
        });
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

std::vector<Place> curve_order(const CurveSquare &square, const Point *points, int32 count, int threads) {
    std::vector<Place> places(count);
    on_threads(threads, [&](int k) {
        const Share share = share_of(size_t(count), k, threads);
        for (size_t i = share.begin; i < share.end; ++i) {
            if (i % POINTS_AT_ONCE == 0)
                host::stop_point();
            places[i] = {uint32(curve_position(square, points[i], CURVE_LEVELS)), int32(i)};
        }
    });
    sort_places(places, threads);
    return places;
}

} // namespace triangulation
