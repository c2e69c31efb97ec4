"""Signs of polynomials in coordinates, decided without any rounding, many at a time.

A predicate is written once, as a polynomial in coordinate differences (`polynomials`). `signs` evaluates that one text
with three kinds of number, each for the tests that the one before could not decide:

1. `Bounded`: float64 arrays that carry a proven bound of their own rounding error;
2. `Limbs`: vectorised integers of as many 28-bit limbs as the coordinates need;
3. Python integers, for coordinates whose exponents lie far apart.

Nothing here knows the kernels' predicates (`cuda_src`), which use other arithmetic: the two can check each other.
numpy and the standard library only.
"""

from dmr.exact.points import Points
from dmr.exact.signs import integer_signs, signs

__all__ = ["Points", "integer_signs", "signs"]
