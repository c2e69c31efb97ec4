// Acute input corners, and the vertices on the segments that meet there.
#pragma once

#include "mesh/triangles.cuh"

// The cosine above which a corner is acute: that of 60 degrees, with a margin for rounding.
constexpr float64 BELOW_60_DEGREES = 0.5 * (1.0 + 0x1p-30);

// Relations between vertices and input segments.
struct Corners {
    const int32 *vertex_origin;       // per vertex: the input segment it was inserted on (triangles.cuh)
    const Subsegment *input_segments; // their ends
    const int32 *anchor;              // per input vertex: an acute corner that an input segment joins it to, or NOTHING
    bool any_acute;                   // whether any corner is acute

    // Whether a vertex lies on an input segment that starts at `corner`.
    METHOD bool hangs_from(int32 vertex, int32 corner) const {
        const int32 origin = vertex_origin[vertex];
        if (origin >= 0)
            return input_segments[origin].from == corner || input_segments[origin].to == corner;
        return origin == INPUT_VERTEX && anchor[vertex] == corner;
    }

    // The corner where two segments meet that hold these two vertices, one each; NOTHING if there is none.
    METHOD int32 common(int32 p, int32 q) const {
        const int32 first = vertex_origin[p], second = vertex_origin[q];
        if (first == FREE_VERTEX || second == FREE_VERTEX || on_segment(p, second) || on_segment(q, first))
            return NOTHING;
        if (first >= 0) {
            const Subsegment s = input_segments[first];
            return hangs_from(q, s.from) ? s.from : (hangs_from(q, s.to) ? s.to : NOTHING);
        }
        const int32 corner = anchor[p];
        return corner != NOTHING && corner != q && hangs_from(q, corner) ? corner : NOTHING;
    }

    // Whether a vertex is as far from a corner as an end of a subsegment that lies on another segment of that corner:
    // the two were cut alike, and rounding alone can make the vertex encroach.
    METHOD bool cut_alike(int32 vertex, int32 from, int32 to, const Point *points) const {
        for (int32 end : {from, to}) {
            const int32 corner = common(vertex, end);
            if (corner == NOTHING)
                continue;
            const float64 mine = squared_length(points[corner], points[vertex]);
            if (magnitude(mine - squared_length(points[corner], points[end])) < 0x1p-40 * mine)
                return true;
        }
        return false;
    }

    // Whether a vertex was inserted on an input segment, or is one of its ends.
    METHOD bool on_segment(int32 vertex, int32 segment) const {
        return segment >= 0 && (vertex_origin[vertex] == segment || input_segments[segment].from == vertex ||
                                input_segments[segment].to == vertex);
    }
};
