// The order of points along a Hilbert curve.
#pragma once

#include "geometry/points.cuh"
#include "table.hpp"

namespace triangulation {

// The square that the curve fills: the smallest around points.
struct CurveSquare {
    Point low;
    float64 extent;
};

CurveSquare square_around(const Point *points, int32 count, int threads);

// The position of a point along a curve of 4^levels cells.
uint64 curve_position(const CurveSquare &square, Point p, int levels);

struct Place {
    uint32 key; // position along the curve
    int32 point;
};

// Points by their position along the curve of the mesh's order (curve_keys in cuda_src/mesh/ordering.cu); ties by
// number.
Table<Place> curve_order(const CurveSquare &square, const Point *points, int32 count, int threads);

} // namespace triangulation
