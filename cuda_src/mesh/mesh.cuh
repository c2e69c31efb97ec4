// A mesh on a device, as kernels take it (DeviceMesh.view in dmr/refinement/state/device_mesh.py), and the bounds of a
// run.
#pragma once

#include "mesh/corners.cuh"
#include "mesh/split_states.cuh"

KERNEL_STRUCT(Mesh) {
    Triangle *triangles;
    Point *points;
    Subsegment *subsegments;
    uint32 *quality;           // a word per triangle (quality.cuh)
    int32 *rivals;             // per triangle: last rival that beat it in urgency, plus 1; or 0 (competing.cuh)
    int32 *split_states;       // per subsegment: its SplitState (split_states.cuh)
    int32 *vertex_origin;      // per vertex: its origin (triangles.cuh)
    float64 *vertex_parameter; // and its parameter on its input segment
    int32 *subsegment_origin;  // per subsegment: the input segment that it is a piece of
    const Subsegment *input_segments;
    const int32 *anchor; // per input vertex: an acute corner joined to it by a segment (corners.cuh)
    const uint8 *acute;  // per input vertex: 1 if it has a corner below 60 degrees
    int64 any_acute;     // 1 if one of them has
    int64 input_vertices;
    int64 input_subsegments;    // number of admitted subsegments
    int32 *ancestor;            // per triangle: the input triangle it descends from; null if these carry no data
    const float64 *area_bounds; // per input triangle, or null
    float64 *attributes;        // of vertices, row by row, or null
    int64 width;                // number of their columns
    const Point *beyond_cuts;   // per cut edge: the far corner of the frozen triangle beyond it
    int64 first_cut;            // number of the first cut edge among the subsegments
    int64 cuts;                 // number of cut edges
    const int32 *walls;         // the longest subsegments, if none is ever split; else null
    int64 wall_count;           // their number

    // Whether a link leads across a cut edge: the triangle beyond it is frozen, and in no cavity of this tile
    // (docs/internals/tiles.md). It has a subsegment's number, so that every walk stops there, but is not a subsegment.
    METHOD bool is_cut(int32 subsegment) const { return uint64(subsegment - first_cut) < uint64(cuts); }

    // Whether a link leads to a subsegment.
    METHOD bool is_subsegment(int32 link) const { return link < 0 && !is_cut(~link); }

    METHOD Corners corners() const { return {vertex_origin, input_segments, anchor, any_acute != 0}; }
};

// Bounds on triangles and Steiner points (dmr/refinement/steps/thresholds.py).
KERNEL_STRUCT(Limits) {
    float64 cosine_squared;   // of the angle bound; 2: no bound
    float64 doubled_area;     // twice the largest area; infinity: no bound
    float64 squared_edge;     // squared length of the longest edge; infinity: no bound that is the same everywhere
    float64 lens;             // squared cosine that defines encroachment on a subsegment (encroachment.cuh)
    float64 off_center_limit; // largest height of off-centers over their edge (steiner.cuh)
    float64 clearance;        // least squared distance of petal points, in shortest edges; infinity: none (petal.cuh)
    float64 stretch;          // length of segment pieces, in distances to opposite vertices; infinity: halving
    int64 worst_first;        // 1: skinny triangles are ordered by smallest angle, instead of by shortest edge
    int64 grouped;            // 1: nearly equal lengths are ordered by the cells of a grid (urgency.cuh)
    int64 first; // 1: inserting the first points: area bounds wait (dmr/refinement/strategies/first_points.py)
};

// For a loop that grows cavities around listed triangles: prefetches their quality words, their corners and neighbours,
// those of their neighbours, and the corners of the neighbours' neighbours.
INLINE void prefetch_surroundings(const int32 *listed, Index i, Index end, const Mesh &mesh) {
    constexpr Index FAR = 16, NEAR = 12, NEARER = 8, NEAREST = 4;
    if (!PREFETCHES)
        return;
    const Triangle *const triangles = mesh.triangles;
    const Point *const points = mesh.points;
    if (i + FAR < end) {
        prefetch(&triangles[listed[i + FAR]]);
        prefetch(&mesh.quality[listed[i + FAR]]);
    }
    if (i + NEAR < end) {
        prefetch_corners(triangles[listed[i + NEAR]], points);
        prefetch_neighbours(triangles[listed[i + NEAR]], triangles);
    }
    if (i + NEARER < end) {
        const Triangle &root = triangles[listed[i + NEARER]];
        for (int k = 0; k < 3; ++k) {
            const Triangle &across = triangles[perhaps_across(root.link[k])];
            prefetch(&points[corner_beyond(root, k, across)]);
            prefetch_neighbours(across, triangles);
        }
    }
    if (i + NEAREST < end)
        for (int32 link : triangles[listed[i + NEAREST]].link) {
            const Triangle &across = triangles[perhaps_across(link)];
            for (int k = 0; k < 3; ++k)
                prefetch(&points[corner_beyond(across, k, triangles[perhaps_across(across.link[k])])]);
        }
}

// The same for a loop over subsegments to be split: prefetches the subsegments, their ends and the triangles on their
// sides, the corners and neighbours of these, and the corners of the neighbours.
INLINE void prefetch_around_subsegments(const int32 *listed, Index i, Index end, const Mesh &mesh) {
    constexpr Index FAR = 16, NEAR = 12, NEARER = 8, NEAREST = 4;
    if (!PREFETCHES)
        return;
    const Triangle *const triangles = mesh.triangles;
    const auto sides_of = [&](Index place, auto visit) {
        const Subsegment &s = mesh.subsegments[listed[place]];
        for (int32 side : {s.left, s.right})
            if (side != NOTHING)
                visit(triangles[side]);
    };
    if (i + FAR < end) {
        prefetch(&mesh.subsegments[listed[i + FAR]]);
        prefetch(&mesh.subsegment_origin[listed[i + FAR]]);
    }
    if (i + NEAR < end) {
        const Subsegment &s = mesh.subsegments[listed[i + NEAR]];
        prefetch(&mesh.input_segments[mesh.subsegment_origin[listed[i + NEAR]]]);
        for (int32 vertex : {s.from, s.to}) {
            prefetch(&mesh.points[vertex]);
            prefetch(&mesh.vertex_parameter[vertex]);
        }
        sides_of(i + NEAR, [](const Triangle &t) { prefetch(&t); });
    }
    if (i + NEARER < end)
        sides_of(i + NEARER, [&](const Triangle &t) {
            prefetch_corners(t, mesh.points);
            prefetch_neighbours(t, triangles);
        });
    if (i + NEAREST < end)
        sides_of(i + NEAREST, [&](const Triangle &t) {
            for (int32 link : t.link)
                prefetch_corners(triangles[perhaps_across(link)], mesh.points);
        });
}
