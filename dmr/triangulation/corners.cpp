// Finds the vertices at which two neighbouring segments enclose less than 60 degrees of the domain
// (dmr/refinement/setup/corners.py).
#include <algorithm>
#include <new>
#include <vector>

#include "geometry/predicates.cuh"
#include "mesh/triangles.cuh"

namespace {

// An end of a subsegment, as seen from its vertex.
struct End {
    float64 x, y;        // vector to the other end
    bool domain_follows; // whether the domain lies counter-clockwise of here
    float64 angle;       // a pseudo-angle, increasing with the angle from -2 to 2, without a call of the math library
};

float64 pseudo_angle(float64 x, float64 y) {
    const float64 slope = x / (magnitude(x) + magnitude(y));
    return y >= 0 ? 1 - slope : slope - 1;
}

// Whether the angle between two ends, in either order, has a positive cosine whose square exceeds the argument.
bool is_small(const End &end, const End &other, float64 cosine_squared) {
    const float64 dot = end.x * other.x + end.y * other.y;
    if (dot <= 0)
        return false;
    const float64 lengths = (end.x * end.x + end.y * end.y) * (other.x * other.x + other.y * other.y);
    return dot * dot > cosine_squared * lengths;
}

// Whether the domain lies between an end and the one that follows it counter-clockwise, at such an angle.
bool is_acute(const End &end, const End &following, float64 cosine_squared) {
    return end.domain_follows && end.x * following.y - end.y * following.x > 0 &&
           is_small(end, following, cosine_squared);
}

void flag_acute(const Point *points, int32 n, const Subsegment *subsegments, int32 count, float64 cosine_squared,
                uint8 *flags) {
    std::vector<uint32> first(size_t(n) + 1); // by vertex: the start of its list of ends
    for (int32 s = 0; s < count; ++s) {
        ++first[subsegments[s].from + 1];
        ++first[subsegments[s].to + 1];
    }
    for (int32 v = 0; v < n; ++v)
        first[v + 1] += first[v];
    std::vector<uint32> listed(2 * size_t(count)), filled(first.begin(), first.end() - 1);
    for (int32 s = 0; s < count; ++s) {
        listed[filled[subsegments[s].from]++] = uint32(s) << 1;
        listed[filled[subsegments[s].to]++] = uint32(s) << 1 | 1;
    }
    const auto end_at = [&](int32 v, uint32 i) -> End {
        const Subsegment &s = subsegments[listed[i] >> 1];
        const bool leaves = (listed[i] & 1) == 0;
        const Point far = points[leaves ? s.to : s.from];
        return {far.x - points[v].x, far.y - points[v].y, leaves || s.right != NOTHING, 0};
    };
    std::vector<End> ends;
    for (int32 v = 0; v < n; ++v) {
        if (first[v + 1] - first[v] == 2) { // most vertices: two ends need no sorting
            const End one = end_at(v, first[v]), other = end_at(v, first[v] + 1);
            flags[v] = is_small(one, other, cosine_squared) &&
                       (is_acute(one, other, cosine_squared) || is_acute(other, one, cosine_squared));
            continue;
        }
        ends.clear();
        for (uint32 i = first[v]; i < first[v + 1]; ++i)
            ends.push_back(end_at(v, i));
        for (End &end : ends)
            end.angle = pseudo_angle(end.x, end.y);
        std::stable_sort(ends.begin(), ends.end(), [](const End &a, const End &b) { return a.angle < b.angle; });
        for (size_t i = 0; i < ends.size(); ++i)
            if (is_acute(ends[i], ends[i + 1 < ends.size() ? i + 1 : 0], cosine_squared))
                flags[v] = 1;
    }
}

} // namespace

// anchors: n times -1; a vertex gets the acute corner at the other end of a segment, the last of several.
extern "C" void dmr_anchors(const int32 *listed, int32 count, const uint8 *flags, int32 *anchors) {
    const Subsegment *subsegments = reinterpret_cast<const Subsegment *>(listed);
    for (int32 s = 0; s < count; ++s)
        if (flags[subsegments[s].from])
            anchors[subsegments[s].to] = subsegments[s].from;
    for (int32 s = 0; s < count; ++s)
        if (flags[subsegments[s].to])
            anchors[subsegments[s].from] = subsegments[s].to;
}

// flags: n zeros; those of acute corners are set to 1. Returns 0, or 1 if there is too little memory.
extern "C" int32 dmr_acute_corners(const float64 *points, int32 n, const int32 *subsegments, int32 count,
                                   float64 cosine_squared, uint8 *flags) {
    try {
        flag_acute(reinterpret_cast<const Point *>(points), n, reinterpret_cast<const Subsegment *>(subsegments), count,
                   cosine_squared, flags);
        return 0;
    } catch (const std::bad_alloc &) {
        return 1;
    }
}
