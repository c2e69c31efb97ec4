// The Delaunay triangulation of points, by incremental insertion (Bowyer 1981, Watson 1981).
#pragma once

#include "plane.hpp"

namespace triangulation {

struct Delaunay {
    Plane plane;                  // its vertices are the distinct points, in order of insertion
    std::vector<int32> vertex_of; // by point: its vertex
    std::vector<int32> point_of;  // by vertex: the first point with these coordinates
};

// If all points lie on one line, the plane has no faces.
Delaunay delaunay(const Point *points, int32 count);

} // namespace triangulation
