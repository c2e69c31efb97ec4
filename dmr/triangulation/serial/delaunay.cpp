#include "delaunay.hpp"

#include <algorithm>

namespace triangulation {

namespace {

// ---- Insertion order ----------------------------------------------------------------------------------------------
//
// A biased randomised insertion order (Amenta, Choi and Rote 2003): rounds that grow geometrically, each a random
// sample of the remaining points, sorted along a Hilbert curve within a round. The curve makes walks short and memory
// accesses local; the rounds make the expected work O(n log n) for any distribution of the points.

constexpr int ROUND_BITS = 3; // each round has 2^ROUND_BITS times as many points as all rounds before it
constexpr uint32 LAST_ROUND = 8;
constexpr int FINE = 30;                  // levels of the curve within a cell of the coarse one
constexpr int32 POINTS_AT_ONCE = 1 << 10; // points between two stop points

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

// The places of points along the curve, in the order of insertion.
std::vector<int32> insertion_order(const std::vector<Place> &along, const CurveSquare &square, const Point *points) {
    std::vector<uint8> round(along.size()); // by point
    size_t starts[LAST_ROUND + 2] = {0};
    for (size_t point = 0; point < along.size(); ++point)
        ++starts[(round[point] = uint8(round_of(points[point]))) + 1];
    for (uint32 r = 0; r < LAST_ROUND; ++r)
        starts[r + 1] += starts[r];
    host::stop_point();
    std::vector<int32> order(along.size());
    for (size_t i = 0; i < along.size(); ++i)
        order[starts[round[along[i].point]]++] = int32(i);
    // Where several points share a cell of the curve, they are sorted along a finer one, so that nested clusters are in
    // order, too.
    std::vector<std::pair<uint64, int32>> crowd;
    for (size_t first = 0, end = 0; first < order.size(); first = end) {
        for (end = first + 1; end < order.size() && along[order[end]].key == along[order[first]].key;)
            ++end;
        if (end - first < 3)
            continue;
        host::stop_point();
        crowd.clear();
        for (size_t i = first; i < end; ++i)
            crowd.push_back({curve_position(square, points[along[order[i]].point], FINE), order[i]});
        std::sort(crowd.begin(), crowd.end());
        for (size_t i = first; i < end; ++i)
            order[i] = crowd[i - first].second;
    }
    return order;
}

// ---- Insertion ----------------------------------------------------------------------------------------------------

class Builder {
  public:
    explicit Builder(Plane &plane) : plane_(plane) {}

    // Makes the first triangle and the three ghosts around it.
    void start(int32 a, int32 b, int32 c) {
        if (plane_.side(a, b, plane_.points[c]) < 0)
            std::swap(b, c);
        plane_.faces = {{{a, b, c}, {half_edge(1, 2), half_edge(2, 2), half_edge(3, 2)}},
                        {{c, b, GHOST}, {half_edge(3, 1), half_edge(2, 0), half_edge(0, 0)}},
                        {{a, c, GHOST}, {half_edge(1, 1), half_edge(3, 0), half_edge(0, 1)}},
                        {{b, a, GHOST}, {half_edge(2, 1), half_edge(1, 0), half_edge(0, 2)}}};
    }

    // Inserts vertex v, or returns the vertex with the same coordinates.
    int32 insert(int32 v) {
        const Point p = plane_.points[v];
        const int32 root = plane_.locate(last_, p);
        if (!plane_.is_ghost(root))
            for (int32 corner : plane_.faces[root].vertex)
                if (same_place(plane_.points[corner], p))
                    return corner;
        grow(root, plane_.numbered(v));
        fill(v);
        return v;
    }

  private:
    struct BoundaryEdge {
        int32 from;
        HalfEdge outside;
    };

    // Grows the cavity of p: the faces in conflict, found by a walk over a tree that visits the cavity boundary
    // counter-clockwise (see cuda_src/refine/cavity/cavity.cuh).
    void grow(int32 root, Numbered p) {
        members_.assign(1, root);
        rim_.clear();
        pending_.assign({half_edge(root, 2), half_edge(root, 1), half_edge(root, 0)});
        while (!pending_.empty()) {
            const HalfEdge inside = pending_.back(), outside = plane_.twin(inside);
            pending_.pop_back();
            if (plane_.in_conflict(face_of(outside), p)) {
                members_.push_back(face_of(outside));
                pending_.push_back(previous(outside));
                pending_.push_back(next(outside));
            } else {
                rim_.push_back({plane_.from(inside), outside});
            }
        }
    }

    // Fills the cavity with a fan around v, which has two more faces.
    void fill(int32 v) {
        const int32 count = int32(rim_.size()), fresh = int32(plane_.faces.size());
        members_.push_back(fresh);
        members_.push_back(fresh + 1);
        plane_.faces.resize(fresh + 2);
        for (int32 j = 0; j < count; ++j) {
            const int32 after = j + 1 == count ? 0 : j + 1, before = j == 0 ? count - 1 : j - 1;
            const int32 face = members_[j], u = rim_[j].from, w = rim_[after].from;
            const HalfEdge outside = rim_[j].outside;
            plane_.faces[face] = {{v, u, w}, {outside, half_edge(members_[after], 2), half_edge(members_[before], 1)}};
            plane_.faces[face_of(outside)].twin[edge_of(outside)] = half_edge(face, 0);
            if (u != GHOST && w != GHOST)
                last_ = face;
        }
    }

    Plane &plane_;
    int32 last_ = 0; // a triangle that is probably near the next point
    std::vector<int32> members_;
    std::vector<BoundaryEdge> rim_;
    std::vector<HalfEdge> pending_;
};

} // namespace

Delaunay delaunay(const Point *points, int32 count) {
    Delaunay result;
    result.vertex_of.assign(count, NOTHING);
    if (count == 0)
        return result;
    result.square = square_around(points, count);
    const std::vector<Place> along = curve_order(result.square, points, count);
    const std::vector<int32> order = insertion_order(along, result.square, points);
    const auto point_at = [&](int32 place) { return along[order[place]].point; };
    Plane &plane = result.plane;
    // The first three points must span a triangle.
    const Point a = points[point_at(0)];
    int32 second = 1, third = 1;
    while (second < count && same_place(points[point_at(second)], a))
        ++second;
    third = second + 1;
    while (third < count && orient2d(a, points[point_at(second)], points[point_at(third)]) == 0)
        ++third;
    if (third >= count)
        return result;
    result.rank.reserve(count);
    plane.points.reserve(count);
    plane.number.reserve(count);
    plane.faces.reserve(2 * size_t(count) + 2);
    Builder builder(plane);
    const auto add = [&](int32 place) {
        const int32 point = point_at(place);
        plane.points.push_back(points[point]);
        plane.number.push_back(point);
        result.rank.push_back(order[place]);
        result.vertex_of[point] = int32(plane.points.size()) - 1;
    };
    for (int32 place : {int32(0), second, third})
        add(place);
    builder.start(0, 1, 2);
    constexpr int32 AHEAD = 16; // prefetch distance: in memory, points are in the user's order
    for (int32 place = 1; place < count; ++place) {
        if (place == second || place == third)
            continue;
        if (place % POINTS_AT_ONCE == 0)
            host::stop_point();
        if (place + AHEAD < count)
            prefetch(&points[point_at(place + AHEAD)]);
        add(place);
        const int32 fresh = int32(plane.points.size()) - 1, vertex = builder.insert(fresh);
        if (vertex != fresh) { // a duplicate: the one that is there has a lower number
            plane.points.pop_back();
            plane.number.pop_back();
            result.rank.pop_back();
            result.vertex_of[point_at(place)] = vertex;
        }
    }
    return result;
}

} // namespace triangulation
