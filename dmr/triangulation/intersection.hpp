// Where two segments cross, rounded to the nearest coordinates.
#pragma once

#include <cmath>

#include "steiner.cuh"

namespace triangulation {

// Twice-double arithmetic: a Pair stands for high + low, with a relative error of about 2^-100 an operation (Dekker 1971).
INLINE Pair normal(float64 a, float64 b) { // |a| >= |b|, or a = 0
    const float64 sum = a + b;
    return {sum, b - (sum - a)};
}
INLINE Pair plus(Pair a, Pair b) {
    const float64 sum = a.high + b.high, b_virtual = sum - a.high, a_virtual = sum - b_virtual;
    const float64 error = (a.high - a_virtual) + (b.high - b_virtual);
    return normal(sum, error + (a.low + b.low));
}
INLINE Pair times(Pair a, Pair b) {
    const Pair product = exact_product(a.high, b.high);
    return normal(product.high, product.low + (a.high * b.low + a.low * b.high));
}
INLINE Pair over(Pair a, Pair b) {
    const float64 first = a.high / b.high;
    const Pair rest = plus(a, times({-first, 0.0}, b));
    const float64 second = rest.high / b.high;
    const Pair rest2 = plus(rest, times({-second, 0.0}, b));
    return plus(normal(first, second), {rest2.high / b.high, 0.0});
}

// The value of an exact sum to the same precision: its leading limbs.
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

// (a - b) x (c - d), exactly up to the last rounding.
INLINE Pair cross_product(Point a, Point b, Point c, Point d) {
    ExactSum sum;
    add_product_of_pairs(sum, exact_difference(a.x, b.x), exact_difference(c.y, d.y), +1);
    add_product_of_pairs(sum, exact_difference(a.y, b.y), exact_difference(c.x, d.x), -1);
    return value_of(sum);
}

// The point in which the lines through a, b and c, d cross (they are not parallel). The error before the last rounding
// is some 2^-95 of the coordinates: each coordinate is the nearest one, or as good as that.
INLINE Point crossing(Point a, Point b, Point c, Point d) {
    const Pair t = over(cross_product(c, a, d, c), cross_product(b, a, d, c));
    const Pair x = plus({a.x, 0.0}, times(t, exact_difference(b.x, a.x)));
    const Pair y = plus({a.y, 0.0}, times(t, exact_difference(b.y, a.y)));
    return {admitted(x.high + x.low), admitted(y.high + y.low)};
}

} // namespace triangulation
