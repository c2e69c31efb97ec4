"""Exact signs of polynomials in coordinates, vectorised.

A predicate is written once, as a polynomial in coordinate differences (`polynomials`). `signs` evaluates it with three
number types in turn, each for the tests that the previous one could not decide:

1. `Bounded`: float64 arrays with a proven bound of their rounding error;
2. `Limbs`: vectorised integers with as many 28-bit limbs as the coordinates need;
3. Python integers, for coordinates whose exponents differ widely.

This package is independent of the kernels' predicates (`cuda_src`), which use different arithmetic, so that the two can
be checked against each other. It uses only numpy and the standard library.
"""

from dmr.exact.points import Points
from dmr.exact.signs import integer_signs, signs

__all__ = ["Points", "integer_signs", "signs"]
