"""The numbers that the kernels compare with, computed the same on every machine.

No libm takes part: its last bits differ between systems, and one bit of a threshold could change a mesh. Sines and
cosines are summed in integer arithmetic, far beyond a double's precision, and rounded once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dmr.options import RefineOptions

_BITS = 200
_ONE = 1 << _BITS
# pi to 70 digits, in units of 2^-200
_PI = (31415926535897932384626433832795028841971693993751058209749445923078164 << _BITS) // 10**70

# How much stricter than the bound the kernels test, relative to cos^2 and to areas: more than their rounding errors.
MARGIN = 2.0**-40

# Off-centers are placed a little inside the bound, so that the triangle on the shortest edge passes with room to
# spare: at this fraction of the height at which it would just pass (Ungor's alpha-off-center with a safety margin).
OFF_CENTER_FACTOR = Fraction(95, 100)


def cosine_and_sine(degrees: float) -> tuple[Fraction, Fraction]:
    """cos and sin of an angle between 0 and 180 degrees, to about 190 bits."""
    x = int(Fraction(degrees) / 180 * _PI)
    cosine, sine, term, k = 0, 0, _ONE, 0
    while term:
        if k % 2 == 0:
            cosine += term if k % 4 == 0 else -term
        else:
            sine += term if k % 4 == 1 else -term
        k += 1
        term = term * x // _ONE // k
    return Fraction(cosine, _ONE), Fraction(sine, _ONE)


@dataclass(frozen=True)
class Thresholds:
    """What the kernels take.

    Attributes:
        cosine_squared: a triangle is skinny where the squared cosine of its smallest angle exceeds it; 2 for no bound.
        doubled_area: a triangle is large where twice its area exceeds it; infinity for no bound.
        off_center_limit: height of an off-center over the shortest edge, in lengths of that edge; infinity for
            circumcenters.
        lens: squared cosine of the angle under which a point must see a subsegment to encroach on it; 0 for the
            diametral circle.
    """

    cosine_squared: float
    doubled_area: float
    off_center_limit: float
    lens: float


def thresholds(options: RefineOptions) -> Thresholds:
    """The thresholds that follow from the options of a refinement."""
    area = math.inf if options.max_area is None else 2.0 * options.max_area * (1.0 - MARGIN)
    if options.min_angle == 0:
        return Thresholds(2.0, area, math.inf, 0.0 if options.conforming else 1.0)
    cosine, sine = cosine_and_sine(options.min_angle)
    half_cotangent = (1 + cosine) / sine / 2  # cot(a / 2) = (1 + cos a) / sin a
    limit = math.inf if options.steiner == "circumcenter" else float(OFF_CENTER_FACTOR * half_cotangent)
    # The lens is seen under 180 - 2 a; from a = 45 on it would be larger than the circle.
    doubled_cosine = max(2 * cosine * cosine - 1, Fraction(0))
    lens = 0.0 if options.conforming else float(doubled_cosine * doubled_cosine)
    return Thresholds(float(cosine * cosine) * (1.0 - MARGIN), area, limit, lens)
