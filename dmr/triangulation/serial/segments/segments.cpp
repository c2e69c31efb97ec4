#include "segments.hpp"

#include <algorithm>

#include "../owners.hpp"
#include "../threads.hpp"

namespace triangulation {

constexpr size_t FEWEST_PIECES = 1 << 8; // of a part

namespace {

// Segments are inserted in rounds, each of twice as many as the one before and spread over all of them, like points
// (delaunay.cpp). If parallel segments were inserted one after the other, each would cut through the fan of triangles
// left by the one before, which is as wide as there are segments.
constexpr int ROUNDS = 32;

int round_of(int32 segment) { return ROUNDS - 1 - __builtin_clz(uint32(segment) * 2654435769u | 1u); }

} // namespace

Segments::Segments(Plane &plane, std::vector<Segment> segments, int32 points, int threads, OnMeeting on_meeting)
    : plane_(plane), segments_(std::move(segments)), first_number_(points), bent_(segments_.size()), threads_(threads),
      on_meeting_(on_meeting) {
    if (segments_.empty())
        return;
    plane_.face_at.resize(plane.points.size());
    plane_.segment_at.resize(4 * plane_.faces.size());
    share_indices(threads_, plane_.faces.size(), [&](size_t begin, size_t end) {
        std::fill(plane_.segment_at.data() + 4 * begin, plane_.segment_at.data() + 4 * end, NOTHING);
        for (size_t face = begin; face < end; ++face)
            for (int32 vertex : plane_.faces[face].vertex)
                if (vertex != GHOST) // any of its faces will do
                    __atomic_store_n(&plane_.face_at[vertex], int32(face), __ATOMIC_RELAXED);
    });
}

void Segments::insert_all(const Table<int32> &rank) {
    // Find vertices on segments first, while all segments are straight: pieces split at rounded crossings might miss
    // them.
    const int pieces = pieces_for(threads_);
    ways_.resize(size_t(pieces));
    share_out(threads_, pieces, [&](int piece) {
        const Share share = share_of(segments_.size(), piece, pieces);
        for (size_t s = share.begin; s < share.end; ++s) {
            if (s % 64 == 0)
                host::stop_point();
            split_at_vertices(int32(s), ways_[size_t(piece)]);
        }
    });
    for (const std::vector<Way> &some : ways_)
        for (const Way &way : some)
            note(way);
    std::vector<Piece> rounds[ROUNDS];
    for (const Piece &piece : waiting_)
        rounds[round_of(piece.segment)].push_back(piece);
    waiting_.clear();
    for (const std::vector<Piece> &round : rounds)
        waiting_.insert(waiting_.end(), round.begin(), round.end());
    if (on_meeting_ == OnMeeting::REPORT && threads_ > 1)
        insert_by_threads(rank);
    std::reverse(waiting_.begin(), waiting_.end());
    while (!waiting_.empty()) {
        host::stop_point();
        const Piece piece = waiting_.back();
        waiting_.pop_back();
        insert(piece);
    }
    if (std::find(bent_.begin(), bent_.end(), true) != bent_.end()) {
        number_crossings();
        restore_delaunay();
    }
}

std::vector<Segments::Piece> Segments::straight_pieces() const {
    std::vector<Piece> pieces;
    for (const std::vector<Way> &some : ways_)
        for (const Way &way : some)
            if (way.piece.from != way.piece.to)
                pieces.push_back(way.piece);
    return pieces;
}

bool Segments::join_parts(std::vector<Segment> whole, const std::vector<int32> &of, const std::vector<uint8> &crosses) {
    segments_ = std::move(whole);
    bent_.assign(crosses.begin(), crosses.end());
    std::atomic<bool> sound{true};
    share_indices(threads_, plane_.faces.size(), [&](size_t begin, size_t end) {
        for (size_t face = begin; face < end; ++face)
            for (int k = 0; k < 3; ++k) {
                const HalfEdge h = half_edge(int32(face), k);
                int32 &segment = plane_.segment_at[h];
                if (segment == NOTHING)
                    continue;
                segment = of[segment];
                if (leads_through({plane_.from(h), plane_.to(h), segment}, plane_.apex(h)))
                    sound = false;
            }
    });
    return sound;
}

bool Segments::is_on_segment(int32 vertex) const {
    if (segments_.empty())
        return false;
    const HalfEdge start = plane_.leaving(vertex);
    HalfEdge h = start;
    do {
        if (plane_.segment_at[h] != NOTHING)
            return true;
        h = plane_.around(h);
    } while (h != start);
    return false;
}

// ---- Inserting a segment --------------------------------------------------------------------------------------------

// Lists the pieces between the vertices on a segment.
void Segments::split_at_vertices(int32 s, std::vector<Way> &ways) const {
    const Segment segment = segments_[s];
    int32 start = segment.from, smaller = NOTHING;
    if (start == segment.to)
        ways.push_back({{start, start, s}, NOTHING});
    while (start != segment.to) {
        HalfEdge h = find_edge(plane_, start, segment.to, &smaller);
        if (h == NOTHING)
            h = depart(plane_, start, segment.to);
        int32 met = plane_.to(h);
        const bool is_edge = plane_.from(h) == start;
        for (int side = is_edge ? 0 : 1; side != 0;) {
            met = plane_.apex(plane_.twin(h));
            side = met == segment.to ? 0 : plane_.side(start, segment.to, plane_.points[met]);
            h = side > 0 ? next(plane_.twin(h)) : previous(plane_.twin(h));
        }
        ways.push_back({{start, met, s}, is_edge ? h : NOTHING});
        start = met;
    }
}

void Segments::note(const Way &way) {
    const Piece &piece = way.piece;
    const Segment &segment = segments_[piece.segment];
    if (piece.from == piece.to) {
        conflicts.push_back({DEGENERATE, piece.segment, NOTHING, piece.from});
        return;
    }
    if (way.edge != NOTHING)
        constrain(way.edge, piece.segment); // as for most segments
    else
        waiting_.push_back(piece);
    if (piece.from == segment.from && piece.to != segment.to)
        conflicts.push_back({VERTEX_ON_SEGMENT, piece.segment, NOTHING, piece.to});
}

// ---- Several threads ------------------------------------------------------------------------------------------------

// Inserts waiting pieces; those that remain have to do with several owners. Vertices are divided as those of points are
// (delaunay.cpp): by sections of the curve, then by strips of the plane. The triangulation is unique, unless segments
// meet.
void Segments::insert_by_threads(const Table<int32> &rank) {
    const size_t most = size_t(std::max(SEGMENT_PARTS_PER_THREAD * threads_, FEWEST_SEGMENT_PARTS));
    const auto parts = [&] { return int(std::min(most, waiting_.size() / FEWEST_PIECES)); };
    if (const int sections = parts(); sections > 1) {
        Table<uint16> section_of(plane_.points.size());
        share_indices(threads_, section_of.size(), [&](size_t begin, size_t end) {
            for (size_t vertex = begin; vertex < end; ++vertex)
                section_of[vertex] = uint16(size_t(rank[vertex]) * size_t(sections) / section_of.size());
        });
        waiting_ = insert_parts(
            waiting_, sections, [&](int32 vertex) { return int(section_of[vertex]); },
            [&](int k) { return InSection{section_of.data(), uint16(k)}; });
    }
    const Point *const points = plane_.points.data();
    for (const Point across : ACROSS)
        if (const int strips = parts(); strips > 1) {
            const auto height = [&](int32 vertex) { return InStrip::height(across, points[vertex]); };
            const std::vector<float64> bounds =
                bounds_of_strips(strips, waiting_.size(), [&](size_t i) { return height(waiting_[i].from); });
            waiting_ = insert_parts(
                waiting_, strips, [&](int32 vertex) { return strip_of(bounds, height(vertex)); },
                [&](int k) { return InStrip{points, across, bounds[k], bounds[k + 1]}; });
        }
}

// Inserts the pieces both of whose ends belong to the same owner, where all that they change does. Returns the others,
// in order.
template <class PartOf, class OwnerOf>
std::vector<Segments::Piece> Segments::insert_parts(const std::vector<Piece> &pieces, int parts, const PartOf &part_of,
                                                    const OwnerOf &owner_of) {
    std::vector<std::vector<size_t>> given(parts);
    for (size_t i = 0; i < pieces.size(); ++i)
        if (const int part = part_of(pieces[i].from); part == part_of(pieces[i].to))
            given[part].push_back(i);
    std::vector<uint8> inserted(pieces.size(), 0);
    share_out(threads_, parts, [&](int k) {
        Strip strip(plane_);
        const auto owner = owner_of(k);
        for (const size_t i : given[k]) {
            if (meeting_)
                return;
            host::stop_point();
            inserted[i] = insert_within(strip, owner, pieces[i]);
        }
    });
    std::vector<Piece> others;
    for (size_t i = 0; i < pieces.size(); ++i)
        if (!inserted[i])
            others.push_back(pieces[i]);
    return others;
}

void Segments::report_meeting() {
    meeting_ = true;
    throw Meeting{};
}

// Inserts a piece whose ends belong to an owner, unless it changes faces that do not; returns whether it is inserted.
template <class Owner> bool Segments::insert_within(Strip &strip, const Owner &owner, const Piece &piece) {
    const auto owns = [&](HalfEdge h) { return owns_face(owner, plane_.faces[face_of(h)]); };
    int32 start = piece.from;
    HalfEdge edge = find_edge(plane_, piece.from, piece.to, &start);
    if (edge == NOTHING) {
        const int32 end = start == piece.from ? piece.to : piece.from;
        const HalfEdge first = depart(plane_, start, end);
        const bool free = owns(first) && strip.collect(start, end, first, [&](HalfEdge h) {
            if (plane_.segment_at[h] != NOTHING)
                report_meeting();
            return owns(plane_.twin(h));
        });
        if (!free)
            return false;
        edge = strip.clear();
    }
    if (plane_.segment_at[edge] != NOTHING)
        report_meeting();
    plane_.segment_at[edge] = plane_.segment_at[plane_.twin(edge)] = piece.segment;
    return true;
}

// ---- One thread -----------------------------------------------------------------------------------------------------

void Segments::insert(const Piece &piece) {
    if (piece.from == piece.to)
        return;
    int32 start = piece.from;
    HalfEdge edge = find_edge(plane_, piece.from, piece.to, &start);
    if (edge != NOTHING) {
        constrain_or_route(piece, edge);
        return;
    }
    // Start at the end with fewer edges.
    Piece way = start == piece.from ? piece : Piece{piece.to, piece.from, piece.segment};
    edge = depart(plane_, way.from, way.to);
    if (plane_.from(edge) != way.from)
        edge = cross(way, edge);
    if (edge == NOTHING)
        return; // the remaining pieces are on the stack
    const int32 met = plane_.to(edge);
    if (met != way.to)
        waiting_.push_back({met, way.to, way.segment});
    constrain_or_route({way.from, met, way.segment}, edge);
}

// Makes an edge part of a piece's segment, or routes the piece through a vertex beside the edge that is within reach.
void Segments::constrain_or_route(const Piece &piece, HalfEdge edge) {
    for (int32 vertex : {plane_.apex(edge), plane_.apex(plane_.twin(edge))})
        if (leads_through(piece, vertex)) {
            route(piece, vertex);
            return;
        }
    if (on_meeting_ == OnMeeting::REPORT && plane_.segment_at[edge] != NOTHING)
        report_meeting();
    constrain(edge, piece.segment);
}

void Segments::route(const Piece &piece, int32 vertex) {
    waiting_.push_back({vertex, piece.to, piece.segment});
    waiting_.push_back({piece.from, vertex, piece.segment});
}

// Marks an edge as part of a segment. If several segments share it, it belongs to the first (by number) that has a
// marker, or to the first if none has one, independent of the order of insertion.
void Segments::constrain(HalfEdge h, int32 segment) {
    const int32 other = plane_.segment_at[h];
    int32 owner = segment;
    if (other != NOTHING && other != segment) {
        const Found overlap = {OVERLAP, std::min(other, segment), std::max(other, segment), plane_.from(h)};
        const Found last = conflicts.empty() ? Found{} : conflicts.back();
        const bool goes_on = last.kind == OVERLAP && last.first == overlap.first && last.second == overlap.second;
        if (!goes_on && on_line(other, segments_[segment].from) && on_line(other, segments_[segment].to))
            conflicts.push_back(overlap);
        owner = owner_of_both(segments_, segment, other);
    }
    plane_.segment_at[h] = plane_.segment_at[plane_.twin(h)] = owner;
}

// Clears the way for a piece from its start to the first vertex on it, and returns that edge. If another segment blocks
// the way, or the piece has to pass through a vertex beside it, pushes the pieces to be inserted and returns NOTHING.
HalfEdge Segments::cross(const Piece &piece, HalfEdge first) {
    const auto leads_aside = [&](int32 vertex) {
        const bool aside = leads_through(piece, vertex);
        if (aside)
            route(piece, vertex);
        return aside;
    };
    if (leads_aside(plane_.from(first)) || leads_aside(plane_.to(first)))
        return NOTHING;
    const bool free = strip_.collect(piece.from, piece.to, first, [&](HalfEdge h) {
        if (plane_.segment_at[h] != NOTHING) {
            resolve(piece, h);
            return false;
        }
        return !leads_aside(plane_.apex(plane_.twin(h)));
    });
    return free ? strip_.clear() : NOTHING;
}

// Whether a piece must pass through a vertex: one within reach of the segment that the piece would have on the wrong
// side.
bool Segments::leads_through(const Piece &piece, int32 vertex) const {
    if (!bent_[piece.segment] || vertex == GHOST || vertex == piece.from || vertex == piece.to)
        return false;
    const Segment &segment = segments_[piece.segment];
    const Point p = plane_.points[vertex];
    if (!within_reach(piece.segment, p) || !between(piece, p))
        return false;
    const bool forward = along(piece.segment, plane_.points[piece.from], plane_.points[piece.to]) > 0;
    const int side = plane_.side(segment.from, segment.to, p), now = plane_.side(piece.from, piece.to, p);
    return side * (forward ? now : -now) <= 0;
}

} // namespace triangulation
