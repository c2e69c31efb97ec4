// The intersection point of two segments, rounded to the nearest coordinates.
#pragma once

#include <cmath>

#include "geometry/steiner.cuh"

namespace triangulation {

// Evaluates an exact sum to the same precision, from its leading limbs.
INLINE Pair value_of(ExactSum &sum) {
    const int sign = sum.sign();
    int64 carry = 0;
    uint32 limbs[ExactSum::LIMBS];
    for (int i = 0; i < ExactSum::LIMBS; ++i) { // of |sum|
        const int64 limb = sign * sum.limbs[i] + carry;
        limbs[i] = uint32(limb & ExactSum::MASK);
        carry = limb >> 32;
    }
    Pair value = {0.0, 0.0};
    int used = 0;
    for (int i = ExactSum::LIMBS - 1; i >= 0 && used < 5; --i)
        if (used > 0 || limbs[i] != 0) {
            value = plus(value, {std::ldexp(float64(limbs[i]), ExactSum::LOWEST + 32 * i), 0.0});
            ++used;
        }
    return {sign * value.high, sign * value.low};
}

// (a - b) x (c - d), exact up to the final rounding.
INLINE Pair cross_product(Point a, Point b, Point c, Point d) {
    ExactSum sum;
    add_product_of_pairs(sum, exact_difference(a.x, b.x), exact_difference(c.y, d.y), +1);
    add_product_of_pairs(sum, exact_difference(a.y, b.y), exact_difference(c.x, d.x), -1);
    return value_of(sum);
}

// The exact sign of (a - b) . (c - d).
INLINE int dot_sign(Point a, Point b, Point c, Point d) {
    ExactSum sum;
    add_product_of_pairs(sum, exact_difference(a.x, b.x), exact_difference(c.x, d.x), +1);
    add_product_of_pairs(sum, exact_difference(a.y, b.y), exact_difference(c.y, d.y), +1);
    return sum.sign();
}

// sign * p (q r - s t), with exact differences q, r, s, t.
INLINE void add_scaled_minor(ExactSum &sum, Pair p, Pair q, Pair r, Pair s, Pair t, int sign) {
    for (int i = 0; i < parts_of(p); ++i)
        for (int j = 0; j < 2; ++j) {
            add_product_of_pairs(sum, exact_product(part(p, i), part(q, j)), r, +sign);
            add_product_of_pairs(sum, exact_product(part(p, i), part(s, j)), t, -sign);
        }
}

// Rounds a coordinate of a crossing, from + along * part, computed in double-double arithmetic. Returns false if the
// error may change the rounding.
INLINE bool rounded_surely(float64 from, Pair along, Pair part, float64 *coordinate) {
    constexpr float64 ERROR = 0x1p-86; // relative to the magnitudes of the terms; ten operations of 2^-100 each
    const Pair step = times(along, part), sum = plus({from, 0.0}, step);
    const float64 error = ERROR * (magnitude(from) + magnitude(step.high));
    *coordinate = sum.high;
    return sum.high + (sum.low - error) == sum.high && sum.high + (sum.low + error) == sum.high &&
           magnitude(sum.high) > 0x1p50 * error; // far from zero, where doubles are dense
}

// The same point in double-double arithmetic, if its error surely does not change the rounding: the share
// t = (c - a) x (d - c) / (b - a) x (d - c) of the way from a to b. The two products are cancelled little, or not used.
INLINE bool crossing_by_pairs(Point a, Point b, Point c, Point d, Point *p) {
    constexpr float64 LEAST = 0x1p-8; // of a difference over the magnitudes of its terms
    const Pair abx = exact_difference(b.x, a.x), aby = exact_difference(b.y, a.y);
    const Pair cdx = exact_difference(d.x, c.x), cdy = exact_difference(d.y, c.y);
    const Pair acx = exact_difference(c.x, a.x), acy = exact_difference(c.y, a.y);
    const auto cross = [](Pair x1, Pair y2, Pair y1, Pair x2, Pair *result) {
        const Pair left = times(x1, y2), right = times(y1, x2);
        *result = minus(left, right);
        return magnitude(result->high) > LEAST * (magnitude(left.high) + magnitude(right.high));
    };
    Pair numerator, denominator;
    if (!cross(acx, cdy, acy, cdx, &numerator) || !cross(abx, cdy, aby, cdx, &denominator))
        return false;
    const Pair part = over(numerator, denominator);
    return rounded_surely(a.x, abx, part, &p->x) && rounded_surely(a.y, aby, part, &p->y);
}

// The point where the lines through a, b and c, d cross (they are not parallel). It is a quotient of exact sums,
//
//     p = (a (b - a) x (d - c) + (b - a) (c - a) x (d - c)) / (b - a) x (d - c),
//
// with a relative error of about 2^-98 before the final rounding: each coordinate is the nearest one, even near 0.
INLINE Point crossing(Point a, Point b, Point c, Point d) {
    if (Point p; crossing_by_pairs(a, b, c, d, &p))
        return {admitted(p.x), admitted(p.y)};
    const Pair abx = exact_difference(b.x, a.x), aby = exact_difference(b.y, a.y);
    const Pair cdx = exact_difference(d.x, c.x), cdy = exact_difference(d.y, c.y);
    const Pair acx = exact_difference(c.x, a.x), acy = exact_difference(c.y, a.y);
    const Pair denominator = cross_product(b, a, d, c);
    const auto coordinate = [&](float64 from, Pair along) {
        ExactSum numerator;
        add_scaled_minor(numerator, {from, 0.0}, abx, cdy, aby, cdx, +1);
        add_scaled_minor(numerator, along, acx, cdy, acy, cdx, +1);
        return admitted(over(value_of(numerator), denominator).high);
    };
    return {coordinate(a.x, abx), coordinate(a.y, aby)};
}

} // namespace triangulation
