// The C interface of the triangulation (dmr/triangulation/native.py).
#include <algorithm>
#include <new>

#include "portable/host_pool.hpp"
#include "result.hpp"
#include "threads.hpp"

using namespace triangulation;

// The version of these functions (INTERFACE of dmr/triangulation/bindings.py): it is incremented when arguments change.
extern "C" int32 dmr_triangulation_interface() { return 6; }

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
// vertices of the convex hull; the least and the largest label; if there are no new vertices, the points along the
// curve. Returns the status.
extern "C" int32 dmr_triangulation_arrays(const void *handle, int32 *corners, int32 *neighbours, int32 *labels,
                                          int32 *pieces, float64 *places, int32 *conflicts, int32 *same_as, int32 *hull,
                                          int32 *label_range, int32 *along) {
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
    if (!crossed)
        std::copy(result.delaunay.along.begin(), result.delaunay.along.end(), along);
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
