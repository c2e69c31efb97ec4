#include "delaunay.hpp"

#include <algorithm>
#include <cmath>

#include "builder.hpp"
#include "threads.hpp"

namespace triangulation {

namespace {

constexpr size_t POINTS_AT_ONCE = 1 << 10; // points between two stop points
constexpr size_t FEWEST_POINTS = 1 << 13;  // of a section
constexpr size_t FEWEST_DEFERRED = 1 << 9; // of a strip
constexpr float64 VERTICES_ACROSS = 16;    // a strip, at least, before the round: else most of its points are in a seam
constexpr size_t SEEDS = 128;              // of a section, at most: places where the search for points starts again

// A point that is still to be inserted, by its turn, and a face near it.
struct Waiting {
    size_t turn;
    int32 near;
    bool seen; // whether the builder that is to insert the point may look at the face
};

// The points of a triangulation in the order of insertion: the vertex of each turn has the number of the turn.
struct Insertion {
    const Point *points;
    const Table<Place> &along;
    Delaunay &result;

    int32 point_at(size_t turn) const { return along[result.rank[turn]].point; }
    uint32 key_at(size_t turn) const { return along[result.rank[turn]].key; }

    void make_vertex(size_t turn) {
        const int32 point = point_at(turn);
        result.plane.points[turn] = points[point];
        result.plane.number[turn] = point;
        result.vertex_of[point] = int32(turn);
    }

    void look_ahead(size_t turn, size_t end) const { // in memory, points are in the user's order
        constexpr size_t AHEAD = 16;
        if (turn + AHEAD < end)
            prefetch(&points[point_at(turn + AHEAD)]);
    }

    // Inserts the points of the turns [begin, end), of which `skips(turn)` are in the plane already. A duplicate has
    // the vertex of the point that is there, which has a lower number.
    template <class Skips> void insert(Builder<Everything> &builder, size_t begin, size_t end, const Skips &skips) {
        for (size_t turn = begin; turn < end; ++turn) {
            if (skips(turn))
                continue;
            if (turn % POINTS_AT_ONCE == 0)
                host::stop_point();
            look_ahead(turn, end);
            make_vertex(turn);
            result.vertex_of[point_at(turn)] = builder.insert(int32(turn));
        }
    }

    // Inserts the points of the turns [begin, end), one round of the order, by several threads.
    //
    // Vertices are divided among builders, each of which changes only faces all of whose vertices are its own. They
    // need no locks: faces with vertices of two builders are changed by nobody, and no builder looks at a face without
    // a vertex of its own. Points that would change other faces are deferred. They are few, those in a seam, because
    // earlier rounds have filled the plane with vertices. First the vertices are divided by their places on the curve,
    // then by strips that cross the seams, in several directions in turn; the few points that remain are inserted by
    // one thread.
    //
    // The triangulation is unique, so it does not matter who inserts a point when. But of equal points the one with the
    // lowest number must come first: all of them have the same builder, and those after a deferred one are deferred.
    void insert_round(Builder<Everything> &builder, size_t begin, size_t end, int threads) {
        const size_t most = size_t(std::max(PER_THREAD * threads, FEWEST_SECTIONS));
        const int sections = int(std::min(most, (end - begin) / FEWEST_POINTS));
        std::vector<Waiting> deferred = insert_sections(builder, begin, end, sections, threads);
        const size_t widest = size_t(std::sqrt(float64(begin)) / VERTICES_ACROSS); // as if vertices were spread evenly
        for (const Point across : ACROSS)
            if (const int strips = int(std::min({most, widest, deferred.size() / FEWEST_DEFERRED})); strips > 1)
                deferred = insert_strips(builder, deferred, across, strips, threads);
        for (const Waiting &waiting : deferred) {
            builder.start_at(waiting.near);
            result.vertex_of[point_at(waiting.turn)] = builder.insert(int32(waiting.turn));
        }
    }

    // Cuts the curve through the points of a round into sections, and inserts the points of each one. Returns those
    // that are deferred.
    std::vector<Waiting> insert_sections(Builder<Everything> &builder, size_t begin, size_t end, int sections,
                                         int threads) {
        Plane &plane = result.plane;
        const std::vector<size_t> cuts =
            cut_between(begin, end, sections, [&](size_t turn) { return key_at(turn) == key_at(turn - 1); });
        Table<uint16> section_of(end);
        std::vector<int32> starts; // places on the curve
        for (int k = 1; k < sections; ++k)
            starts.push_back(cuts[k] < end ? result.rank[cuts[k]] : int32(along.size()));
        share_indices(threads, begin, [&](size_t first, size_t last) {
            for (size_t vertex = first; vertex < last; ++vertex)
                section_of[vertex] =
                    uint16(std::upper_bound(starts.begin(), starts.end(), result.rank[vertex]) - starts.begin());
        });
        std::vector<std::vector<Waiting>> seeds(sections);
        share_out(threads, sections,
                  [&](int k) { seeds[k] = seeds_of({section_of.data(), uint16(k)}, cuts[k], cuts[k + 1]); });
        const int32 free_faces = int32(plane.faces.size());
        plane.faces.resize(plane.faces.size() + 2 * (end - begin));
        std::vector<std::vector<Waiting>> deferred(sections);
        std::vector<std::vector<int32>> spare(sections);
        share_out(threads, sections, [&](int k) {
            Builder<InSection> own(plane, {section_of.data(), uint16(k)});
            for (size_t turn = cuts[k + 1]; turn-- > cuts[k];)
                for (int32 face : {1, 0})
                    own.spare().push_back(free_faces + 2 * int32(turn - begin) + face);
            auto seed = seeds[k].begin();
            int32 near = 0;
            bool lost = true; // whether the last point was deferred
            for (size_t turn = cuts[k]; turn < cuts[k + 1]; ++turn) {
                if (turn % POINTS_AT_ONCE == 0)
                    host::stop_point();
                look_ahead(turn, cuts[k + 1]);
                make_vertex(turn);
                section_of[turn] = uint16(k);
                if (seed != seeds[k].end() && seed->turn == turn) {
                    if (lost && seed->seen)
                        own.start_at(seed->near);
                    near = seed++->near;
                }
                lost = !insert_or_defer(own, turn, near, deferred[k]);
            }
            spare[k] = std::move(own.spare());
        });
        return joined(builder, deferred, spare);
    }

    // Faces near some points of a section, the first one included. A builder that may look at one may do so later, too.
    std::vector<Waiting> seeds_of(const InSection &section, size_t begin, size_t end) const {
        const Builder<InSection> own(result.plane, section);
        std::vector<Waiting> seeds;
        int32 near = 0;
        for (size_t turn = begin; turn < end; turn += (end - begin) / SEEDS + 1) {
            near = result.plane.locate(result.plane.triangle_at(near), points[point_at(turn)]);
            seeds.push_back({turn, near, own.sees(near)});
        }
        return seeds;
    }

    // Divides the plane into strips with equal numbers of deferred points, and inserts these. Returns those that are
    // deferred again.
    std::vector<Waiting> insert_strips(Builder<Everything> &builder, const std::vector<Waiting> &waiting, Point across,
                                       int strips, int threads) {
        Plane &plane = result.plane;
        const auto height = [&](const Waiting &one) { return InStrip::height(across, plane.points[one.turn]); };
        const std::vector<float64> bounds =
            bounds_of_strips(strips, waiting.size(), [&](size_t i) { return height(waiting[i]); });
        std::vector<std::vector<Waiting>> given(strips), deferred(strips);
        for (const Waiting &one : waiting)
            given[strip_of(bounds, height(one))].push_back(one);
        std::vector<std::vector<int32>> spare(strips);
        for (int k = 0; k < strips; ++k) {
            const auto first = builder.spare().end() - std::ptrdiff_t(2 * given[k].size());
            spare[k].assign(first, builder.spare().end());
            builder.spare().erase(first, builder.spare().end());
        }
        share_out(threads, strips, [&](int k) { // before anything changes
            const Builder<InStrip> own(plane, {plane.points.data(), across, bounds[k], bounds[k + 1]});
            for (Waiting &one : given[k]) {
                one.near = plane.locate(plane.triangle_at(one.near), plane.points[one.turn]);
                one.seen = own.sees(one.near);
            }
        });
        share_out(threads, strips, [&](int k) {
            Builder<InStrip> own(plane, {plane.points.data(), across, bounds[k], bounds[k + 1]});
            own.spare() = std::move(spare[k]);
            for (const Waiting &one : given[k]) {
                host::stop_point();
                if (one.seen) {
                    own.start_at(one.near);
                    insert_or_defer(own, one.turn, one.near, deferred[k]);
                } else {
                    deferred[k].push_back(one);
                }
            }
            spare[k] = std::move(own.spare());
        });
        return joined(builder, deferred, spare);
    }

    // Inserts a point unless it must be deferred; returns whether it is inserted. `near`: a face, if the builder knows
    // no nearer one.
    template <class Owner>
    bool insert_or_defer(Builder<Owner> &own, size_t turn, int32 near, std::vector<Waiting> &deferred) {
        const bool follows = !deferred.empty() && key_at(deferred.back().turn) == key_at(turn);
        const int32 found = follows ? DEFERRED : own.insert(int32(turn));
        if (found == DEFERRED)
            deferred.push_back({turn, own.last() == NOTHING ? near : own.last(), false});
        else
            result.vertex_of[point_at(turn)] = found;
        return found != DEFERRED;
    }

    // Joins the lists of several builders, and leaves their spare faces to another one.
    static std::vector<Waiting> joined(Builder<Everything> &builder, const std::vector<std::vector<Waiting>> &deferred,
                                       const std::vector<std::vector<int32>> &spare) {
        std::vector<Waiting> all;
        for (size_t k = 0; k < deferred.size(); ++k) {
            all.insert(all.end(), deferred[k].begin(), deferred[k].end());
            builder.spare().insert(builder.spare().end(), spare[k].begin(), spare[k].end());
        }
        return all;
    }
};

// Removes faces that are not used, which moves the last ones to their places.
void remove_faces(Plane &plane, std::vector<int32> unused) {
    std::sort(unused.begin(), unused.end());
    for (; !unused.empty(); unused.pop_back()) {
        const int32 hole = unused.back(), last = int32(plane.faces.size()) - 1;
        if (hole != last) {
            plane.faces[hole] = plane.faces[last];
            for (int k = 0; k < 3; ++k)
                plane.faces[face_of(plane.faces[hole].twin[k])].twin[edge_of(plane.faces[hole].twin[k])] =
                    half_edge(hole, k);
        }
        plane.faces.pop_back();
    }
}

} // namespace

Delaunay delaunay(const Point *points, int32 count, int threads) {
    Delaunay result;
    result.vertex_of.resize(count);
    if (count == 0)
        return result;
    result.square = square_around(points, count, threads);
    const Table<Place> along = curve_order(result.square, points, count, threads);
    InsertionOrder order = insertion_order(along, points, threads);
    result.rank = std::move(order.places);
    Insertion insertion{points, along, result};
    // The first three points must span a triangle.
    const size_t n = size_t(count);
    const Point a = points[insertion.point_at(0)];
    size_t second = 1;
    while (second < n && same_place(points[insertion.point_at(second)], a))
        ++second;
    size_t third = second + 1;
    while (third < n && orient2d(a, points[insertion.point_at(second)], points[insertion.point_at(third)]) == 0)
        ++third;
    if (third >= n)
        return result;
    result.plane.points.resize(n);
    result.plane.number.resize(n);
    result.plane.faces.reserve(2 * n + 2);
    for (const size_t turn : {size_t(0), second, third})
        insertion.make_vertex(turn);
    Builder<Everything> builder(result.plane);
    builder.start(0, int32(second), int32(third));
    size_t begin = 1;
    for (const size_t end : order.ends) { // the round of the third point, and all before it, are one thread's
        const bool divided = threads > 1 && begin > third && end - begin >= 2 * FEWEST_POINTS;
        if (divided)
            insertion.insert_round(builder, begin, end, threads);
        else
            insertion.insert(builder, begin, end, [&](size_t turn) { return turn == second || turn == third; });
        begin = std::max(begin, end);
    }
    remove_faces(result.plane, std::move(builder.spare()));
    return result;
}

} // namespace triangulation
