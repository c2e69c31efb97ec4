// Resolves crossings of segments one by one, where they nearly coincide: segments that meet are bent a little, through
// vertices within reach of both (Hobby 1999). Elsewhere all crossings are found first (arrangement.cpp).
#include "segments.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "intersection.hpp"

namespace triangulation {

// The largest distance of a vertex from a segment that passes through it, in units in the last place of the segment's
// coordinates: a rounded crossing is off by half a unit in each coordinate.
constexpr float64 REACH = 1.5;

// The most times that two segments are joined where they do not cross and no vertex is within reach of both: this
// requires coordinates of different magnitudes, and rounding that bends the two across each other repeatedly.
constexpr int32 MOST_TIES = 64;

// ---- Crossings ------------------------------------------------------------------------------------------------------

bool Segments::on_line(int32 segment, int32 vertex) const {
    return plane_.side(segments_[segment].from, segments_[segment].to, plane_.points[vertex]) == 0;
}

float64 Segments::ulp(int32 segment) const {
    const Point a = plane_.points[segments_[segment].from], b = plane_.points[segments_[segment].to];
    const float64 largest = std::max({std::abs(a.x), std::abs(a.y), std::abs(b.x), std::abs(b.y)});
    return std::nextafter(largest, INFINITE) - largest;
}

// Whether a segment may go through p: |cross(d, p - a)| <= REACH ulp (|d.x| + |d.y|), where d = b - a.
bool Segments::within_reach(int32 segment, Point p) const {
    const Point a = plane_.points[segments_[segment].from], b = plane_.points[segments_[segment].to];
    const float64 dx = b.x - a.x, dy = b.y - a.y, reach = REACH * ulp(segment) * (std::abs(dx) + std::abs(dy));
    const float64 left = dx * (p.y - a.y), right = dy * (p.x - a.x);
    if (std::abs(left - right) > 2 * reach + 8 * EPSILON * (std::abs(left) + std::abs(right)))
        return false;
    return std::abs(cross_product(b, a, p, a).high) <= reach;
}

// The direction from p to q along a segment: 1 forward, -1 back.
int Segments::along(int32 segment, Point p, Point q) const {
    return dot_sign(plane_.points[segments_[segment].to], plane_.points[segments_[segment].from], q, p);
}

// Whether p lies between the ends of a piece, projected on its segment.
bool Segments::between(const Piece &piece, Point p) const {
    const int after = along(piece.segment, plane_.points[piece.from], p);
    return after != 0 && after == along(piece.segment, p, plane_.points[piece.to]);
}

// Whether two segments of the input cross at an interior point of both.
bool Segments::segments_cross(int32 first, int32 second) const {
    const Segment &s = segments_[first], &t = segments_[second];
    const Table<Point> &points = plane_.points;
    return plane_.side(s.from, s.to, points[t.from]) * plane_.side(s.from, s.to, points[t.to]) < 0 &&
           plane_.side(t.from, t.to, points[s.from]) * plane_.side(t.from, t.to, points[s.to]) < 0;
}

// Returns the vertex around an edge where a piece and the edge's segment can meet: within reach of both, and within the
// radius of p. The nearest of several; NOTHING if there is none.
int32 Segments::meeting_vertex(const Piece &piece, const Piece &other, HalfEdge edge, Point p, float64 radius) const {
    const auto lies_on = [this](const Piece &way, int32 vertex) {
        const Point q = plane_.points[vertex];
        return vertex == way.from || vertex == way.to || (within_reach(way.segment, q) && between(way, q));
    };
    int32 nearest = NOTHING;
    for (int32 vertex :
         {plane_.apex(edge), plane_.apex(plane_.twin(edge)), other.from, other.to, piece.from, piece.to}) {
        if (vertex == GHOST || !lies_on(piece, vertex) || !lies_on(other, vertex))
            continue;
        const Point q = plane_.points[vertex];
        const float64 distance = std::max(std::abs(p.x - q.x), std::abs(p.y - q.y));
        if (distance <= radius) {
            nearest = vertex;
            radius = distance;
        }
    }
    return nearest;
}

// Splits a piece, and the segment whose edge blocks its way, where they cross.
//
// The place is where the two segments of the input cross, rounded: thus it is within half an ulp of both, however often
// they are split. If they do not cross there, rounding has bent one of them over a vertex of the other, which is then
// within reach of both: they meet in it. Only if it is not, the place is where the pieces themselves cross.
void Segments::resolve(const Piece &piece, HalfEdge barrier) {
    if (on_meeting_ == OnMeeting::REPORT)
        report_meeting();
    const Piece other = {plane_.from(barrier), plane_.to(barrier), plane_.segment_at[barrier]};
    const int32 low = std::min(piece.segment, other.segment), high = std::max(piece.segment, other.segment);
    const Table<Point> &points = plane_.points;
    const bool segments_do = segments_cross(low, high);
    Point p = {};
    if (segments_do)
        p = crossing(points[segments_[low].from], points[segments_[low].to], points[segments_[high].from],
                     points[segments_[high].to]);
    const bool here = segments_do && between(piece, p) && between(other, p);
    if (!here)
        p = crossing(points[piece.from], points[piece.to], points[other.from], points[other.to]);
    const float64 radius = here ? NEAR * std::min(ulp(low), ulp(high)) : INFINITE;
    int32 met = meeting_vertex(piece, other, barrier, p, radius);
    if (met == NOTHING && !here && ++times_tied_[uint64(low) << 32 | uint64(high)] > MOST_TIES)
        throw Tangled{low, high};
    if (met == NOTHING || segments_do)
        conflicts.push_back({CROSSING, low, high, met});
    bent_[low] = bent_[high] = true;
    const bool splits_barrier = met != other.from && met != other.to,
               splits_piece = met != piece.from && met != piece.to;
    if (splits_barrier)
        plane_.segment_at[barrier] = plane_.segment_at[plane_.twin(barrier)] = NOTHING;
    if (met == NOTHING)
        conflicts.back().vertex = met = insert_vertex(p, face_of(barrier), {low, high});
    if (splits_piece)
        route(piece, met);
    else
        waiting_.push_back(piece);
    if (splits_barrier) // pushed last, so inserted first, before others can take its place
        route(other, met);
}

// Inserts a point, and makes all edges around it Delaunay again; returns the vertex, or an existing one at the point.
int32 Segments::insert_vertex(Point p, int32 near, Crossed crossed) {
    const int32 face = plane_.locate(near, p);
    HalfEdge on = NOTHING;
    if (!plane_.is_ghost(face))
        for (int k = 0; k < 3; ++k) {
            const HalfEdge h = half_edge(face, k);
            if (same_place(plane_.points[plane_.apex(h)], p))
                return plane_.apex(h);
            if (plane_.side(plane_.from(h), plane_.to(h), p) == 0)
                on = h;
        }
    const int32 vertex = int32(plane_.points.size());
    plane_.points.push_back(p);
    plane_.number.push_back(inserted_.empty() ? first_number_ : plane_.number.back() + 1);
    inserted_.push_back(crossed);
    plane_.face_at.push_back(face);
    if (on == NOTHING)
        split_face(face, vertex);
    else
        split_edge(on, vertex);
    return vertex;
}

// Numbers the new vertices by the segments that cross there, whatever order they were inserted in.
void Segments::number_crossings() {
    const int32 first = int32(plane_.points.size() - inserted_.size());
    std::vector<int32> order(inserted_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32 i, int32 j) {
        const Crossed &one = inserted_[i], &other = inserted_[j];
        const Point p = plane_.points[first + i], q = plane_.points[first + j];
        return std::tie(one.low, one.high, p.x, p.y) < std::tie(other.low, other.high, q.x, q.y);
    });
    for (size_t place = 0; place < order.size(); ++place)
        plane_.number[first + order[place]] = first_number_ + int32(place);
}

int32 Segments::add_face() {
    plane_.faces.push_back({});
    plane_.segment_at.resize(4 * plane_.faces.size(), NOTHING);
    return int32(plane_.faces.size()) - 1;
}

// (a, b, c) becomes (v, b, c), (v, c, a), (v, a, b).
void Segments::split_face(int32 face, int32 v) {
    const Face old = plane_.faces[face];
    const int32 parts[3] = {face, add_face(), add_face()};
    int32 segments[3];
    for (int k = 0; k < 3; ++k)
        segments[k] = plane_.segment_at[half_edge(face, k)];
    std::vector<HalfEdge> boundary;
    for (int k = 0; k < 3; ++k) {
        plane_.set_face(parts[k], v, old.vertex[next_corner(k)], old.vertex[previous_corner(k)]);
        plane_.join(half_edge(parts[k], 0), old.twin[k], segments[k]);
        boundary.push_back(half_edge(parts[k], 0));
    }
    for (int k = 0; k < 3; ++k) // edge 1 runs from the last corner to v, edge 2 from v to the one before
        plane_.join(half_edge(parts[k], 1), half_edge(parts[next_corner(k)], 2), NOTHING);
    legalise(boundary);
}

// The edge u -> w between (a, u, w) and (b, w, u) is split at v: (v, w, a), (v, a, u), (v, u, b), (v, b, w).
void Segments::split_edge(HalfEdge h, int32 v) {
    const HalfEdge t = plane_.twin(h);
    const int32 segment = plane_.segment_at[h];
    const HalfEdge old[4] = {next(h), previous(h), next(t), previous(t)};
    HalfEdge across[4];
    int32 ends[4][2], segments[4];
    for (int i = 0; i < 4; ++i) {
        across[i] = plane_.twin(old[i]);
        segments[i] = plane_.segment_at[old[i]];
        ends[i][0] = plane_.from(old[i]);
        ends[i][1] = plane_.to(old[i]);
    }
    const int32 parts[4] = {face_of(h), add_face(), face_of(t), add_face()};
    std::vector<HalfEdge> boundary;
    for (int i = 0; i < 4; ++i) {
        plane_.set_face(parts[i], v, ends[i][0], ends[i][1]);
        plane_.join(half_edge(parts[i], 0), across[i], segments[i]);
        boundary.push_back(half_edge(parts[i], 0));
    }
    for (int i = 0; i < 4; ++i) // the pieces of the edge lie between 1 and 2, and between 3 and 0
        plane_.join(half_edge(parts[i], 1), half_edge(parts[(i + 1) % 4], 2), i % 2 == 1 ? segment : NOTHING);
    legalise(boundary);
}

// ---- Lawson's flips ------------------------------------------------------------------------------------------------

// Makes all edges Delaunay: after crossings were resolved, there may be edges that no insertion has checked.
void Segments::restore_delaunay() {
    std::vector<HalfEdge> all;
    for (int32 face = 0; face < int32(plane_.faces.size()); ++face)
        for (int k = 0; k < 3; ++k)
            all.push_back(half_edge(face, k));
    legalise(std::move(all));
}

// Flips the edges of a list that are not Delaunay, and the edges that become so by these flips.
void Segments::legalise(std::vector<HalfEdge> suspects) {
    for (uint32 turn = 1; !suspects.empty(); ++turn) {
        if (turn % 256 == 0)
            host::stop_point();
        const HalfEdge h = suspects.back();
        suspects.pop_back();
        const int32 apex = plane_.apex(h);
        if (plane_.segment_at[h] != NOTHING || apex == GHOST ||
            !plane_.in_conflict(face_of(plane_.twin(h)), plane_.numbered(apex)))
            continue;
        const int32 face = face_of(h), other = face_of(plane_.twin(h));
        flip(h);
        for (int32 changed : {face, other})
            for (int k = 0; k < 3; ++k)
                suspects.push_back(half_edge(changed, k));
    }
}

//          a                      a
//         / \                    /|\              The faces (a, u, w) and (b, w, u), across the edge u -> w, become
//        /   \                  / | \             (a, u, b) and (a, b, w).
//       u-----w      -->       u  |  w
//        \   /                  \ | /
//         \ /                    \|/
//          b                      b
void Segments::flip(HalfEdge h) {
    const HalfEdge t = plane_.twin(h);
    const int32 a = plane_.apex(h), b = plane_.apex(t), u = plane_.from(h), w = plane_.to(h);
    const HalfEdge old[4] = {next(t), previous(h), previous(t), next(h)}; // u -> b, a -> u, b -> w, w -> a
    HalfEdge across[4];
    int32 segments[4];
    for (int i = 0; i < 4; ++i) {
        across[i] = plane_.twin(old[i]);
        segments[i] = plane_.segment_at[old[i]];
    }
    const int32 left = face_of(h), right = face_of(t);
    plane_.set_face(left, a, u, b);
    plane_.set_face(right, a, b, w);
    const HalfEdge now[4] = {half_edge(left, 0), half_edge(left, 2), half_edge(right, 0), half_edge(right, 1)};
    for (int i = 0; i < 4; ++i)
        plane_.join(now[i], across[i], segments[i]);
    plane_.join(half_edge(left, 1), half_edge(right, 2), NOTHING);
}

} // namespace triangulation
