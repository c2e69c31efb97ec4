#include "arrangement.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "../threads.hpp"
#include "crossings.hpp"
#include "intersection.hpp"

namespace triangulation {

namespace {

// The crossing of two pieces.
struct Crossing {
    int32 low, high; // segments
    int32 pieces[2];
    Point at;
    int32 vertex; // the number of the point there
};

// Entries sorted into lists, by counting: list k is entries [starts[k], starts[k + 1]).
template <class Entry> struct Lists {
    std::vector<size_t> starts;
    std::vector<Entry> entries;

    // for_each(put) calls put(list, entry) for all entries, in the same order each time.
    template <class ForEach> Lists(size_t lists, const ForEach &for_each) : starts(lists + 1, 0) {
        for_each([&](size_t list, const Entry &) { ++starts[list + 1]; });
        for (size_t list = 0; list < lists; ++list)
            starts[list + 1] += starts[list];
        entries.resize(starts.back());
        std::vector<size_t> next(starts.begin(), starts.end() - 1);
        for_each([&](size_t list, const Entry &entry) { entries[next[list]++] = entry; });
    }
};

class Arranging {
  public:
    Arranging(const std::vector<Segment> &segments, int threads, Arrangement &result)
        : segments_(segments), threads_(threads), result_(result) {}

    // Keeps each piece once, and notes the overlaps.
    void merge(std::vector<Part> &pieces) {
        const auto ends = [](const Part &piece) {
            return std::pair(std::min(piece.from, piece.to), std::max(piece.from, piece.to));
        };
        std::sort(pieces.begin(), pieces.end(), [&](const Part &one, const Part &other) {
            return std::tuple(ends(one), one.segment) < std::tuple(ends(other), other.segment);
        });
        for (size_t begin = 0, end = 0; begin < pieces.size(); begin = end) {
            Part kept = pieces[begin];
            for (end = begin + 1; end < pieces.size() && ends(pieces[end]) == ends(kept); ++end) {
                result_.conflicts.push_back({OVERLAP, pieces[begin].segment, pieces[end].segment, kept.from});
                if (owner_of_both(segments_, kept.segment, pieces[end].segment) != kept.segment)
                    kept = pieces[end];
            }
            pieces_.push_back(kept);
        }
    }

    void cross() {
        const std::vector<Point> &points = result_.points;
        std::vector<Line> lines(pieces_.size());
        for (size_t i = 0; i < pieces_.size(); ++i)
            lines[i] = {points[pieces_[i].from], points[pieces_[i].to]};
        const std::vector<CrossingPair> found = find_crossings(lines, threads_);
        Lists<Crossing> by_segment(segments_.size(), [&](const auto &put) {
            for (const CrossingPair &pair : found) {
                const int32 one = pieces_[pair.low].segment, other = pieces_[pair.high].segment;
                if (one < other)
                    put(one, {one, other, {pair.low, pair.high}, {}, NOTHING});
                else
                    put(other, {other, one, {pair.high, pair.low}, {}, NOTHING});
            }
        });
        std::vector<size_t> kept(segments_.size() + 1, 0); // by segment: how many different crossings
        share_indices(threads_, segments_.size(), [&](size_t begin, size_t end) {
            for (size_t segment = begin; segment < end; ++segment) {
                host::stop_point();
                const auto first = by_segment.entries.begin() + std::ptrdiff_t(by_segment.starts[segment]),
                           last = by_segment.entries.begin() + std::ptrdiff_t(by_segment.starts[segment + 1]);
                std::sort(first, last, [](const Crossing &a, const Crossing &b) { return a.high < b.high; });
                const auto stop =
                    std::unique(first, last, [](const Crossing &a, const Crossing &b) { return a.high == b.high; });
                for (auto at = first; at != stop; ++at)
                    at->at = place_of(*at);
                kept[segment + 1] = size_t(stop - first);
            }
        });
        for (size_t segment = 0; segment < segments_.size(); ++segment)
            kept[segment + 1] += kept[segment];
        crossings_.resize(kept.back());
        share_indices(threads_, segments_.size(), [&](size_t begin, size_t end) {
            for (size_t segment = begin; segment < end; ++segment)
                std::copy_n(by_segment.entries.begin() + std::ptrdiff_t(by_segment.starts[segment]),
                            kept[segment + 1] - kept[segment], crossings_.begin() + std::ptrdiff_t(kept[segment]));
        });
    }

    // Numbers the points where segments cross, by the lowest pair there.
    void number() {
        constexpr size_t BUCKETS = 1024;
        const auto bits = [](float64 x) { return bits_of(x + 0.0); }; // 0 for -0
        const auto bucket_of = [&](Point p) {
            return size_t((bits(p.x) * 0x9e3779b97f4a7c15ull ^ bits(p.y) * 0xc2b2ae3d27d4eb4full) >> 54);
        };
        Lists<int32> by_place(BUCKETS, [&](const auto &put) {
            for (size_t k = 0; k < crossings_.size(); ++k)
                put(bucket_of(crossings_[k].at), int32(k));
        });
        std::vector<int32> first(crossings_.size()); // by crossing: the first one in the same place
        share_out(threads_, int(BUCKETS), [&](int bucket) {
            const auto begin = by_place.entries.begin() + std::ptrdiff_t(by_place.starts[size_t(bucket)]),
                       end = by_place.entries.begin() + std::ptrdiff_t(by_place.starts[size_t(bucket) + 1]);
            const auto place = [&](int32 k) {
                const Point p = crossings_[size_t(k)].at;
                return std::tuple(p.x, p.y, k);
            };
            std::sort(begin, end, [&](int32 one, int32 other) { return place(one) < place(other); });
            for (auto at = begin; at != end; ++at)
                first[size_t(*at)] =
                    at != begin && same_place(crossings_[size_t(*at)].at, crossings_[size_t(*(at - 1))].at)
                        ? first[size_t(*(at - 1))]
                        : *at;
        });
        for (size_t k = 0; k < crossings_.size(); ++k) {
            Crossing &crossing = crossings_[k];
            if (first[k] == int32(k)) {
                crossing.vertex = int32(result_.points.size());
                result_.points.push_back(crossing.at);
            } else {
                crossing.vertex = crossings_[size_t(first[k])].vertex;
            }
            result_.conflicts.push_back({CROSSING, crossing.low, crossing.high, crossing.vertex});
            result_.crosses[crossing.low] = result_.crosses[crossing.high] = 1;
        }
    }

    // Divides the pieces where they cross others.
    void divide() {
        Lists<int32> by_piece(pieces_.size(), [&](const auto &put) { // the points on each
            for (const Crossing &crossing : crossings_)
                for (const int32 piece : crossing.pieces)
                    put(size_t(piece), crossing.vertex);
        });
        std::vector<size_t> parts(pieces_.size() + 1, 0);
        share_indices(threads_, pieces_.size(), [&](size_t begin, size_t end) {
            for (size_t piece = begin; piece < end; ++piece) {
                const auto first = by_piece.entries.begin() + std::ptrdiff_t(by_piece.starts[piece]),
                           last = by_piece.entries.begin() + std::ptrdiff_t(by_piece.starts[piece + 1]);
                const Point from = result_.points[size_t(pieces_[piece].from)],
                            to = result_.points[size_t(pieces_[piece].to)];
                const bool by_x = std::abs(to.x - from.x) >= std::abs(to.y - from.y);
                const bool forward = by_x ? from.x < to.x : from.y < to.y;
                std::sort(first, last, [&](int32 one, int32 other) { // rounding keeps the order along the longer axis
                    const Point p = result_.points[size_t(one)], q = result_.points[size_t(other)];
                    const float64 of_p = by_x ? p.x : p.y, of_q = by_x ? q.x : q.y;
                    if (of_p != of_q)
                        return (of_p < of_q) == forward;
                    return one < other;
                });
                parts[piece + 1] = size_t(std::unique(first, last) - first) + 1;
            }
        });
        for (size_t piece = 0; piece < pieces_.size(); ++piece)
            parts[piece + 1] += parts[piece];
        result_.parts.resize(parts.back());
        share_indices(threads_, pieces_.size(), [&](size_t begin, size_t end) {
            for (size_t piece = begin; piece < end; ++piece) {
                const auto points = by_piece.entries.begin() + std::ptrdiff_t(by_piece.starts[piece]);
                const size_t count = parts[piece + 1] - parts[piece];
                int32 from = pieces_[piece].from;
                for (size_t k = 0; k < count; ++k) {
                    const int32 to = k + 1 == count ? pieces_[piece].to : points[std::ptrdiff_t(k)];
                    result_.parts[parts[piece] + k] = {from, to, pieces_[piece].segment};
                    from = to;
                }
            }
        });
    }

  private:
    Point place_of(const Crossing &one) const {
        const Segment &low = segments_[one.low], &high = segments_[one.high];
        const std::vector<Point> &points = result_.points;
        return crossing(points[low.from], points[low.to], points[high.from], points[high.to]);
    }

    const std::vector<Segment> &segments_;
    const int threads_;
    Arrangement &result_;
    std::vector<Part> pieces_;
    std::vector<Crossing> crossings_; // by pair of segments
};

} // namespace

Arrangement arrange(const Point *points, size_t count, const std::vector<Segment> &segments, std::vector<Part> pieces,
                    int threads) {
    Arrangement result;
    result.points.assign(points, points + count);
    result.crosses.assign(segments.size(), 0);
    Arranging arranging(segments, threads, result);
    arranging.merge(pieces);
    arranging.cross();
    arranging.number();
    arranging.divide();
    return result;
}

} // namespace triangulation
