// The result of a triangulation: its plane, pieces of segments, numbers and parts.
#pragma once

#include <memory>
#include <vector>

#include "delaunay.hpp"
#include "numbering.hpp"
#include "segments/segments.hpp"

namespace triangulation {

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

// A piece of a segment, with the segment's direction.
struct SegmentPiece {
    int32 from, to;
    int32 segment;
    HalfEdge left_side, right_side; // of the faces there
    float64 along;                  // position along the segment, if the segment has several pieces
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
    Labels flood(const int32 *neighbours, const Table<uint8> &walls, int32 *labels) const;

    // The label of the part that a face, or a point, is in; `labels` are those of the triangles.
    int32 label_of(int32 face, const int32 *labels) const;
    int32 label_at(Point p, const int32 *labels) const;

    // Lists the pieces.
    void list_pieces();

    // Gives the pieces of one segment its direction, and sorts them along it.
    void direct(const Segment &segment, std::vector<SegmentPiece>::iterator begin,
                std::vector<SegmentPiece>::iterator end) const;

    int32 number(int32 vertex) const { return delaunay.plane.number[vertex]; }

    void insert(std::vector<Segment> given_segments, OnMeeting on_meeting);
    bool find_duplicates() const;
};

// The coordinates for which the predicates are exact: 0, or of these magnitudes; and what the largest must exceed.
struct Range {
    float64 smallest, largest, extent;
};

// Triangulates points and segments, as dmr_triangulation (library.cpp) describes it.
Status triangulate(Result *result, const float64 *points, int32 n, const Range &range, const int32 *ends,
                   const int32 *markers, int32 s);

} // namespace triangulation
