// Triangulates points and segments, and labels the parts of the plane.
#include "result.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <stdexcept>

#include "portable/host_pool.hpp"
#include "segments/arrangement.hpp"
#include "threads.hpp"

namespace triangulation {

namespace {

constexpr size_t MOST_POINTS = (1 << 28) - 2; // half-edges are face << 2 | edge, and there are two faces per point

// Disjoint sets of numbers, which several threads may add and join; the lowest number is the root of its set. Number 0
// is in a set from the beginning.
class Sets {
  public:
    Sets(size_t count, int threads) : parents_(count), alone_(threads == 1) {
        if (alone_) // each number is added before any higher one
            parents_[0] = 0;
        else
            share_indices(threads, count, [&](size_t begin, size_t end) {
                for (size_t i = begin; i < end; ++i)
                    parents_[i] = int32(i);
            });
    }

    // Adds i to the sets of lower numbers, those of the three that `joined` says. No branches but one, which is seldom
    // taken: those numbers are mostly in one set already.
    void add(int32 i, const int32 (&lower)[3], const bool (&joined)[3]) {
        int32 parents[3];
        for (int k = 0; k < 3; ++k) {
            const int32 parent = load(joined[k] ? lower[k] : 0);
            parents[k] = joined[k] ? parent : i;
        }
        const int32 lowest = std::min(std::min(parents[0], parents[1]), parents[2]);
        int32 expected = i;
        if (alone_)
            parents_[i] = lowest;
        else if (!__atomic_compare_exchange_n(&parents_[i], &expected, lowest, false, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED)) // a higher number has joined i and another one
            join(i, lowest);
        bool several = false;
        for (int k = 0; k < 3; ++k)
            several |= joined[k] & (parents[k] != lowest);
        for (int k = 0; several && k < 3; ++k)
            if (joined[k])
                join(lower[k], lowest);
    }

    // Returns the root of i, which is stored: called again, it takes one step.
    int32 root(int32 i) {
        const int32 found = find(i);
        __atomic_store_n(&parents_[i], found, __ATOMIC_RELAXED);
        return found;
    }

    // The root of i after `root(i)`.
    int32 stored_root(int32 i) const { return load(i); }

  private:
    // Halves the path on its way.
    int32 find(int32 i) {
        for (int32 parent = load(i), next; parent != i; i = parent, parent = next) {
            next = load(parent);
            if (next != parent)
                __atomic_store_n(&parents_[i], next, __ATOMIC_RELAXED);
        }
        return i;
    }

    void join(int32 i, int32 j) {
        while (true) {
            i = find(i);
            j = find(j);
            if (i == j)
                return;
            int32 high = std::max(i, j);
            if (__atomic_compare_exchange_n(&parents_[high], &high, std::min(i, j), false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
                return;
        }
    }

    int32 load(int32 i) const { return __atomic_load_n(&parents_[i], __ATOMIC_RELAXED); }

    Table<int32> parents_;
    bool alone_;
};

} // namespace

Labels Result::flood(const int32 *neighbours, const Table<uint8> &walls, int32 *labels) const {
    const size_t count = numbering.faces.size();
    if (segments->given().empty()) {
        const int32 only = hull_is_closed ? 1 : 0;
        share_indices(threads, count, [&](size_t begin, size_t end) { std::fill(labels + begin, labels + end, only); });
        return {only, only};
    }
    Sets sets(count + 1, threads); // 0 is the outside, and i + 1 triangle i
    share_indices(threads, count, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            if (i % FACES_AT_ONCE == 0)
                host::stop_point();
            int32 lower[3];
            bool joined[3];
            for (int k = 0; k < 3; ++k) {
                const int32 across = neighbours[3 * i + k];
                lower[k] = across + 1; // 0 beyond the hull
                joined[k] = !(walls[i] >> k & 1) & (across < int32(i)) & !((across < 0) & hull_is_closed);
            }
            sets.add(int32(i) + 1, lower, joined);
        }
    });
    const int pieces = pieces_for(threads);
    std::vector<std::vector<size_t>> lowest(pieces); // triangles of the parts inside
    share_out(
        threads, pieces,
        [&](int piece) {
            const Share share = share_of(count, piece, pieces);
            for (size_t i = share.begin; i < share.end; ++i)
                if (sets.root(int32(i) + 1) == int32(i) + 1)
                    lowest[piece].push_back(i);
        },
        count);
    int32 label = 0;
    for (const std::vector<size_t> &some : lowest)
        for (const size_t i : some)
            labels[i] = ++label;
    std::atomic<bool> any_outside{false};
    share_indices(threads, count, [&](size_t begin, size_t end) {
        bool outside = false;
        for (size_t i = begin; i < end; ++i) {
            const int32 root = sets.stored_root(int32(i) + 1);
            if (root != int32(i) + 1) // no other thread writes the label of a root, which others read
                labels[i] = root == 0 ? 0 : labels[root - 1];
            outside |= root == 0;
        }
        if (outside)
            any_outside = true;
    });
    return {any_outside ? 0 : 1, label};
}

int32 Result::label_of(int32 face, const int32 *labels) const {
    const int32 triangle = numbering.triangle(face);
    return triangle == NOTHING ? BEYOND_HULL : labels[triangle];
}

int32 Result::label_at(Point p, const int32 *labels) const {
    const Plane &plane = delaunay.plane;
    int32 start = 0;
    while (plane.is_ghost(start))
        ++start;
    const int32 face = plane.locate(start, p);
    if (plane.is_ghost(face))
        return BEYOND_HULL;
    for (int k = 0; k < 3; ++k) {
        const HalfEdge h = half_edge(face, k);
        if (same_place(plane.points[plane.apex(h)], p))
            return segments->is_on_segment(plane.apex(h)) ? ON_SEGMENT : label_of(face, labels);
        if (plane.is_constrained(h) && plane.side(plane.from(h), plane.to(h), p) == 0)
            return ON_SEGMENT;
    }
    return label_of(face, labels);
}

void Result::list_pieces() {
    if (segments->given().empty())
        return;
    const Plane &plane = delaunay.plane;
    const int parts = pieces_for(threads);
    std::vector<std::vector<SegmentPiece>> met(parts); // in the order of the faces
    share_out(threads, parts, [&](int part) {
        const Share share = share_of(plane.faces.size(), part, parts);
        // Without branches, which would go either way: half-edges on segments, then the lower one of each two.
        constexpr size_t BLOCK = 1024; // faces
        HalfEdge on_segments[3 * BLOCK + 1];
        for (size_t begin = share.begin; begin < share.end; begin += BLOCK) {
            int found = 0, lower = 0;
            for (size_t face = begin; face < std::min(begin + BLOCK, share.end); ++face)
                for (int k = 0; k < 3; ++k) {
                    on_segments[found] = half_edge(int32(face), k);
                    found += plane.segment_at[half_edge(int32(face), k)] != NOTHING;
                }
            for (int i = 0; i < found; ++i) {
                const HalfEdge h = on_segments[i];
                on_segments[lower] = h;
                lower += h < plane.twin(h);
            }
            for (int i = 0; i < lower; ++i) {
                const HalfEdge h = on_segments[i];
                met[part].push_back({plane.from(h), plane.to(h), plane.segment_at[h], h, plane.twin(h), 0.0});
            }
        }
    });
    std::vector<size_t> first(segments->given().size() + 1, 0); // by segment: the index of its first piece
    for (const std::vector<SegmentPiece> &some : met)
        for (const SegmentPiece &piece : some)
            ++first[piece.segment + 1];
    for (size_t segment = 1; segment < first.size(); ++segment)
        first[segment] += first[segment - 1];
    pieces.resize(first.back());
    std::vector<size_t> next(first.begin(), first.end() - 1);
    for (const std::vector<SegmentPiece> &some : met)
        for (const SegmentPiece &piece : some)
            pieces[next[piece.segment]++] = piece;
    share_indices(threads, segments->given().size(), [&](size_t begin, size_t end) {
        for (size_t segment = begin; segment < end; ++segment)
            direct(segments->given()[segment], pieces.begin() + std::ptrdiff_t(first[segment]),
                   pieces.begin() + std::ptrdiff_t(first[segment + 1]));
    });
}

void Result::direct(const Segment &segment, std::vector<SegmentPiece>::iterator begin,
                    std::vector<SegmentPiece>::iterator end) const {
    const Table<Point> &points = delaunay.plane.points;
    const Point start = points[segment.from], stop = points[segment.to];
    const auto place = [&](int32 vertex) {
        const Point p = points[vertex];
        return (p.x - start.x) * (stop.x - start.x) + (p.y - start.y) * (stop.y - start.y);
    };
    for (auto piece = begin; piece != end; ++piece) {
        const bool whole = piece->from == segment.from && piece->to == segment.to;
        const float64 from = whole ? 0.0 : place(piece->from), to = whole ? 0.0 : place(piece->to);
        piece->along = std::min(from, to);
        if (from > to) {
            std::swap(piece->from, piece->to);
            std::swap(piece->left_side, piece->right_side);
        }
    }
    if (end - begin > 1)
        std::stable_sort(begin, end, [](const SegmentPiece &a, const SegmentPiece &b) { return a.along < b.along; });
}

void Result::insert(std::vector<Segment> given_segments, OnMeeting on_meeting) {
    Plane &plane = delaunay.plane;
    segments =
        std::make_unique<Segments>(plane, std::move(given_segments), int32(plane.points.size()), threads, on_meeting);
    segments->insert_all(delaunay.rank);
}

bool Result::find_duplicates() const {
    std::atomic<bool> found{false};
    share_indices(threads, delaunay.vertex_of.size(), [&](size_t begin, size_t end) {
        for (size_t point = begin; point < end; ++point)
            if (number(delaunay.vertex_of[point]) != int32(point)) {
                found = true;
                return;
            }
    });
    return found;
}

namespace {

bool fits(const float64 *values, size_t count, const Range &range, int threads) {
    const int pieces = pieces_for(threads);
    std::vector<float64> largest(pieces, 0.0); // infinite if a coordinate does not fit
    share_out(
        threads, pieces,
        [&](int piece) {
            const Share share = share_of(count, piece, pieces);
            float64 most = 0.0;
            bool all = true;
            for (size_t i = share.begin; i < share.end; ++i) {
                const float64 magnitude = std::abs(values[i]);
                all &= (magnitude <= range.largest) & ((magnitude >= range.smallest) | (magnitude == 0.0));
                most = std::max(most, magnitude);
            }
            largest[piece] = all ? most : INFINITE;
        },
        count);
    const float64 most = *std::max_element(largest.begin(), largest.end());
    return most < INFINITE && (most == 0.0 || most >= range.extent);
}

// Whether a crossing is so near another point that it may have to be in the same place: within NEAR units in the last
// place. It then is near its nearest neighbour, to which an edge leads.
bool is_crowded(const Delaunay &delaunay, int32 given, int threads) {
    constexpr float64 WIDER = 2.0; // that neighbour is the nearest by the Euclidean distance
    const Plane &plane = delaunay.plane;
    const CurveSquare &square = delaunay.square;
    const float64 largest = std::max({std::abs(square.low.x), std::abs(square.low.y),
                                      std::abs(square.low.x + square.extent), std::abs(square.low.y + square.extent)});
    const float64 near = WIDER * NEAR * (std::nextafter(largest, INFINITE) - largest);
    std::atomic<bool> found{false};
    share_indices(threads, plane.faces.size(), [&](size_t begin, size_t end) {
        for (size_t face = begin; face < end && !found; ++face)
            for (int k = 0; k < 3; ++k) {
                const int32 u = plane.faces[face].vertex[k], v = plane.faces[face].vertex[next_corner(k)];
                if (u == GHOST || v == GHOST || (plane.number[u] < given && plane.number[v] < given))
                    continue;
                const Point p = plane.points[u], q = plane.points[v];
                if (std::abs(p.x - q.x) <= near && std::abs(p.y - q.y) <= near)
                    found = true;
            }
    });
    return found;
}

// Inserts segments that cross or overlap: first finds all points where they cross, and then triangulates the graph of
// their parts. Returns false if rounding makes crossings ambiguous; nothing of the result can be used then.
bool insert_arrangement(Result &result, const Point *points) {
    const auto number = [&](int32 vertex) { return result.number(vertex); };
    std::vector<Segment> whole = result.segments->given();
    for (Segment &segment : whole)
        segment = {number(segment.from), number(segment.to), segment.marker};
    std::vector<Part> pieces;
    for (const Segments::Piece &piece : result.segments->straight_pieces())
        pieces.push_back({number(piece.from), number(piece.to), piece.segment});
    std::vector<Found> conflicts;
    for (const Found &found : result.segments->conflicts)
        if (found.kind != OVERLAP)
            conflicts.push_back({found.kind, found.first, found.second, number(found.vertex)});
    const size_t given = size_t(result.given);
    Arrangement graph = arrange(points, given, whole, std::move(pieces), result.threads);
    if (graph.points.size() > MOST_POINTS)
        throw std::bad_alloc();
    result.segments.reset();
    result.delaunay = delaunay(graph.points.data(), int32(graph.points.size()), result.threads);
    Table<int32> &vertex_of = result.delaunay.vertex_of;
    for (size_t point = given; point < graph.points.size(); ++point)
        if (number(vertex_of[point]) != int32(point))
            return false;
    if (is_crowded(result.delaunay, result.given, result.threads))
        return false;
    // Along the curve, so that the faces around their ends are in the caches.
    Table<Place> places(graph.parts.size());
    for (size_t i = 0; i < places.size(); ++i)
        places[i] = {uint32(result.delaunay.rank[vertex_of[graph.parts[i].from]]), int32(i)};
    sort_places(places, result.threads);
    std::vector<Segment> parts(graph.parts.size());
    std::vector<int32> segment_of(graph.parts.size());
    share_indices(result.threads, parts.size(), [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            const Part &part = graph.parts[places[i].point];
            parts[i] = {vertex_of[part.from], vertex_of[part.to], 0};
            segment_of[i] = part.segment;
        }
    });
    try {
        result.insert(std::move(parts), OnMeeting::REPORT);
    } catch (const Meeting &) {
        return false;
    }
    if (!result.segments->conflicts.empty())
        return false;
    for (Segment &segment : whole)
        segment = {vertex_of[segment.from], vertex_of[segment.to], segment.marker};
    if (!result.segments->join_parts(std::move(whole), segment_of, graph.crosses))
        return false;
    conflicts.insert(conflicts.end(), graph.conflicts.begin(), graph.conflicts.end());
    for (Found &found : conflicts)
        found.vertex = vertex_of[found.vertex];
    result.segments->conflicts = std::move(conflicts);
    vertex_of.resize(given);
    return true;
}

} // namespace

Status triangulate(Result *result, const float64 *points, int32 n, const Range &range, const int32 *ends,
                   const int32 *markers, int32 s) {
    try {
        if (!fits(points, 2 * size_t(n), range, result->threads))
            return OUT_OF_RANGE;
        result->delaunay = delaunay(reinterpret_cast<const Point *>(points), n, result->threads);
        if (result->delaunay.plane.faces.empty())
            return COLLINEAR;
        result->given = n;
        const auto segments = [&] {
            std::vector<Segment> made(s);
            const Table<int32> &vertex_of = result->delaunay.vertex_of;
            for (int32 i = 0; i < s; ++i)
                made[i] = {vertex_of[ends[2 * i]], vertex_of[ends[2 * i + 1]], markers[i]};
            return made;
        };
        try {
            result->insert(segments(), OnMeeting::REPORT);
        } catch (const Meeting &) {
            if (!insert_arrangement(*result,
                                    reinterpret_cast<const Point *>(points))) { // begin again, in a fixed order
                result->segments.reset();
                result->delaunay = delaunay(reinterpret_cast<const Point *>(points), n, result->threads);
                result->insert(segments(), OnMeeting::RESOLVE);
            }
        }
        result->list_pieces();
        result->numbering = number_faces(result->delaunay, result->threads);
        result->has_duplicates = result->find_duplicates();
        return DONE;
    } catch (const Tangled &tangled) {
        result->tangled[0] = tangled.first;
        result->tangled[1] = tangled.second;
        return TANGLED;
    } catch (const host::Interrupted &) {
        return INTERRUPTED;
    } catch (const std::bad_alloc &) {
        return NO_MEMORY;
    } catch (const std::logic_error &) {
        return BROKEN;
    }
}

} // namespace triangulation
