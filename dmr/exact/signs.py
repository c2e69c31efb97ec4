"""Exact sign of a polynomial in differences of floats: a filter, then vectorised integers, then Python integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.exact.bounded import Bounded
from dmr.exact.limbs import LIMB, Limbs
from dmr.exact.polynomials import Polynomial

Float = NDArray[np.float64]
Int64 = NDArray[np.int64]
Signs = NDArray[np.int8]
Pair = tuple[Float, Float]

# Longer integers are computed by Python, because the cost of a product is quadratic in the number of limbs.
_MAX_LIMBS = 12
# The exponent that marks a zero. It is above all others: every float is an integer multiple of 2^-1074.
_NO_EXPONENT = 5000


def signs(polynomial: Polynomial, pairs: Sequence[Pair]) -> Signs:
    """Compute the signs of polynomial(p0 - q0, p1 - q1, ...), with exact differences.

    Args:
        polynomial: homogeneous, of degree at most 4 (the filter's floor for underflow depends on this).
        pairs: (p, q), arrays of finite floats, all of equal length.

    Returns:
        -1, 0 or 1 for each element.
    """
    differences, scale = _scaled_differences(pairs)
    with np.errstate(all="ignore"):
        result, undecided = polynomial(*(Bounded.difference(d * scale) for d in differences)).sign()
    rest = np.flatnonzero(undecided)
    if rest.size:
        result[rest] = integer_signs(polynomial, [(p[rest], q[rest]) for p, q in pairs])
    checked: Signs = result
    return checked


def _scaled_differences(pairs: Sequence[Pair]) -> tuple[list[Float], float]:
    """Compute the rounded differences, and a power of two that scales all of them below 2^25 and the largest near 1.

    Multiplying by it is exact, except for numbers that become subnormal: their error of 2^-1075 is covered by the floor
    of `Bounded`, like that of any product that underflows. (A difference that overflows stays infinite.)
    """
    with np.errstate(all="ignore"):
        differences = [p - q for p, q in pairs]
    largest = max((float(np.abs(d).max()) for d in differences if d.size), default=0.0)
    exponent = int(np.frexp(largest)[1]) if np.isfinite(largest) else 1024
    return differences, 2.0 ** -min(max(exponent, -1000), 1000)


def integer_signs(polynomial: Polynomial, pairs: Sequence[Pair]) -> Signs:
    """Compute the same as `signs`, but without the filter, in integers only."""
    count = len(pairs[0][0])
    result = np.zeros(count, np.int8)
    whole = [_difference(p, q) for p, q in pairs]
    # All differences of one test are scaled to the smallest of their exponents.
    low = np.minimum.reduce([exponent for _, exponent, _ in whole])
    shifts = [exponent - low for _, exponent, _ in whole]
    fits = np.logical_and.reduce([fit for _, _, fit in whole])
    bits = np.zeros(count, np.int64)
    for (value, _, _), shift in zip(whole, shifts, strict=True):
        length = np.frexp(np.abs(value.astype(np.float64)))[1]  # of the rounded value: never too small
        np.maximum(bits, np.where(value != 0, length + shift, 0), out=bits)
    limbs = np.where(fits, bits // LIMB + 1, _MAX_LIMBS + 1)
    for size in np.unique(np.minimum(limbs, _MAX_LIMBS + 1)):
        group = np.flatnonzero(limbs == size) if size <= _MAX_LIMBS else np.flatnonzero(limbs > _MAX_LIMBS)
        if size <= _MAX_LIMBS:
            longest = int(bits[group].max())
            arguments: list[Any] = [
                Limbs.shifted(value[group], shift[group], longest)
                for (value, _, _), shift in zip(whole, shifts, strict=True)
            ]
            result[group] = polynomial(*arguments).sign()
        else:
            arguments = _python_differences([(p[group], q[group]) for p, q in pairs])
            value = polynomial(*arguments)
            result[group] = (value > 0).astype(np.int8) - (value < 0).astype(np.int8)
    return result


def _mantissas(values: Float) -> tuple[Int64, Int64]:
    """Compute integers m and exponents e with values = m * 2^e; m is odd and below 2^53, or 0 with e = _NO_EXPONENT."""
    fractions, exponents = np.frexp(values)
    whole = (fractions * 2.0**53).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    zero = whole == 0
    lowest[zero] = 0
    return whole >> lowest, np.where(zero, _NO_EXPONENT, exponents.astype(np.int64) - 53 + lowest)


def _difference(p: Float, q: Float) -> tuple[Int64, Int64, NDArray[np.bool_]]:
    """Compute p - q exactly as value * 2^exponent, with a mask of those that fit in 62 bits (others are undefined).

    A difference of zero has an exponent above all others, so that it does not affect the common exponent.
    """
    p_whole, p_low = _mantissas(p)
    q_whole, q_low = _mantissas(q)
    low = np.minimum(p_low, q_low)
    p_shift = np.where(p_whole != 0, p_low - low, 0)
    q_shift = np.where(q_whole != 0, q_low - low, 0)
    # Both parts must be below 2^62 in magnitude: mantissas have at most 53 bits, so shifts by up to 9 always fit.
    p_bits = np.frexp(np.abs(p_whole).astype(np.float64))[1] + p_shift
    q_bits = np.frexp(np.abs(q_whole).astype(np.float64))[1] + q_shift
    fits = np.maximum(p_bits, q_bits) <= 62
    value = np.where(fits, (p_whole << np.minimum(p_shift, 62)) - (q_whole << np.minimum(q_shift, 62)), 0)
    return value, np.where(fits & (value != 0), low, _NO_EXPONENT), fits


def _python_differences(pairs: Sequence[Pair]) -> list[NDArray[Any]]:
    """Compute the exact differences as arrays of Python integers, scaled to one exponent for the whole group."""
    parts = [(_mantissas(p), _mantissas(q)) for p, q in pairs]
    low = min(int(exponent.min()) for pair in parts for _, exponent in pair)

    def integers(whole: Int64, exponent: Int64) -> NDArray[Any]:
        shift = np.where(whole != 0, exponent - low, 0)
        # Shift arrays of Python objects, which cannot overflow.
        shifted: NDArray[Any] = np.left_shift(whole.astype(object), shift.astype(object))
        return shifted

    return [integers(*p) - integers(*q) for p, q in parts]
