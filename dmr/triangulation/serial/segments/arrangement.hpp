// The planar graph that segments make where they cross and overlap: its vertices are the given points and the
// crossings, its edges the parts between them.
#pragma once

#include "segments.hpp"

namespace triangulation {

// A part of a segment between two points, by their numbers.
struct Part {
    int32 from, to, segment;
};

struct Arrangement {
    std::vector<Point> points;  // the given ones, then the crossings, in the order of the lowest pair of segments there
    std::vector<Part> parts;    // different ones
    std::vector<uint8> crosses; // by segment: whether it crosses another one
    std::vector<Found> conflicts; // overlaps and crossings; their vertices are numbers of points
};

// Makes the graph. Crossings are rounded to the nearest coordinates, equal ones are one point; a part that several
// segments share belongs to one of them (`owner_of_both`).
//
// pieces: of the segments, straight, between points none of which lies within a piece; segments: their ends are numbers
// of points.
Arrangement arrange(const Point *points, size_t count, const std::vector<Segment> &segments, std::vector<Part> pieces,
                    int threads);

} // namespace triangulation
