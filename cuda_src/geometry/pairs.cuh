// Pairs of doubles: exact sums and products of two doubles, and double-double arithmetic.
#pragma once

#include "portable/portable.cuh"

// An unevaluated exact sum of two doubles.
struct Pair {
    float64 high, low;
};

INLINE Pair exact_difference(float64 a, float64 b) { // Knuth
    const float64 x = a - b;
    const float64 b_virtual = a - x, a_virtual = x + b_virtual;
    return {x, (a - a_virtual) + (b_virtual - b)};
}

INLINE Pair split(float64 a) {         // Veltkamp
    const float64 c = 134217729.0 * a; // 2^27 + 1
    const float64 high = c - (c - a);
    return {high, a - high};
}

INLINE Pair exact_product(float64 a, float64 b) { // Dekker
    const float64 x = a * b;
    const Pair p = split(a), q = split(b);
    const float64 error = ((x - p.high * q.high) - p.low * q.high) - p.high * q.low;
    return {x, p.low * q.low - error};
}

// Double-double arithmetic, with a relative error of about 2^-100 per operation (Dekker 1971); of a sum, relative to
// the magnitudes of its terms.
INLINE Pair normal(float64 a, float64 b) { // |a| >= |b|, or a = 0
    const float64 sum = a + b;
    return {sum, b - (sum - a)};
}
INLINE Pair plus(Pair a, Pair b) {
    const float64 sum = a.high + b.high, b_virtual = sum - a.high, a_virtual = sum - b_virtual;
    const float64 error = (a.high - a_virtual) + (b.high - b_virtual);
    return normal(sum, error + (a.low + b.low));
}
INLINE Pair minus(Pair a, Pair b) { return plus(a, {-b.high, -b.low}); }
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
