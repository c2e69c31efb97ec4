#include "strip.hpp"

#include <algorithm>
#include <stdexcept>

#include "portable/interrupts.hpp"

namespace triangulation {

// Edges of a chain from which on its polygon is triangulated by randomised insertion; below, both are equally fast.
constexpr size_t FEWEST_FOR_INSERTION = 8;

// ---- The way ------------------------------------------------------------------------------------------------------

// Returns the half-edge a -> b, or NOTHING. Rotates around both ends in step, so that the cost is that of the end with
// fewer edges; if there is no such edge, `smaller_star` is that end.
HalfEdge find_edge(const Plane &plane, int32 a, int32 b, int32 *smaller_star) {
    const HalfEdge start_a = plane.leaving(a), start_b = plane.leaving(b);
    HalfEdge at_a = start_a, at_b = start_b;
    while (true) {
        if (plane.to(at_a) == b)
            return at_a;
        if (plane.to(at_b) == a)
            return plane.twin(at_b);
        at_a = plane.around(at_a);
        at_b = plane.around(at_b);
        if (at_a == start_a || at_b == start_b) {
            *smaller_star = at_a == start_a ? a : b;
            return NOTHING;
        }
    }
}

// Finds how the way from a to b, which no edge joins, begins. Returns the half-edge a -> v if vertex v lies on the way,
// otherwise the half-edge that the way crosses, directed from the right of the way to its left.
HalfEdge depart(const Plane &plane, int32 a, int32 b) {
    const Table<Point> &points = plane.points;
    const HalfEdge start = plane.leaving(a);
    HalfEdge h = start;
    do {
        const int32 u = plane.to(h), w = plane.apex(h);
        if (u != GHOST) {
            const int side_u = plane.side(a, b, points[u]);
            if (side_u == 0 && strictly_between(points[a], points[b], points[u]))
                return h;
            if (side_u < 0 && w != GHOST && plane.side(a, b, points[w]) > 0)
                return next(h);
        }
        h = plane.around(h);
    } while (h != start);
    throw std::logic_error("no way leads from one end of a segment to the other");
}

// ---- The faces ------------------------------------------------------------------------------------------------------

HalfEdge Strip::clear() {
    std::reverse(right_.vertices.begin(), right_.vertices.end());
    std::reverse(right_.edges.begin(), right_.edges.end());
    const HalfEdge left = fill(left_), right = fill(right_);
    moved_.clear();
    for (const Chain *chain : {&left_, &right_})
        for (const ChainEdge &edge : chain->edges)
            moved_[edge.old] = edge.now;
    link_chain(left_);
    link_chain(right_);
    plane_.join(left, right, NOTHING);
    return left;
}

// Triangulates the pseudo-polygon between a chain and its base, which runs from the chain's first vertex to its last
// and has the polygon on its left. Returns the base's half-edge.
HalfEdge Strip::fill(Chain &chain) {
    if (chain.edges.size() >= FEWEST_FOR_INSERTION)
        if (Side side(plane_, chain.vertices); side.triangulate())
            return take(side, chain);
    return fill_by_corners(chain);
}

// Makes the triangles of a side faces. Returns the base's half-edge.
HalfEdge Strip::take(const Side &side, Chain &chain) {
    const size_t count = side.triangles.size();
    const std::vector<int32> slots(taken_out_.end() - ptrdiff_t(count), taken_out_.end());
    taken_out_.resize(taken_out_.size() - count);
    HalfEdge base = NOTHING;
    for (size_t t = 0; t < count; ++t) {
        const int32 *const corner = side.triangles[t].corner;
        plane_.set_face(slots[t], chain.vertices[corner[0]], chain.vertices[corner[1]], chain.vertices[corner[2]]);
    }
    for (size_t t = 0; t < count; ++t)
        for (int k = 0; k < 3; ++k) {
            const HalfEdge across = side.triangles[t].across[k], h = half_edge(slots[t], k);
            if (across == Side::BASE)
                base = h;
            else if (across < 0)
                chain.edges[~across].now = h;
            else
                plane_.join(h, half_edge(slots[face_of(across)], edge_of(across)), NOTHING);
        }
    return base;
}

// The same by a search for the third corner of each triangle, which takes quadratic time if most of them leave all
// other vertices on one side.
HalfEdge Strip::fill_by_corners(Chain &chain) {
    std::vector<Part> parts = {{0, chain.edges.size(), NOTHING}};
    HalfEdge first_base = NOTHING;
    while (!parts.empty()) {
        host::stop_point();
        const Part part = parts.back();
        parts.pop_back();
        if (part.end == part.begin + 1) {
            chain.edges[part.begin].now = part.base;
            continue;
        }
        const size_t corner = best_corner(chain, part.begin, part.end);
        const int32 face = taken_out_.back();
        taken_out_.pop_back();
        plane_.set_face(face, chain.vertices[part.begin], chain.vertices[part.end], chain.vertices[corner]);
        if (part.base == NOTHING)
            first_base = half_edge(face, 2);
        else
            plane_.join(part.base, half_edge(face, 2), NOTHING);
        parts.push_back({corner, part.end, half_edge(face, 0)});
        parts.push_back({part.begin, corner, half_edge(face, 1)});
    }
    return first_base;
}

// Returns the third corner of the triangle on the base from vertex `begin` to vertex `end` of a chain: the one whose
// circumcircle with them contains no other. A vertex is on a chain twice where an edge dangles into the polygon; the
// occurrence visible from the base is returned.
size_t Strip::best_corner(const Chain &chain, size_t begin, size_t end) const {
    const Table<Point> &points = plane_.points;
    const int32 from = chain.vertices[begin], to = chain.vertices[end];
    int32 best = NOTHING;
    for (size_t i = begin + 1; i < end; ++i) {
        const int32 v = chain.vertices[i];
        if (v != from && v != to && v != best &&
            (best == NOTHING || incircle_untied(plane_.numbered(from), plane_.numbered(to), plane_.numbered(best),
                                                plane_.numbered(v)) > 0))
            best = v;
    }
    for (size_t i = begin + 1; i < end; ++i)
        if (chain.vertices[i] == best && opens_to(chain, i, points[from]) && opens_to(chain, i, points[to]))
            return i;
    throw std::logic_error("no corner of a pseudo-polygon can be seen from its base");
}

// Whether the direction from a chain's vertex to p points into the polygon or along its boundary: counter-clockwise
// from the edge before to the edge after.
bool Strip::opens_to(const Chain &chain, size_t corner, Point p) const {
    const Table<Point> &points = plane_.points;
    const Point c = points[chain.vertices[corner]];
    const Point before = points[chain.vertices[corner - 1]], after = points[chain.vertices[corner + 1]];
    const int turn = orient2d(c, before, after);
    if (turn > 0)
        return orient2d(c, before, p) >= 0 && orient2d(c, p, after) >= 0;
    if (turn < 0)
        return !(orient2d(c, after, p) > 0 && orient2d(c, p, before) > 0);
    return !strictly_between(before, after, c) || orient2d(c, before, p) >= 0; // a straight line, or a full turn
}

// Links the new faces along a chain with the faces beyond it, which are new themselves where an edge dangles.
void Strip::link_chain(const Chain &chain) {
    for (const ChainEdge &edge : chain.edges) {
        const auto moved = moved_.find(edge.beyond);
        plane_.join(edge.now, moved == moved_.end() ? edge.beyond : moved->second, edge.segment);
    }
}

} // namespace triangulation
