#include "order.hpp"

#include <algorithm>
#include <cstdint>

#include "geometry/curve.cuh"
#include "threads.hpp"

namespace triangulation {

namespace {

constexpr size_t POINTS_AT_ONCE = 1 << 14; // points between two stop points

// Evaluates hilbert_index four levels at a time, which takes a third of the time. Within a quadrant the curve is
// swapped, turned around, both or neither: the state, bits SWAPPED and AROUND. The table is made by hilbert_index.
class CurveTable {
  public:
    CurveTable() {
        for (uint32 state = 0; state < 4; ++state)
            for (uint32 x = 0; x < CELLS; ++x)
                for (uint32 y = 0; y < CELLS; ++y) {
                    const uint32 around = state & AROUND ? CELLS - 1 : 0;
                    const uint32 u = (state & SWAPPED ? y : x) ^ around, v = (state & SWAPPED ? x : y) ^ around;
                    // The order of the cell's quadrants along the curve.
                    const uint32 lower_left = hilbert_index<uint32>(2 * u, 2 * v, LEVELS + 1) & 3;
                    const uint32 upper_left = hilbert_index<uint32>(2 * u, 2 * v + 1, LEVELS + 1) & 3;
                    const bool turned = lower_left == 2, swapped = (upper_left == 3) != turned;
                    const uint32 next = state ^ (uint32(turned) * AROUND | uint32(swapped) * SWAPPED);
                    steps_[state][x * CELLS + y] = std::uint16_t(hilbert_index<uint32>(u, v, LEVELS) << 2 | next);
                }
    }

    uint32 index(uint32 x, uint32 y) const { // of CURVE_LEVELS levels
        uint32 state = 0, found = 0;
        for (int shift = CURVE_LEVELS - LEVELS; shift >= 0; shift -= LEVELS) {
            const uint32 step = steps_[state][(x >> shift & (CELLS - 1)) * CELLS + (y >> shift & (CELLS - 1))];
            found = found << 2 * LEVELS | step >> 2;
            state = step & 3;
        }
        return found;
    }

  private:
    static constexpr int LEVELS = 4; // of a step
    static constexpr uint32 CELLS = 1 << LEVELS, SWAPPED = 1, AROUND = 2;
    static_assert(CURVE_LEVELS % LEVELS == 0, "steps fill the curve's levels");

    std::uint16_t steps_[4][CELLS * CELLS];
};

// ---- The order of insertion -----------------------------------------------------------------------------------------

constexpr int ROUND_BITS = 3; // each round has 2^ROUND_BITS times as many points as all rounds before it
constexpr uint32 LAST_ROUND = 8;
constexpr int FINE = 30; // levels of the curve through the points of a cell

// A bijective mixer.
uint64 mixed(uint64 x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

// The round of a point, pseudo-random bits from its coordinates: equal points are in the same round, so that the one
// with the lowest number comes first. (x + 0.0 is x, or 0.0 for -0.0.)
uint32 round_of(Point p) {
    uint64 bits = mixed(mixed(bits_of(p.x + 0.0)) + bits_of(p.y + 0.0));
    uint32 round = LAST_ROUND;
    while (round > 0 && (bits & ((1u << ROUND_BITS) - 1)) == 0) {
        bits >>= ROUND_BITS;
        --round;
    }
    return round;
}

// The places along the curve by round, in order within each.
InsertionOrder sorted_by_round(const Table<Place> &along, const Point *points, int threads) {
    const int pieces = pieces_for(threads);
    Table<uint8> round(along.size()); // by point
    share_indices(threads, along.size(), [&](size_t begin, size_t end) {
        for (size_t point = begin; point < end; ++point)
            round[point] = uint8(round_of(points[point]));
    });
    std::vector<size_t> starts((LAST_ROUND + 1) * size_t(pieces)); // by round, and by piece of the curve for each
    const auto start = [&](uint32 r, int piece) -> size_t & { return starts[r * size_t(pieces) + size_t(piece)]; };
    share_out(
        threads, pieces,
        [&](int piece) {
            const Share share = share_of(along.size(), piece, pieces);
            size_t counts[LAST_ROUND + 1] = {0};
            for (size_t i = share.begin; i < share.end; ++i)
                ++counts[round[along[i].point]];
            for (uint32 r = 0; r <= LAST_ROUND; ++r)
                start(r, piece) = counts[r];
        },
        along.size());
    InsertionOrder order{Table<int32>(along.size()), {}};
    size_t before = 0;
    for (uint32 r = 0; r <= LAST_ROUND; ++r) {
        for (int piece = 0; piece < pieces; ++piece)
            before += std::exchange(start(r, piece), before);
        order.ends.push_back(before);
    }
    host::stop_point();
    share_out(
        threads, pieces,
        [&](int piece) {
            const Share share = share_of(along.size(), piece, pieces);
            size_t next[LAST_ROUND + 1];
            for (uint32 r = 0; r <= LAST_ROUND; ++r)
                next[r] = start(r, piece);
            for (size_t i = share.begin; i < share.end; ++i)
                order.places[next[round[along[i].point]]++] = int32(i);
        },
        along.size());
    return order;
}

} // namespace

CurveSquare square_around(const Point *points, int32 count, int threads) {
    struct Box {
        Point low, high;
    };
    const int pieces = pieces_for(threads);
    std::vector<Box> boxes(pieces, {points[0], points[0]});
    share_out(
        threads, pieces,
        [&](int k) {
            const Share share = share_of(size_t(count), k, pieces);
            Box box = boxes[k];
            for (size_t i = share.begin; i < share.end; ++i)
                box = {{std::min(box.low.x, points[i].x), std::min(box.low.y, points[i].y)},
                       {std::max(box.high.x, points[i].x), std::max(box.high.y, points[i].y)}};
            boxes[k] = box;
        },
        size_t(count));
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

// 11 bits at a time, unless counting them would take longer than a comparison sort. Each piece of the places is counted
// and moved by one thread.
void sort_places(Table<Place> &places, int threads) {
    constexpr size_t DIGITS = 2048, FEW = 256;
    if (places.size() <= FEW) {
        std::stable_sort(places.begin(), places.end(), [](Place a, Place b) { return a.key < b.key; });
        return;
    }
    Table<Place> other(places.size());
    const int pieces = pieces_for(threads);
    std::vector<size_t> starts(DIGITS * size_t(pieces)); // by digit, and by piece for each
    for (int shift : {0, 11, 22}) {
        share_out(
            threads, pieces,
            [&](int k) {
                const Share share = share_of(places.size(), k, pieces);
                std::vector<size_t> counts(DIGITS);
                for (size_t i = share.begin; i < share.end; ++i)
                    ++counts[places[i].key >> shift & (DIGITS - 1)];
                for (size_t digit = 0; digit < DIGITS; ++digit)
                    starts[digit * size_t(pieces) + size_t(k)] = counts[digit];
            },
            places.size());
        size_t before = 0;
        for (size_t &start : starts) {
            const size_t count = start;
            start = before;
            before += count;
        }
        host::stop_point();
        share_out(
            threads, pieces,
            [&](int k) {
                const Share share = share_of(places.size(), k, pieces);
                std::vector<size_t> next(DIGITS);
                for (size_t digit = 0; digit < DIGITS; ++digit)
                    next[digit] = starts[digit * size_t(pieces) + size_t(k)];
                for (size_t i = share.begin; i < share.end; ++i)
                    other[next[places[i].key >> shift & (DIGITS - 1)]++] = places[i];
            },
            places.size());
        places.swap(other);
        host::stop_point();
    }
}

Table<Place> curve_order(const CurveSquare &square, const Point *points, int32 count, int threads) {
    static const CurveTable curve;
    const float64 scale = square.extent > 0 ? float64(1 << CURVE_LEVELS) / square.extent : 0.0;
    Table<Place> places(count);
    share_indices(threads, size_t(count), [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            if (i % POINTS_AT_ONCE == 0)
                host::stop_point();
            const uint32 x = curve_cell(points[i].x, square.low.x, scale, CURVE_LEVELS),
                         y = curve_cell(points[i].y, square.low.y, scale, CURVE_LEVELS);
            places[i] = {curve.index(x, y), int32(i)};
        }
    });
    sort_places(places, threads);
    return places;
}

InsertionOrder insertion_order(const Table<Place> &along, const Point *points, int threads) {
    InsertionOrder result = sorted_by_round(along, points, threads);
    Table<int32> &order = result.places;
    // Where several points share a cell of the curve, they are sorted along a finer one through the square around them,
    // and so on, so that nested clusters are in order, too, however small.
    const auto key = [&](size_t turn) { return along[order[turn]].key; };
    const int pieces = pieces_for(threads);
    const std::vector<size_t> cuts =
        cut_between(0, order.size(), pieces, [&](size_t turn) { return key(turn) == key(turn - 1); });
    share_out(threads, pieces, [&](int piece) {
        std::vector<std::pair<uint64, int32>> crowd;
        std::vector<Share> waiting;
        for (size_t first = cuts[piece], end = 0; first < cuts[piece + 1]; first = end) {
            for (end = first + 1; end < cuts[piece + 1] && key(end) == key(first);)
                ++end;
            if (end - first < 3)
                continue;
            for (waiting.push_back({first, end}); !waiting.empty();) {
                host::stop_point();
                const Share share = waiting.back();
                waiting.pop_back();
                CurveSquare around = {points[along[order[share.begin]].point], 0.0};
                Point high = around.low;
                for (size_t i = share.begin; i < share.end; ++i) {
                    const Point p = points[along[order[i]].point];
                    around.low = {std::min(around.low.x, p.x), std::min(around.low.y, p.y)};
                    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
                }
                around.extent = std::max(high.x - around.low.x, high.y - around.low.y);
                if (around.extent == 0.0) // equal points, in the order of their numbers
                    continue;
                crowd.clear();
                for (size_t i = share.begin; i < share.end; ++i)
                    crowd.push_back({curve_position(around, points[along[order[i]].point], FINE), order[i]});
                std::sort(crowd.begin(), crowd.end());
                for (size_t i = share.begin, run = share.begin; i < share.end; ++i) {
                    order[i] = crowd[i - share.begin].second;
                    if (i + 1 == share.end || crowd[i + 1 - share.begin].first != crowd[i - share.begin].first) {
                        if (i - run >= 2)
                            waiting.push_back({run, i + 1});
                        run = i + 1;
                    }
                }
            }
        }
    });
    return result;
}

} // namespace triangulation
