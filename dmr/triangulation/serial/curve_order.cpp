#include "curve_order.hpp"

#include <algorithm>

#include "geometry/curve.cuh"
#include "threads.hpp"

namespace triangulation {

namespace {

constexpr size_t POINTS_AT_ONCE = 1 << 14; // points between two stop points

// Sorts by key, 11 bits at a time; equal keys stay in order. Each piece of the places is counted and moved by one
// thread.
void sort_places(Table<Place> &places, int threads) {
    constexpr size_t DIGITS = 2048;
    Table<Place> other(places.size());
    const int pieces = pieces_for(threads);
    std::vector<size_t> starts(DIGITS * size_t(pieces)); // by digit, and by piece for each
    for (int shift : {0, 11, 22}) {
        share_out(threads, pieces, [&](int k) {
            const Share share = share_of(places.size(), k, pieces);
            std::vector<size_t> counts(DIGITS);
            for (size_t i = share.begin; i < share.end; ++i)
                ++counts[places[i].key >> shift & (DIGITS - 1)];
            for (size_t digit = 0; digit < DIGITS; ++digit)
                starts[digit * size_t(pieces) + size_t(k)] = counts[digit];
        });
        size_t before = 0;
        for (size_t &start : starts) {
            const size_t count = start;
            start = before;
            before += count;
        }
        host::stop_point();
        share_out(threads, pieces, [&](int k) {
            const Share share = share_of(places.size(), k, pieces);
            std::vector<size_t> next(DIGITS);
            for (size_t digit = 0; digit < DIGITS; ++digit)
                next[digit] = starts[digit * size_t(pieces) + size_t(k)];
            for (size_t i = share.begin; i < share.end; ++i)
                other[next[places[i].key >> shift & (DIGITS - 1)]++] = places[i];
        });
        places.swap(other);
        host::stop_point();
    }
}

} // namespace

CurveSquare square_around(const Point *points, int32 count, int threads) {
    struct Box {
        Point low, high;
    };
    const int pieces = pieces_for(threads);
    std::vector<Box> boxes(pieces, {points[0], points[0]});
    share_out(threads, pieces, [&](int k) {
        const Share share = share_of(size_t(count), k, pieces);
        Box box = boxes[k];
        for (size_t i = share.begin; i < share.end; ++i)
            box = {{std::min(box.low.x, points[i].x), std::min(box.low.y, points[i].y)},
                   {std::max(box.high.x, points[i].x), std::max(box.high.y, points[i].y)}};
        boxes[k] = box;
    });
    Box all = boxes[0];
    for (const Box &box : boxes)
        all = {{std::min(all.low.x, box.low.x), std::min(all.low.y, box.low.y)},
               {std::max(all.high.x, box.high.x), std::max(all.high.y, box.high.y)}};
    return {all.low, std::max(all.high.x - all.low.x, all.high.y - all.low.y)};
}

uint64 curve_position(const CurveSquare &square, Point p, int levels) {
    const float64 scale = square.extent > 0 ? float64(1 << levels) / square.extent : 0.0;
    return hilbert_index<uint64>(curve_cell(p.x, square.low.x, scale, levels),
                                 curve_cell(p.y, square.low.y, scale, levels), levels);
}

Table<Place> curve_order(const CurveSquare &square, const Point *points, int32 count, int threads) {
    Table<Place> places(count);
    share_indices(threads, size_t(count), [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            if (i % POINTS_AT_ONCE == 0)
                host::stop_point();
            places[i] = {uint32(curve_position(square, points[i], CURVE_LEVELS)), int32(i)};
        }
    });
    sort_places(places, threads);
    return places;
}

} // namespace triangulation
