// Chooses a Steiner point in the petal of a skinny triangle.
//
// The petal is the part of the circumcircle from which the shortest edge pq is seen under the angle bound or more; the
// off-center lies near its tip (Ungor 2004). Any point of the petal fixes the skinny triangle at pq, and as long as the
// point keeps the distance from all vertices that a circumcenter would, |pq| / (2 sin bound), all proofs for
// circumcenters hold. The surroundings decide what other triangles the point makes: fewer triangles with a small angle
// mean fewer points to follow. Erten and Ungor ("Quality triangulations with locally optimal Steiner points", 2009)
// look for the best point by optimization. Here some places are tried on the cavity of the off-center; if one is
// better, the cavity is grown once more, around it.
#pragma once

#include "geometry/steiner.cuh"
#include "mesh/mesh.cuh"

constexpr int PETAL_PLACES = 8;

// The k-th place in the order of preference, in the frame of pq: offsets along the bisector, and aside of it on either
// side in turn, as fractions of the off-center's height. They result from a search for the smallest meshes of random
// points at 25, 30 and 33 degrees.
INLINE Point petal_place(int k, float64 height) {
    static constexpr float64 along[] = {0.679, 0.838, 0.622, 1.0}, aside[] = {0.514, 0.421, 0.187, 0.205};
    const float64 x = height * aside[k / 2];
    return {k % 2 == 0 ? 0.5 + x : 0.5 - x, height * along[k / 2]};
}

// A point in single precision, in the frame of pq. This suffices to choose a place, takes half the registers, and is
// twice as fast.
struct RoughPoint {
    float32 x, y;
};

INLINE RoughPoint rough(Point p) { return {float32(p.x), float32(p.y)}; }

constexpr int32 UNUSABLE = 1 << 30; // more triangles than any fan has

// Counts the triangles with a small angle in the fans around some places, edge by edge along the cavity boundary. A
// place is UNUSABLE if it is not left of all edges, too close to a vertex, or outside the circumcircle.
template <int PLACES> struct Fans {
    float32 x[PLACES], y[PLACES];
    int32 bad[PLACES];

    METHOD void start(int k, Point place, bool usable) {
        x[k] = float32(place.x), y[k] = float32(place.y);
        bad[k] = usable ? 0 : UNUSABLE;
    }

    // The smallest angle is between the two longer sides; its squared sine is (2 area)^2 / (product of their squares).
    METHOD void pass(RoughPoint u, RoughPoint v, float32 sine_squared, float32 clearance) {
        const float32 uv = (v.x - u.x) * (v.x - u.x) + (v.y - u.y) * (v.y - u.y);
        IN_VECTORS
        for (int k = 0; k < PLACES; ++k) {
            const float32 ux = u.x - x[k], uy = u.y - y[k], vx = v.x - x[k], vy = v.y - y[k];
            const float32 doubled_area = ux * vy - uy * vx, to_u = ux * ux + uy * uy, to_v = vx * vx + vy * vy;
            const float32 shortest = lesser(lesser(to_u, to_v), uv);
            const bool single_block = doubled_area * doubled_area * shortest < sine_squared * (to_u * to_v * uv);
            const bool usable = (doubled_area > 0) & (to_v >= clearance);
            bad[k] = (bad[k] + int32(single_block)) | (usable ? 0 : UNUSABLE);
        }
    }
};

// Rates the places by the boundary of the cavity around `center`.
class Petal {
  public:
    METHOD Petal(const SteinerPoint &center, const Limits &limits)
        : frame_(center.frame), sine_squared_(float32(1.0 - limits.cosine_squared)),
          clearance_(float32(limits.clearance)) {
        around_center_.start(0, {0.5, center.height}, true);
        for (int k = 0; k < PETAL_PLACES; ++k) {
            const Point place = petal_place(k, limits.off_center_limit);
            const float64 x = place.x - 0.5;
            around_.start(k, place, x * x + place.y * place.y - 2.0 * place.y * center.circumcenter < 0.25);
        }
    }

    // Adds the next edge of the cavity boundary, from u to v.
    METHOD void pass(Point u, Point v, bool first) {
        if (first)
            last_ = rough(frame_.of(u));
        const RoughPoint next = rough(frame_.of(v));
        around_center_.pass(last_, next, sine_squared_, 0.0f);
        around_.pass(last_, next, sine_squared_, clearance_);
        last_ = next;
    }

    // The place with the fewest triangles of the fan that have a small angle, or NOTHING if none has fewer than the
    // center.
    METHOD int best() const {
        int32 fewest = around_center_.bad[0];
        int best = NOTHING;
        for (int k = 0; k < PETAL_PLACES; ++k) {
            const bool fewer = around_.bad[k] < fewest;
            fewest = fewer ? around_.bad[k] : fewest;
            best = fewer ? k : best;
        }
        return best;
    }

  private:
    Frame frame_;
    float32 sine_squared_, clearance_;
    RoughPoint last_;
    Fans<1> around_center_;
    Fans<PETAL_PLACES> around_;
};
