// Acute input corners, and the vertices on the segments that meet in them.
#pragma once

#include "encroachment.cuh"

// What is known of the segments at vertices.
struct Corners {
    const int32 *vertex_origin;       // by vertex: the input segment it was inserted on (triangles.cuh)
    const Subsegment *input_segments; // their ends
    const int32 *anchor;              // by input vertex: an acute corner that an input segment joins it to, or NOTHING

    // Whether a vertex lies on an input segment that starts at `corner`.
    METHOD bool hangs_from(int32 vertex, int32 corner) const {
        const int32 origin = vertex_origin[vertex];
        if (origin >= 0)
            return input_segments[origin].from == corner || input_segments[origin].to == corner;
        return origin == INPUT_VERTEX && anchor[vertex] == corner;
    }

    // The corner from which two vertices hang, on different segments; NOTHING where there is none.
    METHOD int32 common(int32 p, int32 q) const {
        const int32 first = vertex_origin[p], second = vertex_origin[q];
        if (first == FREE_VERTEX || second == FREE_VERTEX || (first >= 0 && first == second))
            return NOTHING;
        if (first >= 0) {
            const Subsegment s = input_segments[first];
            return q != s.from && hangs_from(q, s.from) ? s.from : (q != s.to && hangs_from(q, s.to) ? s.to : NOTHING);
        }
        const int32 corner = anchor[p];
        return corner != NOTHING && corner != q && hangs_from(q, corner) ? corner : NOTHING;
    }
};
