// Sorts the segments of a mesh by their ends: a counting sort by the lower end, and within each of its rows a sort by
// the higher one; or, if they are few, a sort that takes no time per vertex. numpy's sort takes four times as long
// where runs of ascending ends are short.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace {

using std::int32_t, std::size_t;

enum Status { DISTINCT, REPEATED, NO_MEMORY };

struct Row {
    int32_t high, row;
    bool operator<(const Row &other) const { return high != other.high ? high < other.high : row < other.row; }
};

constexpr int32_t FEW = 16; // vertices per segment, from which on a counting sort takes longer

// Sorts few segments; arguments and result are those of dmr_sort_segments.
int32_t sort_few(const int32_t *segments, int32_t count, int32_t *ends, int32_t *rows) {
    struct Segment {
        int32_t low;
        Row rest;
        bool operator<(const Segment &other) const { return low != other.low ? low < other.low : rest < other.rest; }
    };
    std::vector<Segment> sorted;
    for (int32_t row = 0; row < count; ++row) {
        const auto [low, high] = std::minmax(segments[2 * size_t(row)], segments[2 * size_t(row) + 1]);
        sorted.push_back({low, {high, row}});
    }
    std::sort(sorted.begin(), sorted.end());
    bool distinct = true;
    for (size_t place = 0; place < sorted.size(); ++place) {
        const Segment &found = sorted[place];
        distinct &= place == 0 || sorted[place - 1].low != found.low || sorted[place - 1].rest.high != found.rest.high;
        ends[2 * place] = found.low;
        ends[2 * place + 1] = found.rest.high;
        rows[place] = found.rest.row;
    }
    return distinct ? DISTINCT : REPEATED;
}

} // namespace

// segments: (2 count) indices of `vertices`. ends: (2 count), the lower end first, sorted; rows: (count) the row of
// `segments` that each comes from. Returns REPEATED if two segments have the same ends, whose rows then ascend.
extern "C" int32_t dmr_sort_segments(const int32_t *segments, int32_t count, int32_t vertices, int32_t *ends,
                                     int32_t *rows) try {
    if (count < vertices / FEW)
        return sort_few(segments, count, ends, rows);
    std::vector<int32_t> places(size_t(vertices) + 1);
    const std::unique_ptr<Row[]> sorted(new Row[size_t(count)]); // not initialised
    const auto low = [=](int32_t row) { return std::min(segments[2 * size_t(row)], segments[2 * size_t(row) + 1]); };
    const auto high = [=](int32_t row) { return std::max(segments[2 * size_t(row)], segments[2 * size_t(row) + 1]); };
    for (int32_t row = 0; row < count; ++row)
        ++places[low(row) + 1];
    for (int32_t v = 0; v < vertices; ++v)
        places[v + 1] += places[v];
    for (int32_t row = 0; row < count; ++row)
        sorted[places[low(row)]++] = {high(row), row};
    bool distinct = true; // now places[v] is where the rows of vertex v end
    for (int32_t v = 0, begin = 0; v < vertices; begin = places[v], ++v) {
        const int32_t end = places[v];
        if (end - begin > 1)
            std::sort(&sorted[begin], &sorted[end]);
        for (int32_t place = begin; place < end; ++place) {
            distinct &= place == begin || sorted[place - 1].high != sorted[place].high;
            ends[2 * size_t(place)] = v;
            ends[2 * size_t(place) + 1] = sorted[place].high;
            rows[place] = sorted[place].row;
        }
    }
    return distinct ? DISTINCT : REPEATED;
} catch (const std::bad_alloc &) {
    return NO_MEMORY;
}
