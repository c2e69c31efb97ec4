"""Float64 arrays with a proven bound of their rounding error: the filter in front of exact arithmetic.

The bound. A `Bounded` represents exact numbers X by a value x, a size s and a count k with

    |x| <= s   and   |x - X| <= g(k) s,      g(k) = (1 + 2e)^k - 1,   e = 2^-53.

Without overflow and underflow, every operation preserves this invariant, because IEEE rounding is monotone and
fl(y) = y (1 + d), |d| <= e:

* A difference of two floats, x = fl(p - q), s = |x|, k = 1: |x - X| <= e |X| <= e/(1 - e) |x| <= 2e s.
* A product, s = fl(sa sb), k = ka + kb + 1. With G = (1 + 2e)^(ka + kb),
  |xa xb - Xa Xb| <= sa sb (g(ka) + g(kb) + g(ka) g(kb)) = sa sb (G - 1), rounding adds at most e sa sb, and
  sa sb <= s/(1 - e). So |x - X| <= s (G - 1 + e)/(1 - e), which is at most s ((1 + 2e) G - 1), because multiplying
  out leaves e G (1 - 2e) >= 0.
* A sum or a difference, s = fl(sa + sb), k = max(ka, kb) + 1: the same inequality, with G = (1 + 2e)^max(ka, kb).
* A product with an integer f, s = fl(|f'| sa), f' = fl(f), k = ka + 2: f' differs from f by a factor within 1 +- e,
  which is a Bounded with k = 1.

For k <= 64, g(k) <= 2.01 k e; `sign` uses 2.25 k e, so that rounding of the bound itself is harmless.

Overflow leads to an infinity or a NaN in s, and the test stays undecided. A product that underflows adds an error
of at most 2^-1075, which later factors enlarge. `signs` scales its input so that differences stay below 2^25. With
polynomials of degree at most 4, constants below 2^100 and fewer than 2^10 operations, the total of these errors stays
below 2^(-1075 + 3 * 25 + 100 + 10) < 2^-800, the floor that `sign` adds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 2.0**-53
_FLOOR = 2.0**-800


class Bounded:
    """Arrays of numbers with a bounded error, all of one shape; see the module docstring."""

    __slots__ = ("roundings", "size", "value")

    def __init__(self, value: NDArray[np.float64], size: NDArray[np.float64], roundings: int) -> None:
        self.value = value
        self.size = size
        self.roundings = roundings

    @classmethod
    def difference(cls, rounded: NDArray[np.float64]) -> Bounded:
        """Represent the exact differences p - q, given their rounded values fl(p - q)."""
        return cls(rounded, np.abs(rounded), 1)

    def __add__(self, other: Bounded) -> Bounded:
        return Bounded(self.value + other.value, self.size + other.size, max(self.roundings, other.roundings) + 1)

    def __sub__(self, other: Bounded) -> Bounded:
        return Bounded(self.value - other.value, self.size + other.size, max(self.roundings, other.roundings) + 1)

    def __mul__(self, other: Bounded) -> Bounded:
        return Bounded(self.value * other.value, self.size * other.size, self.roundings + other.roundings + 1)

    def __rmul__(self, factor: int) -> Bounded:
        return Bounded(self.value * float(factor), self.size * abs(float(factor)), self.roundings + 2)

    def error(self) -> NDArray[np.float64]:
        """Return an upper bound of |value - exact|; infinity or NaN where there is no bound."""
        assert self.roundings <= 64, "the bound of the error is proved up to 64 roundings"
        bound: NDArray[np.float64] = self.size * (2.25 * self.roundings * _ROUNDING) + _FLOOR
        return bound

    def sign(self) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        """Return the signs (-1, 0, 1) and a mask of the undecided ones (whose sign is 0)."""
        error = self.error()
        positive = self.value > error
        negative = self.value < -error
        # An infinite value has an infinite size and thus an infinite error, so neither comparison holds. NaN likewise.
        return positive.astype(np.int8) - negative.astype(np.int8), ~(positive | negative)
