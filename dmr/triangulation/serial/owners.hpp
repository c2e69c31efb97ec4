// Ownership of faces, for threads that change one plane at the same time. Each vertex belongs to one owner;
// owner(vertex) tells whether it is this one. A face belongs to an owner if all its vertices do; it has at least two
// that are not ghosts, so it has one owner at most. No thread changes a face with vertices of several owners.
#pragma once

#include <algorithm>
#include <limits>

#include "plane.hpp"

namespace triangulation {

struct Everything {
    bool operator()(int32) const { return true; }
};

template <class Owner> INLINED bool owns_face(const Owner &owner, const Face &face) {
    for (int32 vertex : face.vertex)
        if (vertex != GHOST && !owner(vertex))
            return false;
    return true;
}

// The number of parts into which a plane is divided, per thread, if enough is to be inserted.
constexpr int PER_THREAD = 1; // of points: threads that have none left take from others (delaunay.cpp)
constexpr int SEGMENT_PARTS_PER_THREAD = 2, FEWEST_SEGMENT_PARTS = 8; // busy cores do fewer of them

using uint16 = std::uint16_t;

// The vertices of a section of the curve.
struct InSection {
    const uint16 *sections; // by vertex
    uint16 section;

    bool operator()(int32 vertex) const { return sections[vertex] == section; }
};

// The directions across which the plane is cut into strips, one after the other: oblique to the seams between sections,
// which follow the axes, and to each other.
constexpr Point ACROSS[] = {{1, 1}, {1, -1}, {2, 1}, {1, -2}};

// The vertices of a strip of the plane.
struct InStrip {
    const Point *points;
    Point across;
    float64 low, high;

    static float64 height(Point across, Point p) { return across.x * p.x + across.y * p.y; }
    bool operator()(int32 vertex) const {
        const float64 at = height(across, points[vertex]);
        return low <= at && at < high;
    }
};

// Bounds that cut the plane into strips: one bound more than strips, with about as many of `count` places between any
// two.
template <class Height> std::vector<float64> bounds_of_strips(int strips, size_t count, const Height &height) {
    constexpr size_t SAMPLE = 64; // places per strip
    constexpr float64 UNBOUNDED = std::numeric_limits<float64>::infinity();
    std::vector<float64> sample;
    for (size_t i = 0; i < count; i += count / (SAMPLE * size_t(strips)) + 1)
        sample.push_back(height(i));
    std::sort(sample.begin(), sample.end());
    std::vector<float64> bounds(strips + 1, UNBOUNDED);
    bounds[0] = -UNBOUNDED;
    for (int k = 1; k < strips; ++k)
        bounds[k] = sample[sample.size() * size_t(k) / size_t(strips)];
    return bounds;
}

inline int strip_of(const std::vector<float64> &bounds, float64 height) {
    return int(std::upper_bound(bounds.begin() + 1, bounds.end() - 1, height) - bounds.begin()) - 1;
}

} // namespace triangulation
