// Divides triangles into blocks of about equal weight: k-d blocks of their centroids.
//
// All parts of a level are divided together, and no triangle moves: threads pass over the triangles three times per
// level. The first time they add up the weights in bins along each block, so that few values must be sorted to find the
// triangle that divides it; the last time they also find the extents of both halves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "predictions.hpp"
#include "rows.hpp"

namespace unions {

// Some triangles, and the weight of each.
struct Weighted {
    const Point *points;
    const int32_t (*triangles)[3];
    const int64_t *rows; // the numbers of the triangles; null for all
    const int64_t *weights;
    std::size_t count;

    // Three times the centroid.
    Point place(std::size_t i) const {
        const int32_t *const corners = triangles[rows == nullptr ? i : std::size_t(rows[i])];
        const Point a = points[corners[0]], b = points[corners[1]], c = points[corners[2]];
        return {a.x + b.x + c.x, a.y + b.y + c.y};
    }
};

class Blocks {
  public:
    // Divides triangles into `blocks`, of which there are no more than triangles, and writes that of each.
    //
    // shift: of the first division, in weights of a block.
    Blocks(const Weighted &given, int32_t blocks, double shift, int threads, int32_t *block)
        : weights_(given.weights), count_(given.count), shift_(shift), threads_(threads), block_(block),
          places_(count_) {
        parts_ = {Part{0, blocks}};
        each([&](std::size_t begin, std::size_t end) { std::fill(block_ + begin, block_ + end, 0); });
        find_places(given);
        while (drop_finished()) {
            find_bins();
            find_pivots();
            divide();
        }
        each([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                block_[i] = ~block_[i];
        });
    }

  private:
    static constexpr std::size_t MOST_BINS = 1024, LEAST_BINS = 4, ALL_BINS = 8192; // of a part, and of all

    // A coordinate of a triangle; ties are broken by number.
    struct Place {
        double value;
        std::size_t number;
        bool operator<(const Place &other) const {
            return value < other.value || (value == other.value && number < other.number);
        }
    };

    struct Extent {
        double low[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        double high[2] = {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
        int64_t triangles = 0;

        void add(Point place) {
            low[0] = std::min(low[0], place.x);
            high[0] = std::max(high[0], place.x);
            low[1] = std::min(low[1], place.y);
            high[1] = std::max(high[1], place.y);
            ++triangles;
        }
        void add(const Extent &other) {
            for (int axis = 0; axis < 2; ++axis) {
                low[axis] = std::min(low[axis], other.low[axis]);
                high[axis] = std::max(high[axis], other.high[axis]);
            }
            triangles += other.triangles;
        }
    };

    // Triangles that form several blocks.
    struct Part {
        int32_t first, blocks; // the number of the first block, and how many there are
        Extent extent{};
        int axis = 0;        // of the division
        double width = 0.0;  // of a bin
        double wanted = 0.0; // weight of the lower half
        double before = 0.0; // weight below the bin that the division lies in
        int64_t below = 0;   // triangles there
        int bin = 0;
        Place pivot{}; // the first triangle of the upper half

        int32_t left() const { return blocks / 2; }

        std::size_t bin_of(double value, std::size_t bins) const {
            return std::size_t(width > 0.0 ? std::min((value - extent.low[axis]) / width, double(bins - 1)) : 0.0);
        }
    };

    // Calls work(begin, end) for pieces of the triangles.
    template <class Work> void each(const Work &work) const { by_pieces(threads_, count_, work); }

    // Calls work(triangle, part) for the triangles of a piece whose part is to be divided.
    template <class Work> void in_parts(std::size_t begin, std::size_t end, const Work &work) const {
        for (std::size_t i = begin; i < end; ++i)
            if (block_[i] >= 0)
                work(i, std::size_t(block_[i]));
    }

    double along(std::size_t i, int axis) const { return axis == 0 ? places_[i].x : places_[i].y; }

    void find_places(const Weighted &given) {
        std::mutex one_adds;
        each([&](std::size_t begin, std::size_t end) {
            Extent own;
            for (std::size_t i = begin; i < end; ++i) {
                places_[i] = given.place(i);
                own.add(places_[i]);
            }
            const std::lock_guard<std::mutex> lock(one_adds);
            parts_[0].extent.add(own);
        });
    }

    // Gives the triangles of parts that are one block its number, inverted, and numbers the other parts anew. Returns
    // whether there are any.
    bool drop_finished() {
        std::vector<int32_t> becomes;
        std::vector<Part> left;
        for (const Part &part : parts_) {
            becomes.push_back(part.blocks == 1 ? ~part.first : int32_t(left.size()));
            if (part.blocks > 1)
                left.push_back(part);
        }
        each([&](std::size_t begin, std::size_t end) {
            in_parts(begin, end, [&](std::size_t i, std::size_t part) { block_[i] = becomes[part]; });
        });
        parts_ = left;
        return !parts_.empty();
    }

    // Finds the bin that each division lies in.
    void find_bins() {
        bins_ = std::clamp(ALL_BINS / parts_.size(), LEAST_BINS, MOST_BINS);
        for (Part &part : parts_) {
            const Extent &extent = part.extent;
            part.axis = extent.high[1] - extent.low[1] > extent.high[0] - extent.low[0];
            part.width = (extent.high[part.axis] - extent.low[part.axis]) / double(bins_);
        }
        struct Bin {
            int64_t weight = 0, triangles = 0;
        };
        std::vector<Bin> sums(parts_.size() * bins_);
        std::mutex one_adds;
        each([&](std::size_t begin, std::size_t end) {
            std::vector<Bin> own(sums.size());
            in_parts(begin, end, [&](std::size_t i, std::size_t place) {
                const Part &part = parts_[place];
                Bin &bin = own[place * bins_ + part.bin_of(along(i, part.axis), bins_)];
                bin.weight += weights_[i];
                ++bin.triangles;
            });
            const std::lock_guard<std::mutex> lock(one_adds);
            for (std::size_t k = 0; k < sums.size(); ++k) {
                sums[k].weight += own[k].weight;
                sums[k].triangles += own[k].triangles;
            }
        });
        for (std::size_t place = 0; place < parts_.size(); ++place) {
            Part &part = parts_[place];
            const Bin *const of_part = sums.data() + place * bins_;
            double total = 0.0; // whole numbers, so that sums are exact
            for (std::size_t k = 0; k < bins_; ++k)
                total += double(of_part[k].weight);
            part.wanted = (part.left() + shift_) / part.blocks * total;
            part.before = 0.0;
            part.below = 0;
            for (part.bin = 0; part.before + double(of_part[part.bin].weight) < part.wanted; ++part.bin) {
                part.before += double(of_part[part.bin].weight);
                part.below += of_part[part.bin].triangles;
            }
        }
    }

    // Finds the first triangle of each upper half.
    void find_pivots() {
        struct Inside {
            Place place;
            int64_t weight;
            bool operator<(const Inside &other) const { return place < other.place; }
        };
        std::vector<std::vector<Inside>> inside(parts_.size());
        std::mutex one_adds;
        each([&](std::size_t begin, std::size_t end) {
            std::vector<std::pair<std::size_t, Inside>> own;
            in_parts(begin, end, [&](std::size_t i, std::size_t place) {
                const Part &part = parts_[place];
                const double value = along(i, part.axis);
                if (int(part.bin_of(value, bins_)) == part.bin)
                    own.push_back({place, {{value, i}, weights_[i]}});
            });
            const std::lock_guard<std::mutex> lock(one_adds);
            for (const auto &[place, one] : own)
                inside[place].push_back(one);
        });
        std::vector<char> is_unequal(parts_.size());
        for (std::size_t place = 0; place < parts_.size(); ++place) {
            Part &part = parts_[place];
            std::vector<Inside> &of_part = inside[place];
            std::sort(of_part.begin(), of_part.end());
            double weight = part.before;
            std::size_t lower = 0;
            while (lower + 1 < of_part.size() && (weight += double(of_part[lower].weight)) < part.wanted)
                ++lower;
            part.pivot = of_part[lower].place;
            const int64_t before = part.below + int64_t(lower);
            is_unequal[place] = before < part.left() || before > part.extent.triangles - (part.blocks - part.left());
        }
        if (std::find(is_unequal.begin(), is_unequal.end(), 1) != is_unequal.end())
            divide_by_number(is_unequal);
    }

    // Gives the lower halves of some parts one triangle per block: by weight, a block would have none.
    void divide_by_number(const std::vector<char> &is_unequal) {
        std::vector<std::vector<Place>> of_each(parts_.size());
        in_parts(0, count_, [&](std::size_t i, std::size_t place) {
            if (is_unequal[place])
                of_each[place].push_back({along(i, parts_[place].axis), i});
        });
        for (std::size_t place = 0; place < parts_.size(); ++place) {
            if (!is_unequal[place])
                continue;
            std::vector<Place> &all = of_each[place];
            const auto first = all.begin() + parts_[place].left();
            std::nth_element(all.begin(), first, all.end());
            parts_[place].pivot = *first;
        }
    }

    // Divides all parts.
    void divide() {
        std::vector<Part> halves;
        for (const Part &part : parts_) {
            halves.push_back({part.first, part.left()});
            halves.push_back({part.first + part.left(), part.blocks - part.left()});
        }
        std::mutex one_adds;
        each([&](std::size_t begin, std::size_t end) {
            std::vector<Extent> own(halves.size());
            in_parts(begin, end, [&](std::size_t i, std::size_t place) {
                const Part &part = parts_[place];
                const std::size_t half = 2 * place + !(Place{along(i, part.axis), i} < part.pivot);
                block_[i] = int32_t(half);
                own[half].add(places_[i]);
            });
            const std::lock_guard<std::mutex> lock(one_adds);
            for (std::size_t k = 0; k < halves.size(); ++k)
                halves[k].extent.add(own[k]);
        });
        parts_ = halves;
    }

    const int64_t *const weights_;
    const std::size_t count_;
    const double shift_;
    const int threads_;
    int32_t *const block_; // of a triangle: its part, or the number of its block, inverted
    triangulation::Table<Point> places_;
    std::vector<Part> parts_;
    std::size_t bins_ = 0; // of each part
};

} // namespace unions
