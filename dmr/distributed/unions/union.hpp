// The union of ascending lists of numbers, by threads that each merge a range of the numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dmr/triangulation/serial/threads.hpp"

namespace unions {

using std::int32_t;
using std::int64_t;

// A list without duplicates (`DmrList`). The number of an entry v < 0 is first - 1 - v; the numbers ascend.
struct List {
    const int64_t *entries;
    int64_t count;
    int64_t first;
    int32_t *places; // of the entries in the union

    int64_t number(int64_t i) const { return entries[i] < 0 ? first - 1 - entries[i] : entries[i]; }

    // The first entry whose number is not below a bound.
    int64_t lower_bound(int64_t bound) const { return lower_bound(bound, 0, count); }

    // The same, for an entry that is not before `start`: searched from there on, in steps that double.
    int64_t lower_bound_after(int64_t bound, int64_t start) const {
        int64_t low = start, step = 1;
        for (; low + step <= count && number(low + step - 1) < bound; step *= 2)
            low += step;
        return lower_bound(bound, low, std::min(low + step, count));
    }

    // The same, for an entry from `low` to `high`.
    int64_t lower_bound(int64_t bound, int64_t low, int64_t high) const {
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            (number(middle) < bound ? low : high) = number(middle) < bound ? middle + 1 : middle;
        }
        return low;
    }
};

class Union {
  public:
    Union(const List *lists, int32_t count, int threads)
        : lists_(lists, lists + count), threads_(threads), pieces_(triangulation::pieces_for(threads)) {
        const List &longest = *std::max_element(lists_.begin(), lists_.end(),
                                                [](const List &a, const List &b) { return a.count < b.count; });
        starts_.resize(pieces_ + 1, std::vector<int64_t>(lists_.size()));
        for (int piece = 1; piece <= pieces_; ++piece)
            for (std::size_t k = 0; k < lists_.size(); ++k)
                starts_[piece][k] = piece == pieces_ || longest.count == 0
                                        ? lists_[k].count
                                        : lists_[k].lower_bound(longest.number(longest.count * piece / pieces_));
    }

    // Writes the numbers of the union, and for each the entry that it comes from: that of the first list that has it,
    // counted over all lists. Also writes the places of the entries. Returns the length of the union.
    int64_t write(int64_t *numbers, int32_t *from) const {
        std::vector<int64_t> first(pieces_ + 1);
        triangulation::share_out(threads_, pieces_,
                                 [&](int piece) { first[piece + 1] = merge(piece, [](auto &&...) {}); });
        for (int piece = 0; piece < pieces_; ++piece)
            first[piece + 1] += first[piece];
        std::vector<int64_t> before(lists_.size());
        for (std::size_t k = 1; k < lists_.size(); ++k)
            before[k] = before[k - 1] + lists_[k - 1].count;
        triangulation::share_out(threads_, pieces_, [&](int piece) {
            int64_t last = first[piece] - 1; // the place written last
            merge(piece, [&](int64_t place, std::size_t k, int64_t i) {
                const int64_t at = first[piece] + place;
                if (at != last) {
                    numbers[at] = lists_[k].number(i);
                    from[at] = int32_t(before[k] + i);
                    last = at;
                }
                lists_[k].places[i] = int32_t(at);
            });
        });
        return first.back();
    }

  private:
    static constexpr int64_t NONE = INT64_MAX;

    // Calls visit(place in the piece's union, list, entry) in the order of numbers, then of lists; returns the length
    // of the union.
    template <class Visit> int64_t merge(int piece, const Visit &visit) const {
        std::vector<int64_t> at = starts_[piece];
        const std::vector<int64_t> &end = starts_[piece + 1];
        const auto head = [&](std::size_t k) { return at[k] < end[k] ? lists_[k].number(at[k]) : NONE; };
        int64_t count = 0;
        while (true) {
            host::stop_point();
            int64_t lowest = NONE, second = NONE; // the lowest head, and the lowest of the other lists
            std::size_t owner = 0;
            for (std::size_t k = 0; k < lists_.size(); ++k) {
                const int64_t number = head(k);
                if (number < lowest) {
                    second = lowest;
                    lowest = number;
                    owner = k;
                } else {
                    second = std::min(second, number);
                }
            }
            if (lowest == NONE)
                return count;
            if (lowest < second) { // a run of one list, up to what comes next in another
                for (; at[owner] < end[owner] && lists_[owner].number(at[owner]) < second; ++at[owner])
                    visit(count++, owner, at[owner]);
                continue;
            }
            for (std::size_t k = 0; k < lists_.size(); ++k)
                if (head(k) == lowest)
                    visit(count, k, at[k]++);
            ++count;
        }
    }

    std::vector<List> lists_;
    int threads_, pieces_;
    std::vector<std::vector<int64_t>> starts_; // by piece and list: the first entry
};

} // namespace unions
