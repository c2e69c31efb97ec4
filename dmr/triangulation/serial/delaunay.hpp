// The Delaunay triangulation of points, by incremental insertion (Bowyer 1981, Watson 1981). Ties are broken by the
// points' numbers (geometry/ties.cuh): the result depends on the points and their numbers only.
#pragma once

#include "order.hpp"
#include "plane.hpp"

namespace triangulation {

struct Delaunay {
    Plane plane;            // its vertices are the points in order of insertion; duplicates have no faces
    Table<int32> vertex_of; // by point: its vertex
    CurveSquare square;     // around the points
    Table<int32> rank;      // by vertex: its place along the curve, among all points
    Table<int32> along;     // the points along the curve
};

// If all points lie on one line, the plane has no faces. The triangulation does not depend on the number of threads.
Delaunay delaunay(const Point *points, int32 count, int threads);

} // namespace triangulation
