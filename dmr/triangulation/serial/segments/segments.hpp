// Inserts segments into a Delaunay triangulation, which makes it a constrained one.
//
// A segment is walked from one end to the other, and the faces that it crosses are replaced (strip.hpp). Obstacles on
// the way are conflicts of the input, and are resolved: at a vertex on it the segment is split; where it crosses
// another one both are split, at a new vertex; where it runs along another one the two share the edge.
//
// A crossing's vertex has rounded coordinates, so segments that cross are bent slightly. Vertices that they would be
// bent across would end up on the wrong side: so the segments pass through them instead, as in snap rounding (Hobby,
// "Practical segment intersection with finite precision output", 1999), but only where necessary. All of this happens
// within 1.5 units in the last place of a segment's coordinates. Segments that cross no others stay as they are.
#pragma once

#include <atomic>
#include <unordered_map>

#include "strip.hpp"

namespace triangulation {

struct Segment {
    int32 from, to; // vertices
    int32 marker;
};

enum Conflict : int32 {
    VERTEX_ON_SEGMENT = 0, // first: the segment; vertex: the first one on it
    OVERLAP = 1,           // first, second: segments; vertex: one on both
    CROSSING = 2,          // first, second: segments; vertex: the crossing
    DEGENERATE = 3,        // first: a segment whose two ends are the same vertex
};

// A vertex within this many units in the last place of a crossing, and within reach of both segments, replaces it:
// where several segments meet nearly in one point there should be one vertex, not a cluster of them.
constexpr float64 NEAR = 4.0;

struct Found {
    int32 kind, first, second, vertex;
};

// Of two segments that share an edge, the one to which it belongs: the first (by number) that has a marker, or the
// first if none has one.
inline int32 owner_of_both(const std::vector<Segment> &segments, int32 one, int32 other) {
    const bool marked = segments[one].marker != 0, other_marked = segments[other].marker != 0;
    if (marked != other_marked)
        return marked ? one : other;
    return one < other ? one : other;
}

// Whether conflicts among segments are resolved while they are inserted, in one fixed order and by one thread, or
// reported.
enum class OnMeeting { RESOLVE, REPORT };

// Thrown where two segments cross or overlap, if that is to be reported.
struct Meeting {};

// Segments entangled by rounded crossings: they cross again wherever they are split.
struct Tangled {
    int32 first, second;
};

class Segments {
  public:
    struct Piece {
        int32 from, to, segment;
    };

    // `points`: how many the user has given; the vertices at crossings are numbered from there.
    Segments(Plane &plane, std::vector<Segment> segments, int32 points, int threads, OnMeeting on_meeting);

    // Inserts all segments. Throws `Tangled`, std::logic_error if the triangulation is broken, and `Meeting`; the
    // triangulation is then unfinished. rank: by vertex, its place along the curve.
    void insert_all(const Table<int32> &rank);

    // The pieces between the vertices on the segments, as they were before any was inserted.
    std::vector<Piece> straight_pieces() const;

    // If the inserted segments are parts of others: puts these in their place. Returns false if rounding has bent a
    // part across a vertex. whole: the other segments; of: by part, its segment; crosses: by segment, whether rounding
    // may have bent it.
    bool join_parts(std::vector<Segment> whole, const std::vector<int32> &of, const std::vector<uint8> &crosses);

    // Whether an edge at the vertex is part of a segment.
    bool is_on_segment(int32 vertex) const;

    const std::vector<Segment> &given() const { return segments_; }

    std::vector<Found> conflicts;

  private:
    // The segments that cross at a new vertex.
    struct Crossed {
        int32 low, high;
    };
    // A piece between two vertices, and its half-edge; NOTHING if it is not an edge yet.
    struct Way {
        Piece piece;
        HalfEdge edge;
    };
    void split_at_vertices(int32 segment, std::vector<Way> &ways) const;
    void note(const Way &way);
    void insert_by_threads(const Table<int32> &rank);
    template <class PartOf, class OwnerOf>
    std::vector<Piece> insert_parts(const std::vector<Piece> &pieces, int parts, const PartOf &part_of,
                                    const OwnerOf &owner_of);
    [[noreturn]] void report_meeting();
    template <class Owner> bool insert_within(Strip &strip, const Owner &owner, const Piece &piece);
    void insert(const Piece &piece);
    HalfEdge cross(const Piece &piece, HalfEdge first);
    void constrain_or_route(const Piece &piece, HalfEdge edge);
    void constrain(HalfEdge h, int32 segment);
    void route(const Piece &piece, int32 vertex);
    void resolve(const Piece &piece, HalfEdge barrier);
    int32 insert_vertex(Point p, int32 near, Crossed crossed);
    void number_crossings();
    void split_face(int32 face, int32 vertex);
    void split_edge(HalfEdge h, int32 vertex);
    void restore_delaunay();
    void legalise(std::vector<HalfEdge> suspects);
    void flip(HalfEdge h);
    int32 add_face();
    bool on_line(int32 segment, int32 vertex) const;
    float64 ulp(int32 segment) const;
    bool within_reach(int32 segment, Point p) const;
    int along(int32 segment, Point p, Point q) const;
    bool between(const Piece &piece, Point p) const;
    bool leads_through(const Piece &piece, int32 vertex) const;
    bool segments_cross(int32 first, int32 second) const;
    int32 meeting_vertex(const Piece &piece, const Piece &other, HalfEdge edge, Point p, float64 radius) const;

    Plane &plane_;
    std::vector<Segment> segments_;
    int32 first_number_;                           // of new vertices
    std::vector<Crossed> inserted_;                // by new vertex
    std::vector<Piece> waiting_;                   // a stack of pieces to insert
    std::vector<bool> bent_;                       // by segment: whether its vertices may lie beside it
    std::unordered_map<uint64, int32> times_tied_; // by pair of segments

    const int threads_;
    const OnMeeting on_meeting_;
    std::vector<std::vector<Way>> ways_; // in the order of the segments
    std::atomic<bool> meeting_{false};   // whether a thread has found one
    Strip strip_{plane_};
};

} // namespace triangulation
