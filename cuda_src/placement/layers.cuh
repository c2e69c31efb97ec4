// Layers of triangles between two walls that are near to each other.
#pragma once

#include "placement/nodes.cuh"

constexpr int MOST_LAYERS = 7;           // of triangles between two walls, whose first points are fitted to the width
constexpr float64 LAYER_STEP = 1.5;      // sizes between the places at which a ray across the domain looks for walls,
constexpr float64 LAYER_REACH = 1.1;     // and around each: pieces are hardly longer than 4/3 sizes
constexpr float64 WIDE_GAP = 1.02;       // sizes between the layers from both walls: a wider gap gets two layers,
constexpr float64 NARROW_GAP = 0.36;     // and one that is not narrower than this gets one
constexpr float64 PARALLEL = 0.2;        // largest sine of the angle between parallel walls
constexpr float64 LEAST_WEDGE = 1.2;     // sizes between two layers' walls that are not parallel
constexpr float64 LEAST_WIDTH = 0.58;    // lengths of a piece between it and a wall, if there is a point between them
constexpr float64 LARGEST_CIRCLE = 0.47; // squared radius of the circle around a triangle without it, in sizes
constexpr float64 TARGET = 1 / 0.98;     // the wanted size, in those with which points are placed
constexpr float64 BETWEEN_WALLS = 0.97;  // the size at that point, in widths
constexpr float64 ROOT_OF_THREE = 1.7320508075688772;
constexpr float64 LAYER_EVEN = 0.1; // largest relative difference of the sizes at both walls,
constexpr int NEAR_LAYERS = 5;      // unless there are few layers

// The distance at which the ray from p in a direction meets the piece u-w, in units of the direction; INFINITE if it
// does not.
INLINE float64 distance_along(Point p, Point direction, Point u, Point w) {
    const Point piece = {w.x - u.x, w.y - u.y}, way = {u.x - p.x, u.y - p.y};
    const float64 across = direction.x * piece.y - direction.y * piece.x;
    const float64 along = (way.x * direction.y - way.y * direction.x) / across; // on the piece
    const float64 distance = (way.x * piece.y - way.y * piece.x) / across;
    return along >= 0.0 && along <= 1.0 && distance > 0x1p-20 ? distance : INFINITE;
}

INLINE bool are_parallel(Point a, Point b, Point u, Point w) {
    const Point one = {b.x - a.x, b.y - a.y}, other = {w.x - u.x, w.y - u.y};
    const float64 cross = one.x * other.y - one.y * other.x;
    return cross * cross <= PARALLEL * PARALLEL * (squared_length(a, b) * squared_length(u, w));
}

// The piece across the domain from the middle of another one.
struct OppositePiece {
    float64 distance = INFINITE; // in heights of the proposal there
    float64 size;
    Point start, end;
    uint64 nodes = 0; // its numbers: cells list their nodes in any order, and a ray can meet two pieces at one node
};

// Looks for it along a ray, up to MOST_LAYERS heights away.
INLINE OppositePiece opposite_piece(const Proposal &made, Point height, float64 length, float64 size,
                                    const Nodes &nodes, const Cells &cells) {
    OppositePiece found;
    for (float64 way = 0.5 * LAYER_STEP * size; way < MOST_LAYERS * length && found.distance == INFINITE;
         way += LAYER_STEP * size) {
        const Point place = {made.middle.x + way / length * height.x, made.middle.y + way / length * height.y};
        cells.for_near(place, LAYER_REACH * size, size, [&](int32 node) {
            const bool even = magnitude(nodes.sizes[node] - size) <= LAYER_EVEN * size;
            const float64 farthest = even ? INFINITE : way < NEAR_LAYERS * length ? NEAR_LAYERS + 0.5 : 0.0;
            if (node < nodes.outline)
                for (int32 k = nodes.first_piece[node]; k < nodes.first_piece[node + 1]; ++k) {
                    const int32 other = nodes.across[k];
                    const Point start = nodes.points[node], end = nodes.points[other];
                    const float64 here = distance_along(made.middle, height, start, end);
                    const uint64 numbers =
                        node < other ? uint64(node) << 32 | uint64(other) : uint64(other) << 32 | uint64(node);
                    if (here < farthest && (here < found.distance || (here == found.distance && numbers < found.nodes)))
                        found = {here, 0.5 * (nodes.sizes[node] + nodes.sizes[other]), start, end, numbers};
                }
            return true;
        });
    }
    return found;
}

// The number of layers of triangles between two walls. Layers of equilateral triangles from both sides leave a gap: a
// wide one gets two more layers, a narrow one none, as in Gmsh.
INLINE int layers_across(float64 width, float64 size) {
    const float64 two_layers = ROOT_OF_THREE * size;
    const int pairs = int(width / two_layers);
    const float64 gap = width - pairs * two_layers;
    return 2 * pairs + (gap > WIDE_GAP * size ? 2 : gap > NARROW_GAP * size ? 1 : 0);
}

// Whether triangles between a piece a-b and the opposite one would be so large that Gmsh's front refines them: those
// between pieces that face each other are, also if they are near. Four triangles that meet halfway have no small
// angles.
INLINE bool needs_point_between(Point a, Point b, Point middle, float64 width, float64 size,
                                const OppositePiece &other) {
    const float64 squared_base = squared_length(a, b);
    if (!(width * width > LEAST_WIDTH * LEAST_WIDTH * squared_base))
        return false;
    const float64 squared_across = lesser(lesser(squared_length(a, other.start), squared_length(a, other.end)),
                                          lesser(squared_length(b, other.start), squared_length(b, other.end)));
    const float64 wanted = lesser(0.5 * (square_root(squared_base) + square_root(squared_across)), TARGET * size);
    // The circle through the ends of the base, and the nearer end of the opposite piece.
    const float64 nearer = lesser(squared_length(middle, other.start), squared_length(middle, other.end));
    const float64 rise = (nearer - 0.25 * squared_base) / (2.0 * width);
    return rise * rise + 0.25 * squared_base > LARGEST_CIRCLE * (wanted * wanted);
}

// Fits a proposal at a piece a-b to the distance of an opposite wall that is near: layers of triangles between two
// walls divide the width evenly, as pieces do a segment. Without this, points that start from both walls meet where
// they do not fit, and a layer is missing.
INLINE void fit_to_width(Proposal &made, Point a, Point b, float64 size, const Nodes &nodes, const Cells &cells) {
    const Point height = {made.apex.x - made.middle.x, made.apex.y - made.middle.y};
    const float64 length = square_root(height.x * height.x + height.y * height.y);
    if (!(length < LAYER_STEP * size)) // beside a segment that is not divided
        return;
    const OppositePiece other = opposite_piece(made, height, length, size, nodes, cells);
    if (!(other.distance < MOST_LAYERS + 0.5))
        return;
    const float64 width = other.distance * length, mean_size = 0.5 * (size + other.size);
    const int layers = layers_across(width, mean_size);
    if (layers <= 2 && are_parallel(a, b, other.start, other.end)) {
        if (needs_point_between(a, b, made.middle, width, mean_size, other)) {
            // Both walls propose the same point, also if their pieces do not face each other.
            const Point across = {0.5 * (other.start.x + other.end.x), 0.5 * (other.start.y + other.end.y)};
            made.apex = {0.5 * (made.middle.x + across.x), 0.5 * (made.middle.y + across.y)};
            made.side = lesser(BETWEEN_WALLS * width, made.side);
            made.by_outline = BETWEEN;
        }
    } else if (layers <= MOST_LAYERS && (layers > 2 || (layers == 2 && width > LEAST_WEDGE * size))) {
        const float64 factor = other.distance / layers;
        made.apex = {made.middle.x + factor * height.x, made.middle.y + factor * height.y};
    }
}
