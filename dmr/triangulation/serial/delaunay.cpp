#include "delaunay.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "builder.hpp"
#include "threads.hpp"

namespace triangulation {

namespace {

constexpr size_t POINTS_AT_ONCE = 1 << 10; // points between two stop points
constexpr size_t FEWEST_POINTS = 1 << 12;  // of a section
constexpr size_t FEWEST_DEFERRED = 1 << 9; // of a strip
constexpr float64 VERTICES_ACROSS = 16;    // a strip, at least, before the round: else most of its points are in a seam
constexpr size_t SEEDS = 128;              // of a section: places where the search for points starts again
constexpr size_t FEWEST_LEFT = 1 << 15;    // points of a section that an idle thread shares: 8 ms of one thread

constexpr size_t INDICES_PER_POINT = 32; // inserting or locating a point takes as long as this number of short steps

// A point that is still to be inserted, by its turn, and a face near it.
struct Waiting {
    size_t turn;
    int32 near;
    bool seen; // whether the builder that is to insert the point may look at the face
};

// Turns of a round that are still to come: runs of consecutive ones, in order.
using Turns = std::vector<Share>;

size_t count_of(const Turns &turns) {
    size_t count = 0;
    for (const Share &run : turns)
        count += run.end - run.begin;
    return count;
}

// The turns of `turns` from one of them on.
Turns from_turn(const Turns &turns, size_t first) {
    Turns found;
    for (const Share &run : turns)
        if (first < run.end)
            found.push_back({std::max(first, run.begin), run.end});
    return found;
}

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
    // lowest number must come first. They have consecutive turns and the same builder; those after a deferred one are
    // deferred, too.
    void insert_round(Builder<Everything> &builder, size_t begin, size_t end, int threads) {
        const int32 free_faces = int32(result.plane.faces.size());
        result.plane.faces.resize(result.plane.faces.size() + 2 * (end - begin));
        Round round{begin, end, free_faces, Table<uint16>(end), {{begin, end}}, {}};
        const size_t most = size_t(PER_THREAD * threads);
        while (!round.left.empty())
            insert_sections(builder, round, int(std::min(most, count_of(round.left) / FEWEST_POINTS)), threads);
        std::vector<Waiting> &deferred = round.deferred;
        const size_t widest = size_t(std::sqrt(float64(begin)) / VERTICES_ACROSS); // as if vertices were spread evenly
        for (const Point across : ACROSS)
            if (const int strips = int(std::min({most, widest, deferred.size() / FEWEST_DEFERRED})); strips > 1)
                deferred = insert_strips(builder, deferred, across, strips, threads);
        for (const Waiting &waiting : deferred) {
            builder.start_at(waiting.near);
            result.vertex_of[point_at(waiting.turn)] = builder.insert(int32(waiting.turn));
        }
    }

    // A round that several threads insert.
    struct Round {
        size_t begin, end;
        int32 free_faces;         // the first of two per turn
        Table<uint16> section_of; // by vertex
        Turns left;
        std::vector<Waiting> deferred;

        bool is_begun() const { return count_of(left) != end - begin; }
        int32 face_of_turn(size_t turn) const { return free_faces + 2 * int32(turn - begin); }
    };

    // Divides turns into sections of nearly equal numbers. Points in the same cell of the curve are in one section.
    std::vector<Turns> divided(const Turns &turns, int sections) const {
        std::vector<Turns> parts(sections);
        const size_t all = count_of(turns), count = size_t(sections);
        size_t before = 0;
        for (Share run : turns)
            while (run.begin < run.end) {
                const size_t part = before * count / all;
                size_t cut = std::min(run.end, run.begin + (all * (part + 1) + count - 1) / count - before);
                while (cut < run.end && key_at(cut) == key_at(cut - 1))
                    ++cut;
                parts[part].push_back({run.begin, cut});
                before += cut - run.begin;
                run.begin = cut;
            }
        return parts;
    }

    // Writes the section of each vertex in the plane: the curve is cut where sections begin.
    void find_sections(Round &round, const std::vector<Turns> &parts, int threads) const {
        std::vector<int32> starts(parts.size(), int32(along.size())); // places on the curve
        for (size_t k = parts.size(); k-- > 1;)
            starts[k - 1] = parts[k].empty() ? starts[k] : result.rank[parts[k].front().begin];
        starts.pop_back();
        share_indices(threads, round.is_begun() ? round.end : round.begin, [&](size_t first, size_t last) {
            for (size_t vertex = first; vertex < last; ++vertex)
                round.section_of[vertex] =
                    uint16(std::upper_bound(starts.begin(), starts.end(), result.rank[vertex]) - starts.begin());
        });
    }

    // Cuts the curve through the points that are left into sections, and inserts the points of each one. If a thread
    // finds no section that nobody has begun, those that have many points left end early, and leave them.
    void insert_sections(Builder<Everything> &builder, Round &round, int sections, int threads) {
        Plane &plane = result.plane;
        const std::vector<Turns> parts = divided(round.left, sections);
        find_sections(round, parts, threads);
        const bool is_first = !round.is_begun();
        std::vector<std::vector<Waiting>> seeds(sections), deferred(sections);
        std::vector<std::vector<int32>> spare(sections);
        if (!is_first)
            for (int k = 0; k < sections; ++k)
                spare[k] = taken_from(builder.spare(), 2 * count_of(parts[k]));
        share_out(
            threads, sections,
            [&](int k) { // before anything changes
                seeds[k] = seeds_of({round.section_of.data(), uint16(k)}, parts[k]);
            },
            SEEDS * size_t(sections) * INDICES_PER_POINT);
        std::vector<Turns> left(sections);
        std::atomic<int> begun{0};
        std::atomic<bool> any_idle{false};
        share_out(
            threads, sections,
            [&](int k) {
                ++begun;
                Builder<InSection> own(plane, {round.section_of.data(), uint16(k)});
                own.spare() = std::move(spare[k]);
                if (is_first && !parts[k].empty()) // one run
                    own.give_faces(round.face_of_turn(parts[k].front().begin),
                                   round.face_of_turn(parts[k].front().end));
                left[k] = insert_section(own, round, parts[k], seeds[k], any_idle, deferred[k]);
                spare[k] = own.take_spare();
                if (begun == sections)
                    any_idle = true;
            },
            count_of(round.left) * INDICES_PER_POINT);
        round.left.clear();
        for (const Turns &some : left)
            round.left.insert(round.left.end(), some.begin(), some.end());
        const std::vector<Waiting> all = joined(builder, deferred, spare);
        round.deferred.insert(round.deferred.end(), all.begin(), all.end());
    }

    // Inserts the points of a section. Returns the turns that are left if another thread is idle.
    Turns insert_section(Builder<InSection> &own, Round &round, const Turns &turns, const std::vector<Waiting> &seeds,
                         const std::atomic<bool> &any_idle, std::vector<Waiting> &deferred) {
        auto seed = seeds.begin();
        int32 near = 0;
        bool lost = true; // whether the last point was deferred
        size_t left = count_of(turns);
        for (const Share &run : turns) {
            bool ends = false;
            for (size_t turn = run.begin; turn < run.end; ++turn, --left) {
                if (turn % POINTS_AT_ONCE == 0) {
                    host::stop_point();
                    ends = left >= FEWEST_LEFT && any_idle.load(std::memory_order_relaxed);
                }
                // Equal points are not separated.
                if (ends && (turn == run.begin || key_at(turn) != key_at(turn - 1)))
                    return from_turn(turns, turn);
                look_ahead(turn, run.end);
                make_vertex(turn);
                round.section_of[turn] = own.owner().section;
                if (seed != seeds.end() && seed->turn == turn) {
                    if (lost && seed->seen)
                        own.start_at(seed->near);
                    near = seed++->near;
                }
                lost = !insert_or_defer(own, turn, near, deferred);
            }
        }
        return {};
    }

    // Faces near some points of a section, the first one of each run included. A builder that may look at one may do so
    // later, too.
    std::vector<Waiting> seeds_of(const InSection &section, const Turns &turns) const {
        const Builder<InSection> own(result.plane, section);
        std::vector<Waiting> seeds;
        int32 near = 0;
        const size_t apart = count_of(turns) / SEEDS + 1;
        for (const Share &run : turns)
            for (size_t turn = run.begin; turn < run.end; turn += apart) {
                near = result.plane.locate(result.plane.triangle_at(near), points[point_at(turn)]);
                seeds.push_back({turn, near, own.sees(near)});
            }
        return seeds;
    }

    // Removes the last `count` entries of a list, and returns them.
    static std::vector<int32> taken_from(std::vector<int32> &list, size_t count) {
        const auto first = list.end() - std::ptrdiff_t(count);
        std::vector<int32> taken(first, list.end());
        list.erase(first, list.end());
        return taken;
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
        for (int k = 0; k < strips; ++k)
            spare[k] = taken_from(builder.spare(), 2 * given[k].size());
        share_out(
            threads, strips,
            [&](int k) { // before anything changes
                const Builder<InStrip> own(plane, {plane.points.data(), across, bounds[k], bounds[k + 1]});
                for (Waiting &one : given[k]) {
                    one.near = plane.locate(plane.triangle_at(one.near), plane.points[one.turn]);
                    one.seen = own.sees(one.near);
                }
            },
            waiting.size() * INDICES_PER_POINT);
        share_out(
            threads, strips,
            [&](int k) {
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
                spare[k] = own.take_spare();
            },
            waiting.size() * INDICES_PER_POINT);
        return joined(builder, deferred, spare);
    }

    // Inserts a point unless it must be deferred; returns whether it is inserted. `near`: a face, if the builder knows
    // no nearer one.
    template <class Owner>
    bool insert_or_defer(Builder<Owner> &own, size_t turn, int32 near, std::vector<Waiting> &deferred) {
        const bool follows =
            !deferred.empty() && same_place(result.plane.points[deferred.back().turn], result.plane.points[turn]);
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
    remove_faces(result.plane, builder.take_spare());
    result.along.resize(n);
    share_indices(threads, n, [&](size_t begin, size_t end) {
        for (size_t place = begin; place < end; ++place)
            result.along[place] = along[place].point;
    });
    return result;
}

} // namespace triangulation
