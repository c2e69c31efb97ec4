#include "numbering.hpp"

#include <algorithm>

#include "threads.hpp"

namespace triangulation {

namespace {

constexpr size_t AHEAD = 16; // prefetch distance

// By vertex: its place along the curve, if segments cross; their new vertices are sorted among the points.
Table<int32> ranks_with_crossings(const Delaunay &delaunay, int threads) {
    const Plane &plane = delaunay.plane;
    Table<int32> vertex_of = delaunay.vertex_of; // by number
    vertex_of.resize(vertex_of.size() + plane.points.size() - delaunay.rank.size());
    for (size_t vertex = delaunay.rank.size(); vertex < plane.points.size(); ++vertex)
        vertex_of[plane.number[vertex]] = int32(vertex);
    std::vector<Point> points;
    for (const int32 vertex : vertex_of)
        points.push_back(plane.points[vertex]);
    const Table<Place> along = curve_order(delaunay.square, points.data(), int32(points.size()), threads);
    Table<int32> ranks(plane.points.size());
    for (size_t place = along.size(); place-- > 0;) // the first of equal points comes last
        ranks[vertex_of[along[place].point]] = int32(place);
    return ranks;
}

// The corner with the lowest number; NOTHING for a ghost.
int lowest_corner(const Plane &plane, const Face &face) {
    const int32 a = face.vertex[0], b = face.vertex[1], c = face.vertex[2];
    if (a == GHOST || b == GHOST || c == GHOST)
        return NOTHING;
    const int32 of_a = plane.number[a], of_b = plane.number[b], of_c = plane.number[c];
    return of_a < of_b ? (of_a < of_c ? 0 : 2) : (of_b < of_c ? 1 : 2);
}

// A triangle among those with the same lowest vertex.
struct Ordered {
    int32 second; // the number of its second vertex
    HalfEdge at;  // where it begins
};

// The first pass's record of a face that is not a ghost: its lowest corner, and how many triangles with the same
// lowest vertex were counted before.
constexpr int CORNER_BITS = 2;

// Counts a number up, which other threads may do, too; returns what it was.
int32 count_up(int32 &number, int threads) {
    return threads > 1 ? __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED) : number++;
}

} // namespace

Numbering number_faces(const Delaunay &delaunay, int threads) {
    const Plane &plane = delaunay.plane;
    const bool crossed = delaunay.rank.size() != plane.points.size();
    const Table<int32> of_all = crossed ? ranks_with_crossings(delaunay, threads) : Table<int32>();
    const Table<int32> &ranks = crossed ? of_all : delaunay.rank;
    // Counting sort by the rank of the lowest vertex.
    Numbering result;
    result.of.resize(plane.faces.size());
    Table<int32> starts(plane.points.size() + 1);
    share_indices(threads, starts.size(), [&](size_t begin, size_t end) {
        std::fill(starts.begin() + std::ptrdiff_t(begin), starts.begin() + std::ptrdiff_t(end), 0);
    });
    share_indices(threads, plane.faces.size(), [&](size_t begin, size_t end) {
        const Face *const faces = plane.faces.data();
        int32 *const of = result.of.data(), *const counts = starts.data() + 1;
        for (size_t face = begin; face < end; ++face) {
            if (face % FACES_AT_ONCE == 0)
                host::stop_point();
            const int corner = lowest_corner(plane, faces[face]);
            of[face] = corner == NOTHING
                           ? NOTHING
                           : count_up(counts[ranks[faces[face].vertex[corner]]], threads) << CORNER_BITS | corner;
        }
    });
    add_up(threads, starts);
    result.faces.resize(starts.back());
    Table<Ordered> sorted(starts.back());
    share_indices(threads, plane.faces.size(), [&](size_t begin, size_t end) {
        const Face *const faces = plane.faces.data();
        const int32 *const of = result.of.data();
        for (size_t face = begin; face < end; ++face)
            if (of[face] != NOTHING) {
                const int corner = of[face] & ((1 << CORNER_BITS) - 1);
                const int32 *const vertex = faces[face].vertex;
                sorted[starts[ranks[vertex[corner]]] + (of[face] >> CORNER_BITS)] = {
                    plane.number[vertex[next_corner(corner)]], half_edge(int32(face), corner)};
            }
    });
    const auto earlier = [](const Ordered &one, const Ordered &other) { return one.second < other.second; };
    share_indices(threads, starts.size() - 1, [&](size_t first_rank, size_t end_rank) {
        const size_t last = starts[end_rank]; // the triangles after it are another thread's
        Ordered *const triangles = sorted.data();
        for (size_t rank = first_rank, begin = starts[rank]; rank < end_rank; ++rank) {
            const size_t end = starts[rank + 1];
            if (end + AHEAD < last)
                prefetch(&result.of[face_of(triangles[end + AHEAD].at)]);
            if (end == begin + 2 && earlier(triangles[begin + 1], triangles[begin]))
                std::swap(triangles[begin], triangles[begin + 1]);
            else if (end > begin + 2)
                std::sort(triangles + begin, triangles + end, earlier);
            for (; begin < end; ++begin) {
                const HalfEdge at = triangles[begin].at;
                result.faces[begin] = at;
                result.of[face_of(at)] = half_edge(int32(begin), edge_of(at));
            }
        }
    });
    return result;
}

} // namespace triangulation
