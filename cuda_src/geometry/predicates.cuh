// Exact orient2d and incircle: a float64 filter first, exact arithmetic if the filter is inconclusive.
//
// The filter and its error bounds are those of Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust
// Geometric Predicates" (1997), sections 4.1 and 4.3, stage A. If it fails, this code departs from the paper, whose
// further stages work on expansions. Two stages decide nearly all of the rest:
//
// * Ties: rectangles parallel to the axes are recognised. In integer grids, and among other coordinates of few bits,
//   differences are multiples of one power of two: where they have at most 30 bits, the in-circle determinant is
//   evaluated in integers of 128 bits.
// * Near ties: double-double arithmetic, with an error bound.
//
// In the last stage, the determinant is multiplied out into products of two or four doubles, each product is made exact
// as an expansion of two or eight doubles, and all of these are added into a fixed-point number wide enough for every
// coordinate that dmr admits (Kulisch's long accumulator). It takes 440 bytes, has no data-dependent branches, and is
// exact by construction.
//
// Admitted coordinates are 0 or 2^-142 <= |x| < 2^202 (dmr/refinement/setup/admission.py checks them). Every bit of a
// product of four then lies between 2^-776 and 2^812, and no partial product underflows or overflows.
#pragma once

#include "geometry/pairs.cuh"
#include "geometry/points.cuh"

constexpr float64 SMALLEST_COORDINATE = 0x1p-142; // Steiner coordinates below it are set to zero
constexpr float64 LARGEST_COORDINATE = 0x1p202;

constexpr float64 EPSILON = 0x1p-53;
constexpr float64 ORIENT_BOUND = (3.0 + 16.0 * EPSILON) * EPSILON;
constexpr float64 INCIRCLE_BOUND = (10.0 + 96.0 * EPSILON) * EPSILON;

constexpr float64 INFINITE = __builtin_huge_val();

struct ExactSum {
    static constexpr int LOWEST = -832; // weight of limb 0: 2^LOWEST; 2^-776 is stored as 2^52 units of 2^-828
    static constexpr int LIMBS = 55;    // 32 bits each: up to 2^928
    static constexpr int64 MASK = 0xffffffff;

    int64 limbs[LIMBS]; // each may hold 2^30 summands before it overflows

    METHOD ExactSum() {
        for (int limb = 0; limb < LIMBS; ++limb)
            limbs[limb] = 0;
    }

    // Adds sign * x; x is a normal number or zero.
    METHOD void add(float64 x, int sign) {
        const uint64 bits = bits_of(x);
        const int exponent = int((bits >> 52) & 0x7ff);
        if (exponent == 0)
            return;
        const uint64 mantissa = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
        const int position = exponent - 1075 - LOWEST;
        const int limb = position >> 5, shift = position & 31;
        const uint64 low = (mantissa & MASK) << shift, high = (mantissa >> 32) << shift;
        const int64 direction = (bits >> 63 ? -1 : 1) * sign;
        limbs[limb] += direction * int64(low & MASK);
        limbs[limb + 1] += direction * int64((low >> 32) + (high & MASK));
        limbs[limb + 2] += direction * int64(high >> 32);
    }

    METHOD int sign() {
        int64 carry = 0, any = 0;
        for (int limb = 0; limb < LIMBS; ++limb) {
            const int64 value = limbs[limb] + carry;
            any |= value & MASK;
            carry = value >> 32;
        }
        return carry < 0 ? -1 : (any != 0 ? 1 : 0);
    }
};

INLINE void add_product(ExactSum &sum, float64 a, float64 b, int sign) {
    if (a == 0.0 || b == 0.0)
        return;
    const Pair product = exact_product(a, b);
    sum.add(product.high, sign);
    sum.add(product.low, sign);
}

// sign * (a b) (c d), where a b and c d are given as exact pairs.
INLINE void add_product_of_pairs(ExactSum &sum, Pair p, Pair q, int sign) {
    add_product(sum, p.high, q.high, sign);
    add_product(sum, p.high, q.low, sign);
    add_product(sum, p.low, q.high, sign);
    add_product(sum, p.low, q.low, sign);
}

// The parts of an exact difference. A zero low part is left out of the loops over them.
INLINE int parts_of(Pair p) { return p.low == 0.0 ? 1 : 2; }
INLINE float64 part(Pair p, int which) { return which == 0 ? p.high : p.low; }

OUTLINE int orient2d_accumulated(Point a, Point b, Point c) {
    const Pair acx = exact_difference(a.x, c.x), acy = exact_difference(a.y, c.y);
    const Pair bcx = exact_difference(b.x, c.x), bcy = exact_difference(b.y, c.y);
    ExactSum sum;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            add_product(sum, part(acx, i), part(bcy, j), +1);
            add_product(sum, part(acy, i), part(bcx, j), -1);
        }
    return sum.sign();
}

constexpr float64 PAIR_BOUND = 0x1p-94; // of the relative error of some ten operations on pairs

// The sign of `orient2d`, without the filter. Where the differences of the coordinates are doubles, two products are
// compared; else pairs decide near ties.
OUTLINE int orient2d_exact(Point a, Point b, Point c) {
    const Pair acx = exact_difference(a.x, c.x), acy = exact_difference(a.y, c.y);
    const Pair bcx = exact_difference(b.x, c.x), bcy = exact_difference(b.y, c.y);
    if (acx.low == 0.0 && acy.low == 0.0 && bcx.low == 0.0 && bcy.low == 0.0) {
        const Pair left = exact_product(acx.high, bcy.high), right = exact_product(acy.high, bcx.high);
        const float64 difference = left.high != right.high ? left.high - right.high : left.low - right.low;
        return difference > 0.0 ? 1 : (difference < 0.0 ? -1 : 0); // rounding is monotonic
    }
    const Pair left = times(acx, bcy), right = times(acy, bcx);
    const float64 determinant = minus(left, right).high;
    const float64 bound = PAIR_BOUND * (magnitude(left.high) + magnitude(right.high));
    return determinant > bound ? 1 : (-determinant > bound ? -1 : orient2d_accumulated(a, b, c));
}

// The answer of a filter that is inconclusive.
constexpr int UNSURE = 2;

// The sign of twice the area of triangle abc: 1 counter-clockwise, -1 clockwise, 0 collinear. The filter alone returns
// 1, -1 or UNSURE.
INLINE int orient2d_by_filter(Point a, Point b, Point c) {
    const float64 left = (a.x - c.x) * (b.y - c.y), right = (a.y - c.y) * (b.x - c.x);
    const float64 determinant = left - right;
    const float64 bound = ORIENT_BOUND * (magnitude(left) + magnitude(right));
    return determinant > bound ? 1 : (-determinant > bound ? -1 : UNSURE);
}

INLINE int orient2d(Point a, Point b, Point c) {
    const int sign = orient2d_by_filter(a, b, c);
    return sign == UNSURE ? orient2d_exact(a, b, c) : sign;
}

// sign * (p^2) (q r - s t) with exact differences p, q, r, s, t.
INLINE void add_lifted_minor(ExactSum &sum, Pair p, Pair q, Pair r, Pair s, Pair t) {
    ROLLED
    for (int i = 0; i < parts_of(p); ++i) {
        ROLLED
        for (int j = 0; j < parts_of(p); ++j) {
            const Pair square = exact_product(part(p, i), part(p, j));
            ROLLED
            for (int k = 0; k < 2; ++k) {
                ROLLED
                for (int l = 0; l < 2; ++l) {
                    if (k < parts_of(q) && l < parts_of(r))
                        add_product_of_pairs(sum, square, exact_product(part(q, k), part(r, l)), +1);
                    if (k < parts_of(s) && l < parts_of(t))
                        add_product_of_pairs(sum, square, exact_product(part(s, k), part(t, l)), -1);
                }
            }
        }
    }
}

OUTLINE int incircle_accumulated(Point a, Point b, Point c, Point d) {
    const Pair ax = exact_difference(a.x, d.x), ay = exact_difference(a.y, d.y);
    const Pair bx = exact_difference(b.x, d.x), by = exact_difference(b.y, d.y);
    const Pair cx = exact_difference(c.x, d.x), cy = exact_difference(c.y, d.y);
    ExactSum sum;
    const Pair x[] = {ax, bx, cx}, y[] = {ay, by, cy};
    ROLLED
    for (int i = 0; i < 3; ++i) {
        const int j = i == 2 ? 0 : i + 1, k = i == 0 ? 2 : i - 1;
        ROLLED
        for (int n = 0; n < 2; ++n)
            add_lifted_minor(sum, n == 0 ? x[i] : y[i], x[j], y[k], y[j], x[k]);
    }
    return sum.sign();
}

// The number of the units 2^(top - 1023 - 29) in x, if that is whole; top is at least the exponent in the bits of x.
INLINE bool in_units(float64 x, int top, int64 *units) {
    constexpr int BITS = 30; // most bits in a number of units
    const uint64 bits = bits_of(x);
    const int exponent = int(bits >> 52 & 0x7ff), shift = 53 - BITS + top - exponent;
    const uint64 mantissa = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
    if (exponent == 0) {
        *units = 0; // as x is no denormal number
        return true;
    }
    if (shift >= 53 || (mantissa & ((1ull << shift) - 1)) != 0)
        return false;
    *units = bits >> 63 ? -int64(mantissa >> shift) : int64(mantissa >> shift);
    return true;
}

INLINE int exponent_bits(float64 x) { return int(bits_of(x) >> 52 & 0x7ff); }
INLINE int larger_of(int i, int j) { return i > j ? i : j; }

// The in-circle determinant of differences that are multiples of one unit, with at most 30 bits. Returns false if they
// are not.
INLINE bool incircle_by_units(const float64 (&x)[3], const float64 (&y)[3], int *sign) {
    int top = 0;
    for (int i = 0; i < 3; ++i)
        top = larger_of(top, larger_of(exponent_bits(x[i]), exponent_bits(y[i])));
    int64 u[3], v[3];
    for (int i = 0; i < 3; ++i)
        if (!in_units(x[i], top, &u[i]) || !in_units(y[i], top, &v[i]))
            return false;
    using int128 = __int128;
    int128 determinant = 0;
    for (int i = 0; i < 3; ++i) {
        const int j = i == 2 ? 0 : i + 1, k = i == 0 ? 2 : i - 1;
        determinant += int128(u[i] * u[i] + v[i] * v[i]) * (u[j] * v[k] - v[j] * u[k]); // 61 bits each
    }
    *sign = determinant > 0 ? 1 : (determinant < 0 ? -1 : 0);
    return true;
}

// The sign of the in-circle determinant of exact differences, if it is beyond an error bound; UNSURE otherwise.
INLINE int incircle_by_pairs(const Pair (&x)[3], const Pair (&y)[3]) {
    Pair determinant = {0.0, 0.0};
    float64 permanent = 0.0;
    ROLLED
    for (int i = 0; i < 3; ++i) {
        const int j = i == 2 ? 0 : i + 1, k = i == 0 ? 2 : i - 1;
        const Pair lift = plus(times(x[i], x[i]), times(y[i], y[i]));
        const Pair left = times(x[j], y[k]), right = times(y[j], x[k]);
        determinant = plus(determinant, times(lift, minus(left, right)));
        permanent += lift.high * (magnitude(left.high) + magnitude(right.high));
    }
    const float64 bound = PAIR_BOUND * permanent;
    return determinant.high > bound ? 1 : (-determinant.high > bound ? -1 : UNSURE);
}

// Whether d completes a rectangle whose sides are parallel to the axes, with the right angle at q: these are the ties
// of grids whatever their coordinates.
INLINE bool completes_rectangle(Point p, Point q, Point r, Point d) {
    return (p.x == q.x && p.y == d.y && r.x == d.x && r.y == q.y) ||
           (p.y == q.y && p.x == d.x && r.y == d.y && r.x == q.x);
}

OUTLINE int incircle_exact(Point a, Point b, Point c, Point d) {
    if (completes_rectangle(a, b, c, d) || completes_rectangle(b, c, a, d) || completes_rectangle(c, a, b, d))
        return 0;
    const Pair x[3] = {exact_difference(a.x, d.x), exact_difference(b.x, d.x), exact_difference(c.x, d.x)};
    const Pair y[3] = {exact_difference(a.y, d.y), exact_difference(b.y, d.y), exact_difference(c.y, d.y)};
    bool all = true;
    for (int i = 0; i < 3; ++i)
        all = all && x[i].low == 0.0 && y[i].low == 0.0;
    int sign = UNSURE;
    const float64 highs[2][3] = {{x[0].high, x[1].high, x[2].high}, {y[0].high, y[1].high, y[2].high}};
    if (all && incircle_by_units(highs[0], highs[1], &sign))
        return sign;
    sign = incircle_by_pairs(x, y);
    return sign == UNSURE ? incircle_accumulated(a, b, c, d) : sign;
}

// The sign of the in-circle determinant of a counter-clockwise triangle abc: 1 if d lies strictly inside its
// circumcircle, -1 strictly outside, 0 on it. The filter alone returns 1, -1 or UNSURE.
INLINE int incircle_by_filter(Point a, Point b, Point c, Point d) {
    const float64 ax = a.x - d.x, ay = a.y - d.y;
    const float64 bx = b.x - d.x, by = b.y - d.y;
    const float64 cx = c.x - d.x, cy = c.y - d.y;
    const float64 bxcy = bx * cy, cxby = cx * by;
    const float64 cxay = cx * ay, axcy = ax * cy;
    const float64 axby = ax * by, bxay = bx * ay;
    const float64 alift = ax * ax + ay * ay, blift = bx * bx + by * by, clift = cx * cx + cy * cy;
    const float64 determinant = alift * (bxcy - cxby) + blift * (cxay - axcy) + clift * (axby - bxay);
    const float64 permanent = (magnitude(bxcy) + magnitude(cxby)) * alift +
                              (magnitude(cxay) + magnitude(axcy)) * blift + (magnitude(axby) + magnitude(bxay)) * clift;
    const float64 bound = INCIRCLE_BOUND * permanent;
    return determinant > bound ? 1 : (-determinant > bound ? -1 : UNSURE);
}

INLINE int incircle(Point a, Point b, Point c, Point d) {
    const int sign = incircle_by_filter(a, b, c, d);
    return sign == UNSURE ? incircle_exact(a, b, c, d) : sign;
}

// The ways in which a kernel evaluates predicates: exact (`EXACT`), or filtered on a GPU (`FILTERED`), which leaves
// inconclusive cases to a kernel that follows. On a GPU the calls of exact arithmetic would cost the kernels of the
// common case half of their threads, because of the registers that they need; on a CPU they cost nothing unless they
// are made.
enum Arithmetic { EXACT, FILTERED };

template <Arithmetic arithmetic> INLINE int orient2d_with(Point a, Point b, Point c) {
    return arithmetic == FILTERED && EXACT_IS_DEAR ? orient2d_by_filter(a, b, c) : orient2d(a, b, c);
}
template <Arithmetic arithmetic> INLINE int incircle_with(Point a, Point b, Point c, Point d) {
    return arithmetic == FILTERED && EXACT_IS_DEAR ? incircle_by_filter(a, b, c, d) : incircle(a, b, c, d);
}
