#include "delaunay.hpp"

#include <algorithm>

#include "geometry/curve.cuh"

namespace triangulation {

namespace {

// ---- Insertion order ----------------------------------------------------------------------------------------------
//
// A biased randomised insertion order (Amenta, Choi and Rote 2003): rounds that grow geometrically, each a random
// sample of the remaining points, sorted along a Hilbert curve within a round. The curve makes walks short and memory
// accesses local; the rounds make the expected work O(n log n) for any distribution of the points.

constexpr int ROUND_BITS = 3; // each round has 2^ROUND_BITS times as many points as all rounds before it
constexpr uint32 LAST_ROUND = 8;
constexpr int COARSE = 14, FINE = 30;     // levels of the curve
constexpr int32 POINTS_AT_ONCE = 1 << 14; // points between two stop points

struct Place {
    uint32 key; // round, then the position along the coarse curve
    int32 point;
};

// A bijective mixer: pseudo-random bits from the point's number.
uint64 mixed(uint64 x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

uint32 round_of(uint64 point) {
    uint64 bits = mixed(point + 1);
    uint32 round = LAST_ROUND;
    while (round > 0 && (bits & ((1u << ROUND_BITS) - 1)) == 0) {
        bits >>= ROUND_BITS;
        --round;
    }
    return round;
}

// Sorts by key, 11 bits at a time; equal keys stay in order.
void sort_places(std::vector<Place> &places) {
    std::vector<Place> other(places.size());
    for (int shift : {0, 11, 22}) {
        size_t starts[2049] = {0};
        for (const Place &place : places)
            ++starts[(place.key >> shift & 2047) + 1];
        for (int digit = 0; digit < 2048; ++digit)
            starts[digit + 1] += starts[digit];
        host::stop_point();
        for (const Place &place : places)
            other[starts[place.key >> shift & 2047]++] = place;
        places.swap(other);
        host::stop_point();
    }
}

std::vector<int32> insertion_order(const Point *points, int32 count) {
    Point low = points[0], high = points[0];
    for (int32 i = 1; i < count; ++i) {
        low = {std::min(low.x, points[i].x), std::min(low.y, points[i].y)};
        high = {std::max(high.x, points[i].x), std::max(high.y, points[i].y)};
    }
    const float64 extent = std::max(high.x - low.x, high.y - low.y);
    const auto position = [&](int32 i, int levels) {
        const float64 scale = extent > 0 ? float64(1 << levels) / extent : 0.0;
        return hilbert_index<uint64>(curve_cell(points[i].x, low.x, scale, levels),
                                     curve_cell(points[i].y, low.y, scale, levels), levels);
    };
    std::vector<Place> places(count);
    for (int32 i = 0; i < count; ++i) {
        if (i % POINTS_AT_ONCE == 0)
            host::stop_point();
        places[i] = {round_of(uint64(i)) << 2 * COARSE | uint32(position(i, COARSE)), i};
    }
    sort_places(places);
    // Where several points share a cell of the coarse curve, they are sorted along a finer one, so that nested clusters
    // are in order, too.
    std::vector<std::pair<uint64, int32>> crowd;
    for (size_t first = 0, end = 0; first < places.size(); first = end) {
        for (end = first + 1; end < places.size() && places[end].key == places[first].key;)
            ++end;
        if (end - first < 3)
            continue;
        host::stop_point();
        crowd.clear();
        for (size_t i = first; i < end; ++i)
            crowd.push_back({position(places[i].point, FINE), places[i].point});
        std::sort(crowd.begin(), crowd.end());
        for (size_t i = first; i < end; ++i)
            places[i].point = crowd[i - first].second;
    }
    std::vector<int32> order(count);
    for (int32 i = 0; i < count; ++i)
        order[i] = places[i].point;
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
        grow(root, p);
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
    void grow(int32 root, Point p) {
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
    const std::vector<int32> order = insertion_order(points, count);
    Plane &plane = result.plane;
    // The first three points must span a triangle.
    const Point a = points[order[0]];
    int32 second = 1, third = 1;
    while (second < count && same_place(points[order[second]], a))
        ++second;
    third = second + 1;
    while (third < count && orient2d(a, points[order[second]], points[order[third]]) == 0)
        ++third;
    if (third >= count)
        return result;
    plane.points.reserve(count);
    plane.faces.reserve(2 * size_t(count) + 2);
    result.point_of.reserve(count);
    Builder builder(plane);
    const auto add = [&](int32 point) {
        plane.points.push_back(points[point]);
        result.point_of.push_back(point);
        result.vertex_of[point] = int32(plane.points.size()) - 1;
    };
    for (int32 place : {int32(0), second, third})
        add(order[place]);
    builder.start(0, 1, 2);
    constexpr int32 AHEAD = 16; // prefetch distance: in memory, points are in the user's order
    for (int32 place = 1; place < count; ++place) {
        if (place == second || place == third)
            continue;
        if (place % (POINTS_AT_ONCE / 16) == 0)
            host::stop_point();
        if (place + AHEAD < count)
            prefetch(&points[order[place + AHEAD]]);
        const int32 point = order[place];
        add(point);
        const int32 fresh = int32(plane.points.size()) - 1, vertex = builder.insert(fresh);
        if (vertex != fresh) { // a duplicate: the first of the equal points in the input represents both
            plane.points.pop_back();
            result.point_of.pop_back();
            result.vertex_of[point] = vertex;
            result.point_of[vertex] = std::min(result.point_of[vertex], point);
        }
    }
    return result;
}

} // namespace triangulation
