#include "side.hpp"

#include <numeric>

#include "portable/interrupts.hpp"

namespace triangulation {

Side::Side(const Plane &plane, const std::vector<int32> &vertices) : before_(vertices.size()), after_(vertices.size()) {
    points_.reserve(vertices.size());
    for (const int32 vertex : vertices)
        points_.push_back(plane.numbered(vertex));
}

bool Side::triangulate() {
    const int32 last = int32(points_.size()) - 1;
    triangles.clear();
    triangles.reserve(size_t(last) - 1);
    unused_.clear();
    inside_.assign(points_.size(), NOTHING);
    choose_order();
    const int32 first = order_.front();
    add(0, last, first);
    triangles[0].across[2] = BASE;
    inside_[0] = half_edge(0, 1); // runs from `first` to 0: the polygon lies on the right of the chain
    inside_[first] = half_edge(0, 0);
    before_[first] = 0;
    after_[first] = last;
    for (size_t i = 1; i < order_.size(); ++i) {
        if (i % 4096 == 0)
            host::stop_point();
        insert(order_[i]);
    }
    for (int32 place = 0; place < last; ++place)
        triangles[face_of(inside_[place])].across[edge_of(inside_[place])] = ~place;
    return is_right();
}

// Draws the order of insertion, last vertex first: each is removed from a list of the chain, so that before_ and after_
// hold its neighbours among those inserted earlier. A vertex that is nearer to the base than both neighbours has to
// wait until one of them is gone: without it, the edge between them might cross the chain.
void Side::choose_order() {
    const int32 last = int32(points_.size()) - 1;
    const Point from = points_[0].at, to = points_[last].at;
    const auto height = [&](int32 place) { // up to a factor; rounding errors only make the insertion less likely to end
        const Point p = points_[place].at;
        return (to.x - from.x) * (p.y - from.y) - (to.y - from.y) * (p.x - from.x);
    };
    std::vector<float64> heights(points_.size());
    for (int32 place = 0; place <= last; ++place) {
        heights[place] = height(place);
        before_[place] = place - 1;
        after_[place] = place + 1;
    }
    order_.resize(size_t(last) - 1);
    std::iota(order_.begin(), order_.end(), 1);
    uint64 state = 0x9E3779B97F4A7C15u;
    const auto drawn = [&](size_t bound) { // xorshift64*, Vigna 2016
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return size_t((state * 0x2545F4914F6CDD1Du >> 32) * bound >> 32);
    };
    for (size_t left = order_.size(); left > 1; --left) {
        const auto waits = [&](int32 place) {
            return heights[place] < heights[before_[place]] && heights[place] < heights[after_[place]];
        };
        do
            std::swap(order_[drawn(left)], order_[left - 1]);
        while (waits(order_[left - 1])); // the vertex farthest from the base never does
        const int32 place = order_[left - 1];
        after_[before_[place]] = after_[place];
        before_[after_[place]] = before_[place];
    }
}

// Inserts a vertex outside the edge between its neighbours: removes the triangles whose circumcircle contains it, and
// those behind which it lies, from that edge on; the fan around it takes their place.
void Side::insert(int32 place) {
    const int32 start = before_[place], end = after_[place];
    struct Edge {
        int32 from, to;    // the vertex is to lie on its left
        HalfEdge opposite; // on its right
    };
    std::vector<Edge> edges = {{start, end, inside_[start]}};
    HalfEdge latest = NOTHING; // of the fan's newest triangle, from its third corner to the vertex
    while (!edges.empty()) {
        const Edge edge = edges.back();
        edges.pop_back();
        if (is_inner(edge.opposite)) {
            const Triangle there = triangles[face_of(edge.opposite)];
            if (turn(edge.from, edge.to, place) <= 0 || is_inside(there, place)) {
                const int k = edge_of(edge.opposite);
                const int32 apex = there.corner[k];
                unused_.push_back(face_of(edge.opposite));
                edges.push_back({apex, edge.to, there.across[previous_corner(k)]});
                edges.push_back({edge.from, apex, there.across[next_corner(k)]});
                continue;
            }
        }
        const int added = add(edge.from, edge.to, place);
        if (is_inner(edge.opposite))
            link(half_edge(added, 2), edge.opposite);
        else if (edge.opposite == BASE)
            triangles[added].across[2] = BASE;
        else
            inside_[edge.to] = half_edge(added, 2);
        if (latest == NOTHING)
            inside_[start] = half_edge(added, 1);
        else
            link(half_edge(added, 1), latest);
        latest = half_edge(added, 0);
    }
    inside_[place] = latest;
}

bool Side::is_inside(const Triangle &triangle, int32 place) const {
    const Numbered a = points_[triangle.corner[0]], b = points_[triangle.corner[1]], c = points_[triangle.corner[2]];
    const Numbered p = points_[place];
    if (p.number == a.number || p.number == b.number || p.number == c.number)
        return false;
    return incircle_untied(a, b, c, p) > 0;
}

// Triangles that are counter-clockwise cover the polygon once, as they are joined like those of a triangulation. Then
// it is the constrained Delaunay triangulation if no triangle's circumcircle contains the vertex across one of its
// edges.
bool Side::is_right() const {
    for (const Triangle &t : triangles) {
        if (turn(t.corner[0], t.corner[1], t.corner[2]) <= 0)
            return false;
        for (const HalfEdge across : t.across)
            if (is_inner(across) && is_inside(t, triangles[face_of(across)].corner[edge_of(across)]))
                return false;
    }
    return true;
}

int Side::add(int32 a, int32 b, int32 c) {
    if (unused_.empty()) {
        triangles.push_back({});
        unused_.push_back(int32(triangles.size()) - 1);
    }
    const int32 t = unused_.back();
    unused_.pop_back();
    triangles[t] = {{a, b, c}, {NOTHING, NOTHING, NOTHING}};
    return t;
}

void Side::link(HalfEdge h, HalfEdge other) {
    triangles[face_of(h)].across[edge_of(h)] = other;
    triangles[face_of(other)].across[edge_of(other)] = h;
}

} // namespace triangulation
