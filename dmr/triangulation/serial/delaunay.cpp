#include "delaunay.hpp"

#include <algorithm>

#include "threads.hpp"

namespace triangulation {

namespace {

// ---- Insertion order ----------------------------------------------------------------------------------------------
//
// A biased randomised insertion order (Amenta, Choi and Rote 2003): rounds that grow geometrically, each a random
// sample of the remaining points, sorted along a Hilbert curve within a round. The curve makes walks short and memory
// accesses local; the rounds make the expected work O(n log n) for any distribution of the points.

constexpr int ROUND_BITS = 3; // each round has 2^ROUND_BITS times as many points as all rounds before it
constexpr uint32 LAST_ROUND = 8;
constexpr int FINE = 30;                   // levels of the curve within a cell of the coarse one
constexpr size_t POINTS_AT_ONCE = 1 << 10; // points between two stop points
constexpr size_t FEWEST_POINTS = 1 << 12;  // of a round, per thread, that are worth several threads

// A bijective mixer.
uint64 mixed(uint64 x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

// The round of a point, pseudo-random bits from its coordinates: equal points are in the same round, so that the one
// with the lowest number comes first. (x + 0.0 is x, or 0.0 for -0.0.)
uint32 round_of(Point p) {
    uint64 bits = mixed(mixed(bits_of(p.x + 0.0)) + bits_of(p.y + 0.0));
    uint32 round = LAST_ROUND;
    while (round > 0 && (bits & ((1u << ROUND_BITS) - 1)) == 0) {
        bits >>= ROUND_BITS;
        --round;
    }
    return round;
}

// The places of points along the curve, in the order of insertion; `ends` gets the turns where rounds end.
std::vector<int32> insertion_order(const std::vector<Place> &along, const CurveSquare &square, const Point *points,
                                   int threads, std::vector<size_t> &ends) {
    std::vector<uint8> round(along.size()); // by point
    on_threads(threads, [&](int k) {
        const Share share = share_of(along.size(), k, threads);
        for (size_t point = share.begin; point < share.end; ++point)
            round[point] = uint8(round_of(points[point]));
    });
    size_t starts[LAST_ROUND + 2] = {0};
    for (const uint8 number : round)
        ++starts[number + 1];
    for (uint32 r = 0; r < LAST_ROUND; ++r)
        starts[r + 1] += starts[r];
    host::stop_point();
    std::vector<int32> order(along.size());
    for (size_t i = 0; i < along.size(); ++i)
        order[starts[round[along[i].point]]++] = int32(i);
    ends.assign(starts, starts + LAST_ROUND + 1);
    // Where several points share a cell of the curve, they are sorted along a finer one, so that nested clusters are in
    // order, too.
    std::vector<std::pair<uint64, int32>> crowd;
    for (size_t first = 0, end = 0; first < order.size(); first = end) {
        for (end = first + 1; end < order.size() && along[order[end]].key == along[order[first]].key;)
            ++end;
        if (end - first < 3)
            continue;
        host::stop_point();
        crowd.clear();
        for (size_t i = first; i < end; ++i)
            crowd.push_back({curve_position(square, points[along[order[i]].point], FINE), order[i]});
        std::sort(crowd.begin(), crowd.end());
        for (size_t i = first; i < end; ++i)
            order[i] = crowd[i - first].second;
    }
    return order;
}

// ---- Insertion ----------------------------------------------------------------------------------------------------

using uint16 = std::uint16_t;

constexpr int32 DEFERRED = -2; // the outcome for a point whose cavity reaches beyond a section

// A stack of which g++ inlines `push` wherever it is used; it does not inline std::vector::push_back.
template <class T> class Stack {
  public:
    int32 size() const { return size_; }
    void clear() { size_ = 0; }
    T pop() { return entries_[--size_]; }
    T &operator[](int32 i) { return entries_[i]; }

    INLINED void push(T entry) {
        if (size_t(size_) == entries_.size())
            grow();
        entries_[size_++] = entry;
    }

  private:
    [[gnu::noinline]] void grow() { entries_.resize(2 * entries_.size()); }

    std::vector<T> entries_ = std::vector<T>(64);
    int32 size_ = 0;
};

// Inserts points into a plane, or if it is DIVIDED one thread's points into its section of the plane (see
// insert_round).
template <bool DIVIDED> class Builder {
  public:
    // `sections`: by vertex, if the plane is divided.
    explicit Builder(Plane &plane, const uint16 *sections = nullptr, uint16 section = 0)
        : plane_(plane), sections_(sections), section_(section) {}

    // Makes the first triangle and the three ghosts around it.
    void start(int32 a, int32 b, int32 c) {
        if (plane_.side(a, b, plane_.points[c]) < 0)
            std::swap(b, c);
        plane_.faces = {{{a, b, c}, {half_edge(1, 2), half_edge(2, 2), half_edge(3, 2)}},
                        {{c, b, GHOST}, {half_edge(3, 1), half_edge(2, 0), half_edge(0, 0)}},
                        {{a, c, GHOST}, {half_edge(1, 1), half_edge(3, 0), half_edge(0, 1)}},
                        {{b, a, GHOST}, {half_edge(2, 1), half_edge(1, 0), half_edge(0, 2)}}};
        last_ = 0;
    }

    // Where the search for the next point starts: a triangle that is probably near it, in the builder's section.
    int32 last() const { return last_; }
    // A face that meanwhile holds a ghost stands for the triangle beside it.
    void start_at(int32 face) {
        for (int k = 0; k < 3; ++k)
            if (plane_.faces[face].vertex[k] == GHOST) {
                face = face_of(plane_.faces[face].twin[k]);
                break;
            }
        last_ = owns(face) ? face : NOTHING;
    }

    // Faces that new ones take, the last one first. If there are none, the plane grows.
    std::vector<int32> &spare() { return spare_; }

    // Inserts vertex v, or returns the vertex with the same coordinates, or DEFERRED.
    int32 insert(int32 v) {
        if (DIVIDED && last_ == NOTHING)
            return DEFERRED;
        const Point p = plane_.points[v];
        const int32 root = plane_.locate_within(last_, p, walked_, [this](int32 face) { return owns(face); });
        if (root == NOTHING)
            return DEFERRED;
        if (!plane_.is_ghost(root))
            for (int32 corner : plane_.faces[root].vertex)
                if (same_place(plane_.points[corner], p))
                    return corner;
        if (!grow(root, plane_.numbered(v)))
            return DEFERRED;
        fill(v);
        return v;
    }

    // Whether all vertices of a face are in the builder's section. Each face has at least two that are no ghosts, so it
    // belongs to one section at most.
    bool owns(int32 face) const {
        if (DIVIDED)
            for (int32 vertex : plane_.faces[face].vertex)
                if (vertex != GHOST && sections_[vertex] != section_)
                    return false;
        return true;
    }

  private:
    struct BoundaryEdge {
        int32 from;
        HalfEdge outside;
    };

    // Grows the cavity of p: the faces in conflict, found by a walk over a tree that visits the cavity boundary
    // counter-clockwise (see cuda_src/refine/cavity/cavity.cuh). Returns false if it or a neighbour is not owned.
    INLINED bool grow(int32 root, Numbered p) {
        members_.clear();
        members_.push(root);
        rim_.clear();
        for (int k = 2; k >= 0; --k)
            pending_.push(half_edge(root, k));
        while (pending_.size() > 0) {
            const HalfEdge inside = pending_.pop(), outside = plane_.twin(inside);
            if (!owns(face_of(outside))) {
                pending_.clear();
                return false;
            }
            if (plane_.in_conflict(face_of(outside), p)) {
                members_.push(face_of(outside));
                pending_.push(previous(outside));
                pending_.push(next(outside));
            } else {
                rim_.push({plane_.from(inside), outside});
            }
        }
        return true;
    }

    // Fills the cavity with a fan around v, which has two more faces.
    INLINED void fill(int32 v) {
        const int32 count = rim_.size();
        if (spare_.empty()) {
            const int32 fresh = int32(plane_.faces.size());
            plane_.faces.resize(fresh + 2);
            members_.push(fresh);
            members_.push(fresh + 1);
        } else { // their number is even, as each point needs two
            for (int turn = 0; turn < 2; ++turn) {
                members_.push(spare_.back());
                spare_.pop_back();
            }
        }
        for (int32 j = 0; j < count; ++j) {
            const int32 after = j + 1 == count ? 0 : j + 1, before = j == 0 ? count - 1 : j - 1;
            const int32 face = members_[j], u = rim_[j].from, w = rim_[after].from;
            const HalfEdge outside = rim_[j].outside;
            plane_.faces[face] = {{v, u, w}, {outside, half_edge(members_[after], 2), half_edge(members_[before], 1)}};
            plane_.faces[face_of(outside)].twin[edge_of(outside)] = half_edge(face, 0);
            if (u != GHOST && w != GHOST)
                last_ = face;
        }
    }

    Plane &plane_;
    const uint16 *sections_;
    const uint16 section_;
    int32 last_ = 0;
    uint32 walked_ = 1;
    std::vector<int32> spare_;
    Stack<int32> members_;
    Stack<BoundaryEdge> rim_;
    Stack<HalfEdge> pending_;
};

// The points of a triangulation in the order of insertion: the vertex of each turn has the number of the turn.
struct Insertion {
    const Point *points;
    const std::vector<Place> &along;
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
    template <class Skips> void insert(Builder<false> &builder, size_t begin, size_t end, const Skips &skips) {
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
    // The curve through them is cut into as many sections, and each vertex belongs to one, by its place on the curve. A
    // thread changes only faces all of whose vertices are in its section, and needs no locks: faces with vertices of
    // two sections are changed by nobody, and those of another section are never reached, as they lie behind them.
    // Points that would change other faces are inserted afterwards. They are few, those in a seam between sections,
    // because earlier rounds have filled the plane with vertices. The triangulation is unique, so it does not matter
    // who inserts a point when; but of equal points the one with the lowest number must come first, so all points of a
    // cell of the curve are in one section, and those after a deferred one are deferred, too.
    void insert_round(Builder<false> &builder, size_t begin, size_t end, int threads) {
        Plane &plane = result.plane;
        std::vector<size_t> cuts(threads + 1, end);
        cuts[0] = begin;
        for (int k = 1; k < threads; ++k) {
            size_t cut = std::max(cuts[k - 1], begin + share_of(end - begin, k, threads).begin);
            while (cut < end && cut > begin && key_at(cut) == key_at(cut - 1))
                ++cut;
            cuts[k] = cut;
        }
        std::vector<uint16> sections(end);
        std::vector<int32> starts; // places on the curve
        for (int k = 1; k < threads; ++k)
            starts.push_back(cuts[k] < end ? result.rank[cuts[k]] : int32(along.size()));
        plane.faces.resize(plane.faces.size() + 2 * (end - begin));
        const int32 free_faces = int32(plane.faces.size() - 2 * (end - begin));
        on_threads(threads, [&](int k) {
            const Share old = share_of(begin, k, threads);
            for (size_t vertex = old.begin; vertex < old.end; ++vertex)
                sections[vertex] =
                    uint16(std::upper_bound(starts.begin(), starts.end(), result.rank[vertex]) - starts.begin());
        });
        std::vector<Builder<true>> builders;
        for (int k = 0; k < threads; ++k)
            builders.emplace_back(plane, sections.data(), uint16(k));
        // A face that a section owns always holds a triangle or ghost of the section, so the search can start there.
        struct Seed {
            size_t turn;
            int32 face;
        };
        std::vector<std::vector<Seed>> seeds(threads);
        int32 near = builder.last();
        for (int k = 0; k < threads; ++k)
            for (size_t turn = cuts[k]; turn < cuts[k + 1]; turn += (cuts[k + 1] - cuts[k]) / SEEDS + 1) {
                const int32 face = plane.locate(near, points[point_at(turn)]);
                if (plane.is_ghost(face))
                    continue;
                near = face;
                if (builders[k].owns(face))
                    seeds[k].push_back({turn, face});
            }
        std::vector<std::vector<size_t>> deferred(threads);
        on_threads(threads, [&](int k) {
            std::vector<int32> &spare = builders[k].spare();
            for (size_t turn = cuts[k + 1]; turn-- > cuts[k];)
                for (int32 face : {1, 0})
                    spare.push_back(free_faces + 2 * int32(turn - begin) + face);
            uint32 left_out = 0;
            size_t seed = 0;
            bool lost = true; // whether the last search failed
            for (size_t turn = cuts[k]; turn < cuts[k + 1]; ++turn) {
                if (turn % POINTS_AT_ONCE == 0)
                    host::stop_point();
                look_ahead(turn, cuts[k + 1]);
                make_vertex(turn);
                sections[turn] = uint16(k);
                if (seed < seeds[k].size() && seeds[k][seed].turn == turn) {
                    if (lost)
                        builders[k].start_at(seeds[k][seed].face);
                    ++seed;
                }
                const bool same_cell = !deferred[k].empty() && key_at(turn) == left_out;
                const int32 found = seed > 0 && !same_cell ? builders[k].insert(int32(turn)) : DEFERRED;
                lost = found == DEFERRED;
                if (lost) {
                    deferred[k].push_back(turn);
                    left_out = key_at(turn);
                } else {
                    result.vertex_of[point_at(turn)] = found;
                }
            }
        });
        for (int k = 0; k < threads; ++k) {
            builder.spare().insert(builder.spare().end(), builders[k].spare().begin(), builders[k].spare().end());
            builder.start_at(seeds[k].empty() ? near : builders[k].last());
            for (const size_t turn : deferred[k])
                result.vertex_of[point_at(turn)] = builder.insert(int32(turn));
        }
    }

    static constexpr size_t SEEDS = 128; // of a section, at most: places where the search for points starts again
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
    result.vertex_of.assign(count, NOTHING);
    if (count == 0)
        return result;
    result.square = square_around(points, count);
    const std::vector<Place> along = curve_order(result.square, points, count, threads);
    std::vector<size_t> ends; // of the rounds
    result.rank = insertion_order(along, result.square, points, threads, ends);
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
    Builder<false> builder(result.plane);
    builder.start(0, int32(second), int32(third));
    size_t begin = 1;
    for (const size_t end : ends) { // the round of the third point, and all before it, are one thread's
        const bool divided = threads > 1 && begin > third && end - begin >= FEWEST_POINTS * size_t(threads);
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
