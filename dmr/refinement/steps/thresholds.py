"""The thresholds that the kernels compare with, computed identically on every machine.

The computation does not use libm: its last bits differ between systems, and one bit of a threshold could change a mesh.
Sines and cosines are summed in integer arithmetic, far beyond a double's precision, and rounded once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from dmr.common.cached import cached_property
from dmr.memory import Packed, pack
from dmr.refinement.options import RefineOptions

_BITS = 200
_ONE = 1 << _BITS
# pi to 70 digits, in units of 2^-200
_PI = (31415926535897932384626433832795028841971693993751058209749445923078164 << _BITS) // 10**70

# The margin by which the kernels' tests are stricter than the bound, relative to cos^2 and to areas: more than their
# rounding errors.
MARGIN = 2.0**-40


# Pieces are slightly shorter than the bound allows: the distance to what faces a segment varies along it.
STRAIGHTNESS = Fraction(98, 100)


@dataclass(frozen=True)
class Recipe:
    """Choices that the bounds leave open: they affect the size of a result, but no guarantee.

    Attributes:
        off_center: off-centers are placed at this fraction of the height at which the triangle on the shortest edge
            would just meet the bound (Ungor's off-center, slightly inside the bound).
        lens: segments are split for a point in their diametral lens, not in their whole diametral circle.
        worst_first: skinny triangles are refined in order of their angles, smallest first; not of their shortest edges.
        one_by_one: a round inserts only one point. Points inserted side by side, as the two sides of a symmetric
            domain require, may be more than are needed one after another.
    """

    off_center: Fraction
    lens: bool
    worst_first: bool = False
    one_by_one: bool = False


USUAL = Recipe(Fraction(95, 100), lens=True)

# Meshes of a few dozen triangles are subject to chance: these recipes give results of the same size on average, but
# seldom do all of them give a large one.
FOR_TINY_MESHES = (
    USUAL,
    Recipe(Fraction(95, 100), lens=False),
    Recipe(Fraction(97, 100), lens=True),
    Recipe(Fraction(90, 100), lens=True),
    Recipe(Fraction(75, 100), lens=True, worst_first=True),
    Recipe(Fraction(85, 100), lens=True, one_by_one=True),
    Recipe(Fraction(95, 100), lens=True, one_by_one=True),
    Recipe(Fraction(95, 100), lens=False, one_by_one=True),
    Recipe(Fraction(95, 100), lens=True, worst_first=True, one_by_one=True),
)


@lru_cache(maxsize=64)
def cosine_and_sine(degrees: float) -> tuple[Fraction, Fraction]:
    """Computes cos and sin of an angle between 0 and 180 degrees, to about 190 bits."""
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
    """The thresholds that the kernels use.

    Attributes:
        cosine_squared: a triangle is skinny if the squared cosine of its smallest angle exceeds it; 2 for no bound.
        doubled_area: a triangle is large if twice its area exceeds it; infinity for no bound.
        squared_edge: a triangle is large if the squared length of an edge exceeds it; infinity for no bound.
        off_center_limit: height of an off-center over the shortest edge, in lengths of that edge; infinity for
            circumcenters.
        clearance: squared distance that other points of a triangle's petal must keep from all vertices, in squared
            lengths of its shortest edge; infinity if no other points are tried.
        lens: squared cosine of the angle under which a point must see a subsegment to encroach on it; 0 for the
            diametral circle.
        stretch: length bound on the pieces of a segment, relative to the distance to what faces it
            (cuda_src/refine/cavity/growth.cuh).
        worst_first: 1 if the triangles of smallest angle are the most urgent, 0 if those of shortest edge are.
        most: the most points that a round may insert; 0 for no such limit.
        first: 1 while the first points are inserted, and the input's area bounds are not yet applied (first_points.py).
        grouped: 1 if edges of nearly the same length are ordered by the cells of a grid
        (cuda_src/refine/quality/urgency.cuh).
    """

    cosine_squared: float
    doubled_area: float
    off_center_limit: float
    clearance: float
    lens: float
    stretch: float = math.inf
    squared_edge: float = math.inf
    worst_first: int = 0
    most: int = 0
    grouped: int = 0
    first: int = 0

    def with_edges(self, longest: float) -> Thresholds:
        """Returns the same thresholds, and a bound on the length of edges."""
        return replace(self, squared_edge=longest * longest * (1.0 - MARGIN))

    @cached_property
    def view(self) -> Packed:
        """The kernel argument (`Limits` of cuda_src/mesh/mesh.cuh)."""
        names = (
            "cosine_squared", "doubled_area", "squared_edge", "lens", "off_center_limit", "clearance", "stretch",
            "worst_first", "grouped", "first",
        )  # fmt: skip
        return pack("Limits", **{name: getattr(self, name) for name in names})


def thresholds(options: RefineOptions, recipe: Recipe = USUAL) -> Thresholds:
    """Computes the thresholds from the options of a refinement, and from a recipe for what they leave open."""
    return _thresholds(options.min_angle, options.max_area, options.steiner, options.conforming, recipe)


@lru_cache(maxsize=64)
def _thresholds(min_angle: float, max_area: float | None, steiner: str, conforming: bool, recipe: Recipe) -> Thresholds:
    """Computes the thresholds, and keeps them for later calls, with the kernel argument that is made of them."""
    of_angle = _thresholds_of_angle(min_angle, steiner, conforming, recipe)
    return of_angle if max_area is None else replace(of_angle, doubled_area=2.0 * max_area * (1.0 - MARGIN))


@lru_cache(maxsize=64)
def _thresholds_of_angle(min_angle: float, steiner: str, conforming: bool, recipe: Recipe) -> Thresholds:
    """Computes the thresholds without a bound on areas, and keeps them for later calls: long fractions take 0.1 ms."""
    if min_angle == 0:
        return Thresholds(2.0, math.inf, math.inf, math.inf, 0.0 if conforming else 1.0)
    cosine, sine = cosine_and_sine(min_angle)
    # cot(a / 2) = (1 + cos a) / sin a; an angle that underflows to zero gets circumcenters
    half_cotangent = (1 + cosine) / sine / 2 if sine else Fraction(2**1000)
    limit = (
        math.inf if steiner == "circumcenter" or half_cotangent > 2**900 else float(recipe.off_center * half_cotangent)
    )
    # Circumcenters are at a distance of at least 1 / (2 sin a).
    chosen = steiner == "petal" and limit < 2**400
    clearance = float(1 / (4 * sine * sine)) if chosen else math.inf
    # The lens is seen under 180 - 2 a; from a = 45 on it would be larger than the circle. A center on its boundary must
    # be in it in spite of rounding, as that of an equilateral triangle if a = 30: otherwise the refinement of an
    # equilateral domain may not end.
    doubled_cosine = max(2 * cosine * cosine - 1, Fraction(0))
    lens = 0.0 if conforming or not recipe.lens else float(doubled_cosine * doubled_cosine) * (1.0 - MARGIN)
    return Thresholds(
        float(cosine * cosine) * (1.0 - MARGIN),
        math.inf,
        limit,
        clearance,
        lens,
        _stretch(sine, cosine, conforming),
        worst_first=int(recipe.worst_first),
        most=int(recipe.one_by_one),
    )


def _stretch(sine: Fraction, cosine: Fraction, conforming: bool) -> float:
    """Returns the length bound on pieces: the ratio of the legs, longest over other, of a right triangle at the bound.

    In a conforming mesh it is at most 2, since nothing may lie in the circle around a piece.
    """
    if not sine:
        return math.inf
    longest = float(STRAIGHTNESS * cosine / sine) if cosine < 2**900 * sine else math.inf
    return min(longest, 2 * float(STRAIGHTNESS)) if conforming else longest
