// The nodes of a front, and proposals of further ones.
#pragma once

#include "geometry/predicates.cuh"
#include "placement/cells.cuh"

// Nodes: the vertices of the divided outline and the points placed so far.
KERNEL_STRUCT(Nodes) {
    Point *points;
    float64 *sizes;
    int32 *beside_gap;        // per node of the front: 1 if it could propose across a gap when it was placed
    int64 outline;            // the first nodes are those of the outline
    const int32 *first_piece; // per node of the outline: where its entries in `across` begin
    const int32 *across;      // the other ends of the pieces at a node
    float64 low_x;            // bounding box of the outline
    float64 low_y;
    float64 high_x;
    float64 high_y;

    METHOD bool holds(Point p) const { return p.x >= low_x && p.x <= high_x && p.y >= low_y && p.y <= high_y; }
};

constexpr int32 BETWEEN = 2; // instead of 1: two walls, which can be less than a size apart

struct alignas(16) Proposal {
    Point apex, middle; // of the triangle, and of its base
    Point origin;       // a point of the base that lies in the domain
    float64 side;       // length of the other two sides; 0 if a node has been placed too near to it
    int32 by_outline;   // 1, or BETWEEN, if the outline is near
    int32 support;      // how well the nodes around it fit: WORST for each, less the mean misfit
};

// The triangles on a base, with sides of about `size`.
struct Isosceles {
    float64 side, height; // in units of the coordinates, and in bases

    METHOD Isosceles(float64 squared_base, float64 size) {
        side = size;
        if (!(size * size > 0.361 * squared_base)) { // otherwise it is larger: most bases need no root
            const float64 least = 0.6 * square_root(squared_base);
            side = size > least ? size : least;
        }
        height = square_root((side * side - 0.25 * squared_base) / squared_base);
    }

    // The proposal on the left of the base a -> b.
    METHOD Proposal on(Point a, Point b) const {
        const Point middle = {a.x + 0.5 * (b.x - a.x), a.y + 0.5 * (b.y - a.y)};
        return {{middle.x - height * (b.y - a.y), middle.y + height * (b.x - a.x)}, middle, middle, side, true, 0};
    }
};
