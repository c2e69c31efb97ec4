// The number of triangles of the result that bounds predict in each triangle of a mesh.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "rows.hpp"

namespace unions {

struct Point {
    double x, y;
};

inline double squared_length(Point a, Point b) {
    const double x = b.x - a.x, y = b.y - a.y;
    return x * x + y * y;
}

// The bounds that triangles of the result meet (`Demand` of native.py).
struct Demand {
    double cosine_squared; // of the bound on angles
    double long_edge;      // over the height above it: longer edges make a skinny triangle thin
    double for_skinny;     // triangles of the result for one that is below the bound on angles
    double over_fewest;    // triangles of the result over those that its area needs at least
    double max_area;       // infinite if there is none
    double most;           // a weight is at most this
    const double *bounds;  // on the area of each triangle, none if not above 0; null if there are none
};

struct Prediction {
    double area, by_angle, by_size;
    bool thin; // skinny and flat
};

inline Prediction predict(const Demand &demand, const Point *points, const int32_t (*triangles)[3], std::size_t t) {
    const Point a = points[triangles[t][0]], b = points[triangles[t][1]], c = points[triangles[t][2]];
    const double p = squared_length(a, b), q = squared_length(b, c), r = squared_length(c, a);
    const double area = 0.5 * std::abs((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
    // The dot product of the two longer edges. The square of the sine of the angle between them is (2 area)^2 over the
    // product of their squared lengths.
    const double dot = 0.5 * (p + q + r) - std::min(std::min(p, q), r);
    const bool skinny = dot * dot > demand.cosine_squared * (dot * dot + 4.0 * area * area);
    const bool thin = skinny && std::max(std::max(p, q), r) > demand.long_edge * 2.0 * area;
    double by_size = demand.over_fewest * area / demand.max_area;
    if (demand.bounds != nullptr && demand.bounds[t] > 0.0)
        by_size = std::max(by_size, demand.over_fewest * area / demand.bounds[t]);
    return {area, skinny ? demand.for_skinny : 1.0, by_size, thin};
}

// The triangles of the result in a triangle, as a whole number.
inline int64_t weight_of(const Demand &demand, const Prediction &found) {
    return int64_t(std::ceil(std::min(std::max(found.by_angle, found.by_size), demand.most)));
}

} // namespace unions
