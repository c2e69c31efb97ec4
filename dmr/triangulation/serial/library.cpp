// The C interface of the triangulation (dmr/triangulation/native.py).
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <new>
#include <stdexcept>

#include "delaunay.hpp"
#include "numbering.hpp"
#include "portable/host_pool.hpp"
#include "segments/arrangement.hpp"
#include "segments/segments.hpp"
#include "threads.hpp"

using namespace triangulation;

namespace {

// INTERRUPTED: a signal handler has raised an exception, which Python raises after the call returns.
enum Status : int32 {
    DONE = 0,
    COLLINEAR = 1,
    TANGLED = 2,
    NO_MEMORY = 3,
    BROKEN = 4,
    INTERRUPTED = 5,
    OUT_OF_RANGE = 6,
};

constexpr int32 ON_SEGMENT = -1, BEYOND_HULL = -2; // labels of places that are in no part

constexpr size_t MOST_POINTS = (1 << 28) - 2; // half-edges are face << 2 | edge, and there are two faces per point

constexpr uint32 FACES_AT_ONCE = 1 << 14; // faces between two stop points

// A piece of a segment, with the segment's direction.
struct SegmentPiece {
    int32 from, to;
    int32 segment;
    HalfEdge left_side, right_side; // of the faces there
    float64 along;                  // position along the segment, if the segment has several pieces
};

// Disjoint sets of numbers, which several threads may join; the lowest number is the root of its set.
class Sets {
  public:
    Sets(size_t count, int threads) : parents_(count) {
        share_indices(threads, count, [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i)
                parents_[i] = int32(i);
        });
    }

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
        if (load(i) == load(j)) // as for most neighbours
            return;
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

  private:
    int32 load(int32 i) const { return __atomic_load_n(&parents_[i], __ATOMIC_RELAXED); }

    Table<int32> parents_;
};

struct Labels {
    int32 least, largest;
};

struct Result {
    Delaunay delaunay;
    std::unique_ptr<Segments> segments;
    Numbering numbering;
    std::vector<SegmentPiece> pieces; // sorted by segment, and along each segment
    int32 given = 0;                  // points; those where segments cross follow
    bool hull_is_closed = false;
    int threads = 1;
    int32 tangled[2] = {NOTHING, NOTHING};
    bool has_duplicates = false; // points with the same coordinates

    // Labels the triangles by the parts of the plane, from their neighbours. Labels count up from 0, the outside, in
    // the order of the lowest triangles. If the hull is closed, the outside ends there, as if its edges were segments.
    // Returns the least and the largest label.
    Labels flood(const int32 *neighbours, const Table<uint8> &walls, int32 *labels) const {
        const size_t count = numbering.faces.size();
        if (segments->given().empty()) {
            const int32 only = hull_is_closed ? 1 : 0;
            share_indices(threads, count,
                          [&](size_t begin, size_t end) { std::fill(labels + begin, labels + end, only); });
            return {only, only};
        }
        Sets sets(count + 1, threads); // 0 is the outside, and i + 1 triangle i
        share_indices(threads, count, [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) {
                if (i % FACES_AT_ONCE == 0)
                    host::stop_point();
                for (int k = 0; k < 3; ++k) {
                    const int32 across = neighbours[3 * i + k];
                    if (!(walls[i] >> k & 1) && across < int32(i) && !(across < 0 && hull_is_closed))
                        sets.join(int32(i) + 1, across < 0 ? 0 : across + 1);
                }
            }
        });
        const int pieces = pieces_for(threads);
        std::vector<std::vector<size_t>> lowest(pieces); // triangles of the parts inside
        share_out(
            threads, pieces,
            [&](int piece) {
                const Share share = share_of(count, piece, pieces);
                for (size_t i = share.begin; i < share.end; ++i)
                    if (sets.find(int32(i) + 1) == int32(i) + 1)
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
            for (size_t i = begin; i < end; ++i)
                if (const int32 root = sets.find(int32(i) + 1); root != int32(i) + 1) {
                    labels[i] = root == 0 ? 0 : labels[root - 1];
                    outside |= root == 0;
                }
            if (outside)
                any_outside = true;
        });
        return {any_outside ? 0 : 1, label};
    }

    int32 label_of(int32 face, const int32 *labels) const {
        const int32 triangle = numbering.triangle(face);
        return triangle == NOTHING ? BEYOND_HULL : labels[triangle];
    }

    int32 label_at(Point p, const int32 *labels) const {
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

    // Lists the pieces.
    void list_pieces() {
        if (segments->given().empty())
            return;
        const Plane &plane = delaunay.plane;
        const int parts = pieces_for(threads);
        std::vector<std::vector<SegmentPiece>> met(parts); // in the order of the faces
        share_out(threads, parts, [&](int part) {
            const Share share = share_of(plane.faces.size(), part, parts);
            for (HalfEdge h = half_edge(int32(share.begin), 0); h < half_edge(int32(share.end), 0); ++h) {
                if (edge_of(h) == 3 || plane.segment_at[h] == NOTHING)
                    continue;
                if (const HalfEdge twin = plane.twin(h); h < twin)
                    met[part].push_back({plane.from(h), plane.to(h), plane.segment_at[h], h, twin, 0.0});
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

    // Gives the pieces of one segment its direction, and sorts them along it.
    void direct(const Segment &segment, std::vector<SegmentPiece>::iterator begin,
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
            std::stable_sort(begin, end,
                             [](const SegmentPiece &a, const SegmentPiece &b) { return a.along < b.along; });
    }

    int32 number(int32 vertex) const { return delaunay.plane.number[vertex]; }

    void insert(std::vector<Segment> given_segments, OnMeeting on_meeting) {
        Plane &plane = delaunay.plane;
        segments = std::make_unique<Segments>(plane, std::move(given_segments), int32(plane.points.size()), threads,
                                              on_meeting);
        segments->insert_all(delaunay.rank);
    }

    bool find_duplicates() const {
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
};

// The coordinates for which the predicates are exact: 0, or of these magnitudes; and what the largest must exceed.
struct Range {
    float64 smallest, largest, extent;
};

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

} // namespace

namespace {

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

} // namespace

// The version of these functions (INTERFACE of dmr/triangulation/bindings.py): it is incremented when arguments change.
extern "C" int32 dmr_triangulation_interface() { return 5; }

// Sets the number of cores that the process may use.
extern "C" void dmr_triangulation_use_cores(int cores) { host::usable_cores = cores; }

// Triangulates the whole plane around points (2 n doubles; `range` has the members of Range) and segments (2 s indices
// of points, s markers). The caller frees the result by dmr_triangulation_free, whatever its status; it is null if
// there is too little memory for it.
extern "C" void dmr_triangulation(const float64 *points, int32 n, const float64 *range, const int32 *ends,
                                  const int32 *markers, int32 s, int32 hull_is_closed, int32 threads, int32 *status,
                                  void **handle) {
    host::interruptible([&](host::Call &) {
        Result *result = new (std::nothrow) Result;
        *handle = result;
        *status = NO_MEMORY;
        if (result == nullptr)
            return;
        result->hull_is_closed = hull_is_closed != 0;
        result->threads = threads;
        *status = triangulate(result, points, n, {range[0], range[1], range[2]}, ends, markers, s);
    });
}

extern "C" void dmr_triangulation_free(void *handle) { delete static_cast<Result *>(handle); }

// counts = triangles, pieces of segments, new vertices, conflicts, vertices of the convex hull, whether points are
// equal.
extern "C" void dmr_triangulation_counts(const void *handle, int32 *counts) {
    const Result &result = *static_cast<const Result *>(handle);
    const Plane &plane = result.delaunay.plane;
    counts[0] = int32(result.numbering.faces.size());
    counts[1] = int32(result.pieces.size());
    counts[2] = int32(plane.points.size()) - result.given;
    counts[3] = int32(result.segments->conflicts.size());
    counts[4] = int32(plane.faces.size()) - counts[0];
    counts[5] = int32(result.has_duplicates);
}

// The two segments that cross repeatedly, if the status is TANGLED.
extern "C" void dmr_triangulation_tangled(const void *handle, int32 *segments) {
    const Result &result = *static_cast<const Result *>(handle);
    segments[0] = result.tangled[0];
    segments[1] = result.tangled[1];
}

namespace {

// Writes corners and neighbours, 3 per triangle each; walls[triangle] gets bit k if edge k is on a segment.
void write_triangles(const Result &result, int32 *corners, int32 *neighbours, Table<uint8> &walls) {
    constexpr size_t FAR = 16;
    const Plane &plane = result.delaunay.plane;
    const Table<HalfEdge> &ordered = result.numbering.faces;
    const bool divided = !result.segments->given().empty();
    if (divided)
        walls.resize(ordered.size());
    share_indices(result.threads, ordered.size(), [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            if (i % FACES_AT_ONCE == 0)
                host::stop_point();
            if (i + FAR < end) {
                prefetch(&plane.faces[face_of(ordered[i + FAR])]);
                if (divided)
                    prefetch(&plane.segment_at[ordered[i + FAR] & ~3]);
            }
            const int32 face = face_of(ordered[i]);
            int wall = 0;
            for (int turn = 0, k = edge_of(ordered[i]); turn < 3; ++turn, k = next_corner(k)) {
                corners[3 * i + turn] = result.number(plane.faces[face].vertex[k]);
                neighbours[3 * i + turn] = result.numbering.triangle(face_of(plane.faces[face].twin[k]));
                wall |= int(divided && plane.segment_at[half_edge(face, k)] != NOTHING) << turn;
            }
            if (divided)
                walls[i] = uint8(wall);
        }
    });
}

// Writes the vertex that represents each point, unless no points are equal, and the vertices of the hull.
void write_points(const Result &result, int32 *same_as, int32 *hull) {
    const Plane &plane = result.delaunay.plane;
    const Table<int32> &vertex_of = result.delaunay.vertex_of;
    if (result.has_duplicates)
        share_indices(result.threads, vertex_of.size(), [&](size_t begin, size_t end) {
            for (size_t point = begin; point < end; ++point)
                same_as[point] = result.number(vertex_of[point]);
        });
    const int pieces = pieces_for(result.threads);
    std::vector<std::vector<int32>> met(pieces);
    share_out(
        result.threads, pieces,
        [&](int piece) {
            const Share share = share_of(plane.faces.size(), piece, pieces);
            for (size_t face = share.begin; face < share.end; ++face)
                if (result.numbering.of[face] == NOTHING)
                    for (int k = 0; k < 3; ++k)
                        if (plane.faces[face].vertex[k] == GHOST)
                            met[piece].push_back(result.number(plane.faces[face].vertex[next_corner(k)]));
        },
        plane.faces.size());
    for (const std::vector<int32> &vertices : met)
        hull = std::copy(vertices.begin(), vertices.end(), hull);
}

// Writes ends (2), segment, labels and half-edges on the left and on the right: 7 numbers per piece.
void write_pieces(const Result &result, const int32 *labels, int32 *pieces) {
    share_indices(result.threads, result.pieces.size(), [&](size_t begin, size_t end) {
        int32 *number = pieces + 7 * begin;
        for (size_t i = begin; i < end; ++i) {
            const SegmentPiece &piece = result.pieces[i];
            for (int32 entry :
                 {result.number(piece.from), result.number(piece.to), piece.segment,
                  result.label_of(face_of(piece.left_side), labels), result.label_of(face_of(piece.right_side), labels),
                  result.numbering.half_edge(piece.left_side), result.numbering.half_edge(piece.right_side)})
                *number++ = entry;
        }
    });
}

} // namespace

// Corners and neighbours (3 per triangle each) and labels (1); pieces (7, see write_pieces); coordinates of new
// vertices; conflicts (kind, first, second, vertex); by point, the one that represents it, if any are equal; the
// vertices of the convex hull; the least and the largest label. Returns the status.
extern "C" int32 dmr_triangulation_arrays(const void *handle, int32 *corners, int32 *neighbours, int32 *labels,
                                          int32 *pieces, float64 *places, int32 *conflicts, int32 *same_as, int32 *hull,
                                          int32 *label_range) {
    const Result &result = *static_cast<const Result *>(handle);
    const Plane &plane = result.delaunay.plane;
    int32 status = DONE;
    host::interruptible([&](host::Call &) {
        try {
            Table<uint8> walls;
            write_triangles(result, corners, neighbours, walls);
            const Labels used = result.flood(neighbours, walls, labels);
            label_range[0] = used.least;
            label_range[1] = used.largest;
            write_pieces(result, labels, pieces);
            write_points(result, same_as, hull);
        } catch (const host::Interrupted &) {
            status = INTERRUPTED;
        } catch (const std::bad_alloc &) {
            status = NO_MEMORY;
        }
    });
    if (status != DONE)
        return status;
    const bool crossed = plane.points.size() > size_t(result.given);
    for (size_t vertex = 0; crossed && vertex < plane.points.size(); ++vertex)
        if (const int32 fresh = result.number(int32(vertex)) - result.given; fresh >= 0) {
            places[2 * fresh] = plane.points[vertex].x;
            places[2 * fresh + 1] = plane.points[vertex].y;
        }
    for (const Found &found : result.segments->conflicts) {
        *conflicts++ = found.kind;
        *conflicts++ = found.first;
        *conflicts++ = found.second;
        *conflicts++ = result.number(found.vertex);
    }
    return DONE;
}

// The labels of the parts that contain the points; ON_SEGMENT for points on a segment. `part_labels` are those of the
// triangles.
extern "C" void dmr_triangulation_locate(const void *handle, const int32 *part_labels, const float64 *points,
                                         int32 count, int32 *labels) {
    const Result &result = *static_cast<const Result *>(handle);
    for (int32 i = 0; i < count; ++i)
        labels[i] = result.label_at({points[2 * i], points[2 * i + 1]}, part_labels);
}
