// A sweep over a boundary: does it cross itself, and does it enclose every place at most once?
// (dmr/triangulation/sweep.py)
//
// The domain lies on the left of each edge. It is covered once if and only if the boundary does not cross itself and
// every upward line meets edges alternately directed rightward (into the domain) and leftward (out of it).
//
// The sweep (Bentley and Ottmann 1979, without the search for crossings, since only their absence has to be shown)
// keeps the edges under the sweep line in a list from bottom to top. At each vertex, the edges that end there must be
// adjacent in the list, the next one below must be strictly below the vertex and the next one above strictly above.
// That suffices: two neighbours in the list that cross have the wrong order from then on, and the first later vertex
// that touches either of them, or comes between them, fails. Vertices are ordered by x, then y, as if the plane were
// sheared slightly, so that vertical edges need no special case. All comparisons are exact (orient2d).
//
// dmr/exact/sweep.py is the same algorithm in rational arithmetic. It belongs to the checker, which shares no code with
// the pipeline; tests/integration/refinement/test_boundary_sweep.py compares the two.
#include <algorithm>
#include <new>
#include <vector>

#include "portable/interrupts.hpp"
#include "geometry/predicates.cuh"
#include "mesh/triangles.cuh"

namespace {

// INTERRUPTED never reaches a caller: a signal handler has raised an exception.
enum Verdict : int32 {
    COVERED_ONCE = 0,
    SAME_PLACE = 1, // two vertices have the same coordinates
    TOUCHES = 2,    // an edge crosses or touches the boundary near a vertex
    CROSSES = 3,    // an edge crosses the boundary near a vertex
    ON_ANOTHER = 4, // an edge lies on another one near a vertex
    INSIDE = 5,     // an edge enters the domain inside the domain
    OUTSIDE = 6,    // an edge leaves the domain outside of the domain
    NO_MEMORY = 7,
    INTERRUPTED = 8,
};

constexpr int32 VERTICES_AT_ONCE = 1 << 10; // vertices between two stop points

// The verdict, the offending edge, and the vertex near it; for two vertices in one place, both.
struct Finding {
    Verdict verdict;
    int32 edge, vertex, other;
};

struct Place {
    Point point;
    int32 vertex;
};

bool before(const Place &a, const Place &b) {
    if (a.point.x != b.point.x)
        return a.point.x < b.point.x;
    return a.point.y != b.point.y ? a.point.y < b.point.y : a.vertex < b.vertex;
}

struct Edge {
    int32 left, right; // its ends, by their positions in the sweep order
    bool rightward;
};

class Sweep {
  public:
    Sweep(const Point *points, int32 n, const int32 *tails, const int32 *heads, int32 count) : edges_(count) {
        std::vector<int32> rank(n, NOTHING);
        for (int32 e = 0; e < count; ++e)
            rank[tails[e]] = rank[heads[e]] = 0;
        for (int32 vertex = 0; vertex < n; ++vertex)
            if (rank[vertex] != NOTHING)
                places_.push_back({points[vertex], vertex});
        std::sort(places_.begin(), places_.end(), before);
        for (size_t place = 0; place < places_.size(); ++place)
            rank[places_[place].vertex] = int32(place);
        ending_.assign(places_.size(), 0);
        first_.assign(places_.size() + 1, 0);
        for (int32 e = 0; e < count; ++e) {
            const int32 tail = rank[tails[e]], head = rank[heads[e]];
            edges_[e] = {std::min(tail, head), std::max(tail, head), tail < head};
            ++ending_[edges_[e].right];
            ++first_[edges_[e].left + 1];
        }
        for (size_t place = 0; place < places_.size(); ++place)
            first_[place + 1] += first_[place];
        starting_.resize(count);
        std::vector<int32> filled(first_.begin(), first_.end() - 1);
        for (int32 e = 0; e < count; ++e)
            starting_[filled[edges_[e].left]++] = e;
    }

    Finding run() {
        for (size_t place = 1; place < places_.size(); ++place) {
            const Point a = places_[place - 1].point, b = places_[place].point;
            if (a.x == b.x && a.y == b.y)
                return {SAME_PLACE, NOTHING, places_[place - 1].vertex, places_[place].vertex};
        }
        for (int32 place = 0; place < int32(places_.size()); ++place) {
            if (place % VERTICES_AT_ONCE == 0)
                host::stop_point();
            const Finding found = meet(place);
            if (found.verdict != COVERED_ONCE)
                return found;
        }
        return {COVERED_ONCE, NOTHING, NOTHING, NOTHING};
    }

  private:
    // 1 if a place lies above an edge, -1 below, 0 on its line.
    int side(const Edge &edge, int32 place) const {
        return orient2d(places_[edge.left].point, places_[edge.right].point, places_[place].point);
    }

    Finding finding(Verdict verdict, int32 edge, int32 place) const {
        return {verdict, edge, places_[place].vertex, NOTHING};
    }

    // Processes one vertex: removes the edges that end there from the list, and inserts those that start there.
    Finding meet(int32 place) {
        const size_t low = first_not_below(place), high = low + ending_[place];
        for (size_t i = low; i < std::min(high, status_.size()); ++i)
            if (edges_[status_[i]].right != place)
                return finding(TOUCHES, status_[i], place);
        if (high > status_.size())
            return finding(CROSSES, status_.empty() ? 0 : status_.back(), place);
        if (low > 0 && !is_clear(status_[low - 1], place, 1))
            return finding(TOUCHES, status_[low - 1], place);
        if (high < status_.size() && !is_clear(status_[high], place, -1))
            return finding(TOUCHES, status_[high], place);
        const auto start = starting_.begin() + first_[place], end = starting_.begin() + first_[place + 1];
        std::stable_sort(start, end, [&](int32 a, int32 b) { return side(edges_[a], edges_[b].right) > 0; });
        for (auto edge = start; edge != end; ++edge)
            if (edge != start && side(edges_[edge[-1]], edges_[*edge].right) <= 0)
                return finding(ON_ANOTHER, *edge, place);
        replace(low, high, start, end);
        for (size_t i = low; i < low + size_t(end - start); ++i) {
            // From outside, where every upward line begins, the first edge must lead in, the next one out, and so on.
            const bool rightward = edges_[status_[i]].rightward;
            if (rightward != (i % 2 == 0))
                return finding(rightward ? INSIDE : OUTSIDE, status_[i], place);
        }
        return {COVERED_ONCE, NOTHING, NOTHING, NOTHING};
    }

    // Number of edges, from the bottom, that lie strictly below a place, if the list is in order.
    size_t first_not_below(int32 place) const {
        size_t low = 0, high = status_.size();
        while (low < high) {
            const size_t middle = (low + high) / 2;
            const Edge &edge = edges_[status_[middle]];
            if (edge.right != place && side(edge, place) > 0)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    // Whether an edge does not end at a place, and the place lies strictly on the given side of it.
    bool is_clear(int32 edge, int32 place, int sign) const {
        return edges_[edge].right != place && side(edges_[edge], place) == sign;
    }

    void replace(size_t low, size_t high, std::vector<int32>::const_iterator start,
                 std::vector<int32>::const_iterator end) {
        const size_t kept = std::min(high - low, size_t(end - start));
        std::copy(start, start + kept, status_.begin() + low);
        if (low + kept < high)
            status_.erase(status_.begin() + low + kept, status_.begin() + high);
        else
            status_.insert(status_.begin() + high, start + kept, end);
    }

    std::vector<Place> places_;   // the vertices of the boundary, from left to right
    std::vector<Edge> edges_;     // in input order
    std::vector<int32> ending_;   // by place: number of edges that end there
    std::vector<int32> first_;    // by place: the start of the list of edges that start there
    std::vector<int32> starting_; // edges by the place where they start
    std::vector<int32> status_;   // the edges under the sweep line, from bottom to top
};

Finding sweep(const Point *points, int32 n, const int32 *tails, const int32 *heads, int32 count) {
    try {
        return Sweep(points, n, tails, heads, count).run();
    } catch (const host::Interrupted &) {
        return {INTERRUPTED, NOTHING, NOTHING, NOTHING};
    } catch (const std::bad_alloc &) {
        return {NO_MEMORY, NOTHING, NOTHING, NOTHING};
    }
}

} // namespace

// Points (2 n doubles, in the range where orient2d is exact), edges by their two ends; found = verdict, edge, vertex,
// other vertex.
extern "C" void dmr_boundary_sweep(const float64 *points, int32 n, const int32 *tails, const int32 *heads, int32 count,
                                   int32 *found) {
    host::interruptible([&](host::Call &) {
        const Finding finding = sweep(reinterpret_cast<const Point *>(points), n, tails, heads, count);
        found[0] = finding.verdict;
        found[1] = finding.edge;
        found[2] = finding.vertex;
        found[3] = finding.other;
    });
}
