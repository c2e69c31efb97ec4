"""Vectorised float64 filters for triangles and edges, with one proven error bound per test.

Undecided tests go to `Points`, which applies a finer filter and then decides exactly. With e = 2^-53, a difference of
two coordinates is rounded once, so its relative error is at most e. Products of two such differences have a relative
error below 3 e + O(e^2), each sum adds e, and |ux vy| + |uy vx| <= |u| |v| <= (|u|^2 + |v|^2) / 2 (Cauchy-Schwarz); the
same holds for |ux vx| + |uy vy|.

*Triangles.* Let S be the sum of the three squared lengths.

* The error of the doubled area T = cross(u, v) is at most 4 e |u| |v| <= 2 e S.
* The scalar product of the two sides at a corner is (S - 2 l) / 2, where l is the squared length of the opposite side.
  The largest scalar product, at the smallest angle, belongs to the smallest l. The error of S is at most 6 e S, that of
  l at most 4 e l, and l <= S / 2. Together, halved, and with the last rounding, the error is less than 8 e S.

Both are below 16 e S (`_TRIANGLE` S), computed with any rounding of S.

*Circles.* Let a, b, c be relative to d, and L = |a|^2 + |b|^2 + |c|^2. The determinant is the sum of |a|^2 cross(b, c)
and two similar terms. The error of |a|^2 is at most 4 e |a|^2, that of the cross product 4 e |b| |c|. With the product
and two sums, the error of a term is 11 e |a|^2 |b| |c| <= 11 e |a|^2 (|b|^2 + |c|^2) / 2, and that of all three is
11 e L^2 / 3, below 8 e L^2 (`_CIRCLE` L^2).

Overflow leads to an infinity or a NaN in a bound, and the test stays undecided. Coordinates below 2^200 in magnitude
are not scaled, unless all are tiny; others are scaled by a power of two (`unit`) to below 2. Underflow, including that
in the scaling, adds less than 2^-1000 to squares, cross products and scalar products. The determinant multiplies these
errors by less than 2^405. The floors are above both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Complex = NDArray[np.complex128]
Mask = NDArray[np.bool_]

_TRIANGLE, _TRIANGLE_FLOOR = 2.0**-49, 2.0**-900
_CIRCLE, _CIRCLE_FLOOR = 2.0**-50, 2.0**-590
# Exponents of the largest coordinate that require no scaling.
_ORDINARY = range(-50, 201)


def unit(vertices: Float) -> float:
    """Choose a power of two by which to scale coordinates, so that no fourth power overflows; 1 for ordinary ones."""
    largest = max(float(vertices.max()), -float(vertices.min())) if vertices.size else 0.0
    exponent = int(np.frexp(largest)[1])
    return 1.0 if exponent in _ORDINARY or not largest else 2.0 ** -min(max(exponent, -1000), 1023)


class Shapes:
    """Shapes of triangles, up to rounding.

    Args:
        a, b, c: (k,) the corners as complex numbers, scaled (`unit`).

    Attributes:
        twice: (k,) twice the signed areas.
        widest, narrowest: (k,) the smallest and the largest scalar product of the two sides at a corner, which occur at
            the largest and the smallest angle.
        error: (k,) bounds of the rounding errors of these three values; infinity or NaN where there is no bound.
    """

    def __init__(self, a: Complex, b: Complex, c: Complex) -> None:
        u, v, w = c - b, a - c, b - a
        first, second, third = (_square(side) for side in (u, v, w))
        self.twice = v.real * w.imag
        self.twice -= v.imag * w.real
        total = first + second
        total += third
        total *= 0.5
        shortest = np.minimum(first, second)
        np.minimum(shortest, third, out=shortest)
        np.maximum(first, second, out=first)
        longest = np.maximum(first, third, out=first)
        self.narrowest = np.subtract(total, shortest, out=shortest)
        self.widest = np.subtract(total, longest, out=longest)
        total *= 2 * _TRIANGLE
        total += _TRIANGLE_FLOOR
        self.error = total

    def orientation(self) -> tuple[Mask, Mask]:
        """Return masks of the triangles that are certainly counter-clockwise, and certainly clockwise."""
        return self.twice > self.error, self.twice < -self.error

    def surely_at_least(self, cotangent: float) -> Mask:
        """Return a mask of the triangles that certainly have no angle below the one with this cotangent."""
        room = np.abs(self.twice)
        room -= self.error
        room *= cotangent
        result: Mask = self.narrowest + self.error <= room
        return result


def in_circle(a: Complex, b: Complex, c: Complex, d: Complex) -> tuple[Mask, Mask]:
    """Filtered in-circle test: whether d lies strictly inside the circle through a, b, c (counter-clockwise).

    All points are scaled (`unit`); the arrays are overwritten.

    Returns:
        Masks of the tests that are certainly true, and certainly false.
    """
    a -= d
    b -= d
    c -= d
    lifts = [_square(p) for p in (a, b, c)]
    value = lifts[0] * _cross(b, c)
    value += lifts[1] * _cross(c, a)
    value += lifts[2] * _cross(a, b)
    error = lifts[0]
    error += lifts[1]
    error += lifts[2]
    error *= error
    error *= _CIRCLE
    error += _CIRCLE_FLOOR
    return value > error, value < -error


def _square(p: Complex) -> Float:
    result: Float = p.real * p.real
    result += p.imag * p.imag
    return result


def _cross(p: Complex, q: Complex) -> Float:
    result: Float = p.real * q.imag
    result -= p.imag * q.real
    return result
