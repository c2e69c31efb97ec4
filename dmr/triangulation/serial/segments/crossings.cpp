#include "crossings.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/predicates.cuh"

namespace triangulation {

namespace {

constexpr size_t FEW = 16;              // lines that are tested at once
constexpr float64 GAIN = 0.8;           // a box is divided if its halves have at most this part of its pairs
constexpr size_t TASKS = 8;             // boxes per thread
constexpr int MOST_DIVISIONS = 200;     // of a box: halves of halves; coordinates have 53 bits each
constexpr float64 ERROR = 16 * EPSILON; // bounds the relative error of a few sums and products

struct Box {
    Point low, high;
};

struct Task {
    Box box;
    std::vector<int32> inside; // lines that may pass through the box
    int divisions;
};

class Search {
  public:
    explicit Search(const std::vector<Line> &lines) : lines_(lines) {}

    // Divides a box in two, if this separates lines.
    bool divide(const Task &task, Task halves[2]) const {
        const size_t count = task.inside.size();
        if (count <= FEW || task.divisions >= MOST_DIVISIONS)
            return false;
        const float64 width = task.box.high.x - task.box.low.x, height = task.box.high.y - task.box.low.y;
        for (const bool along_x : {width >= height, width < height}) {
            cut(task, along_x, halves);
            const float64 first = float64(halves[0].inside.size()), second = float64(halves[1].inside.size());
            if (first * first + second * second <= GAIN * float64(count) * float64(count))
                return true;
        }
        return false;
    }

    // Lists the pairs in a box that cross.
    void test(const Task &task, std::vector<CrossingPair> &found) const {
        const std::vector<int32> &inside = task.inside;
        if (inside.size() <= FEW) {
            for (size_t i = 0; i < inside.size(); ++i)
                for (size_t j = i + 1; j < inside.size(); ++j)
                    test_pair(inside[i], inside[j], found);
            return;
        }
        std::vector<Projected> projected = project(inside);
        std::sort(projected.begin(), projected.end(),
                  [](const Projected &one, const Projected &other) { return one.low < other.low; });
        for (size_t i = 0; i < projected.size(); ++i) {
            host::stop_point();
            for (size_t j = i + 1; j < projected.size() && projected[j].low <= projected[i].high; ++j)
                test_pair(projected[i].line, projected[j].line, found);
        }
    }

    void search(Task task, std::vector<CrossingPair> &found) const {
        std::vector<Task> waiting;
        waiting.push_back(std::move(task));
        while (!waiting.empty()) {
            host::stop_point();
            const Task next = std::move(waiting.back());
            waiting.pop_back();
            Task halves[2];
            if (divide(next, halves)) {
                waiting.push_back(std::move(halves[0]));
                waiting.push_back(std::move(halves[1]));
            } else {
                test(next, found);
            }
        }
    }

  private:
    struct Projected {
        float64 low, high;
        int32 line;
    };

    void cut(const Task &task, bool along_x, Task halves[2]) const {
        const Box &box = task.box;
        const float64 middle =
            along_x ? box.low.x + (box.high.x - box.low.x) / 2 : box.low.y + (box.high.y - box.low.y) / 2;
        for (int k = 0; k < 2; ++k) {
            Box half = box;
            if (k == 0)
                (along_x ? half.high.x : half.high.y) = middle;
            else
                (along_x ? half.low.x : half.low.y) = middle;
            halves[k] = {half, {}, task.divisions + 1};
            for (const int32 line : task.inside)
                if (may_meet(lines_[line], half))
                    halves[k].inside.push_back(line);
        }
    }

    // Whether a line may pass through a box: false only if it surely does not.
    static bool may_meet(const Line &line, const Box &box) {
        const Point a = line.from, b = line.to;
        if (std::max(a.x, b.x) < box.low.x || std::min(a.x, b.x) > box.high.x || std::max(a.y, b.y) < box.low.y ||
            std::min(a.y, b.y) > box.high.y)
            return false;
        const float64 dx = b.x - a.x, dy = b.y - a.y;
        const float64 cx = box.low.x / 2 + box.high.x / 2 - a.x, cy = box.low.y / 2 + box.high.y / 2 - a.y;
        const float64 reach = std::abs(dx) * (box.high.y - box.low.y) / 2 + std::abs(dy) * (box.high.x - box.low.x) / 2;
        const float64 most = std::max({std::abs(a.x), std::abs(a.y), std::abs(box.low.x), std::abs(box.low.y),
                                       std::abs(box.high.x), std::abs(box.high.y)});
        const float64 sum = std::abs(dx) + std::abs(dy);
        const float64 error = ERROR * (reach + sum * (std::abs(cx) + std::abs(cy) + most));
        return std::abs(dx * cy - dy * cx) <= reach + error;
    }

    void test_pair(int32 i, int32 j, std::vector<CrossingPair> &found) const {
        const Line &s = lines_[i], &t = lines_[j];
        if (std::max(s.from.x, s.to.x) < std::min(t.from.x, t.to.x) ||
            std::max(t.from.x, t.to.x) < std::min(s.from.x, s.to.x) ||
            std::max(s.from.y, s.to.y) < std::min(t.from.y, t.to.y) ||
            std::max(t.from.y, t.to.y) < std::min(s.from.y, s.to.y))
            return;
        if (orient2d(s.from, s.to, t.from) * orient2d(s.from, s.to, t.to) < 0 &&
            orient2d(t.from, t.to, s.from) * orient2d(t.from, t.to, s.to) < 0)
            found.push_back({std::min(i, j), std::max(i, j)});
    }

    // The ranges of lines across their main direction, rounded outward. (The direction decides the time only.)
    std::vector<Projected> project(const std::vector<int32> &inside) const {
        float64 cosine = 0.0, sine = 0.0, most = 0.0; // of twice the angle: opposite directions are the same
        for (const int32 line : inside) {
            const Point a = lines_[line].from, b = lines_[line].to;
            const float64 dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
            most = std::max({most, std::abs(a.x), std::abs(a.y), std::abs(b.x), std::abs(b.y)});
            if (square > 0) {
                cosine += (dx * dx - dy * dy) / square;
                sine += 2 * dx * dy / square;
            }
        }
        const float64 angle = std::atan2(sine, cosine) / 2;
        const Point across = {-std::sin(angle), std::cos(angle)};
        std::vector<Projected> result;
        for (const int32 line : inside) {
            const Point a = lines_[line].from, b = lines_[line].to;
            const float64 of_a = across.x * a.x + across.y * a.y, of_b = across.x * b.x + across.y * b.y;
            result.push_back({std::min(of_a, of_b) - ERROR * most, std::max(of_a, of_b) + ERROR * most, line});
        }
        return result;
    }

    const std::vector<Line> &lines_;
};

} // namespace

std::vector<CrossingPair> find_crossings(const std::vector<Line> &lines, int threads) {
    if (lines.empty())
        return {};
    Task all{{lines[0].from, lines[0].from}, std::vector<int32>(lines.size()), 0};
    for (size_t i = 0; i < lines.size(); ++i) {
        all.inside[i] = int32(i);
        for (const Point p : {lines[i].from, lines[i].to}) {
            all.box.low = {std::min(all.box.low.x, p.x), std::min(all.box.low.y, p.y)};
            all.box.high = {std::max(all.box.high.x, p.x), std::max(all.box.high.y, p.y)};
        }
    }
    const Search search(lines);
    // Level by level, until there are enough boxes for all threads.
    std::vector<Task> tasks, done;
    tasks.push_back(std::move(all));
    while (threads > 1 && !tasks.empty() && tasks.size() + done.size() < TASKS * size_t(threads)) {
        std::vector<Task> halves(2 * tasks.size());
        std::vector<uint8> divided(tasks.size());
        share_out(threads, int(tasks.size()),
                  [&](int k) { divided[k] = search.divide(tasks[k], &halves[2 * size_t(k)]); });
        std::vector<Task> next;
        for (size_t k = 0; k < tasks.size(); ++k) {
            if (divided[k]) {
                next.push_back(std::move(halves[2 * k]));
                next.push_back(std::move(halves[2 * k + 1]));
            } else {
                done.push_back(std::move(tasks[k]));
            }
        }
        tasks = std::move(next);
    }
    std::move(tasks.begin(), tasks.end(), std::back_inserter(done));
    std::vector<std::vector<CrossingPair>> found(done.size());
    share_out(threads, int(done.size()), [&](int k) { search.search(std::move(done[k]), found[k]); });
    std::vector<CrossingPair> pairs;
    for (const std::vector<CrossingPair> &some : found)
        pairs.insert(pairs.end(), some.begin(), some.end());
    return pairs;
}

} // namespace triangulation
