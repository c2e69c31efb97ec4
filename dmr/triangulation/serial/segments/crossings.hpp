// The pairs of pieces that cross.
#pragma once

#include <vector>

#include "../threads.hpp"
#include "geometry/points.cuh"

namespace triangulation {

struct Line {
    Point from, to;
};

struct CrossingPair {
    int32 low, high; // indices of lines, low < high
};

// Finds all pairs of lines that cross at an interior point of both, and do not overlap. A pair may be listed
// repeatedly, in any order.
//
// The plane is divided into boxes, in halves, as long as that separates lines: a box is divided if the sum of the
// squares of the numbers of lines in its halves is clearly smaller than the square of its own. Within a box, lines are
// projected across their main direction, and those whose projections overlap are tested, by exact predicates. So
// neither many short lines nor a hatching of long ones, in whatever direction, takes quadratic time; bundles that
// really cross do, as they must.
std::vector<CrossingPair> find_crossings(const std::vector<Line> &lines, int threads);

} // namespace triangulation
