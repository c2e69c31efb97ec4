"""Samples a function ahead, on a quadtree: few calls for many points each, one per level of the tree.

A rectangle is divided into four as long as it is wide compared with the sizes at its corners, or the function differs
there from what the corners of its parent give. Rectangles that do not meet the domain are left out. Gmsh and other
meshers interpolate sizes in a background mesh for the same reason: a function need not be called for each triangle.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import checks_keywords, real_option
from dmr.common.text import option
from dmr.errors import OptionError
from dmr.memory import Device, open_device
from dmr.mesh.types import Float, Int, Mesh
from dmr.sizing.extent import Extent
from dmr.sizing.functions import FunctionSizes, Size, called, not_above_0, size_source
from dmr.sizing.quadtree import SIDES, Quadtree
from dmr.sizing.size_field import SizeField
from dmr.sizing.source import SizeSource

COARSEST = 2.0  # a leaf is at most this many times as wide as the sizes at its corners;
FINEST = 5.0  # it is divided for the sake of accuracy while it is wider than this times the error
FEWEST_LEVELS = 4
MOST_LEVELS = 29  # the coordinates of a sample fit a key of 64 bits
MOST_SAMPLES = 2**25

# The corners of a rectangle, the middles of its sides and its center, in halves of its width: row by row, from below.
PLACES = np.array([(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)])
CORNERS = [0, 2, 6, 8]
NEW = [1, 3, 4, 5, 7]
OF_QUADRANTS = np.array([(0, 1, 3, 4), (1, 2, 4, 5), (3, 4, 6, 7), (4, 5, 7, 8)])


class Rectangles(NamedTuple):
    """Rectangles of one level of the tree.

    Attributes:
        nodes: (k,) their numbers; places: (k, 2) columns and rows; corners: (k, 4) samples.
        deviations: (k,) the largest relative difference between the function and the interpolation in the parent.
        crossed: which boundary edges may cross which of them.
    """

    nodes: NDArray[np.int64]
    places: NDArray[np.int64]
    corners: NDArray[np.int64]
    deviations: Float
    crossed: NDArray[np.int64]


class Samples:
    """The samples so far: their coordinates and sizes, NaN where the function gives none outside the domain."""

    def __init__(self, source: FunctionSizes, extent: Extent) -> None:
        self.points, self.values = np.empty((0, 2)), np.empty(0)
        self._source, self._extent = source, extent

    def add(self, places: Float) -> NDArray[np.int64]:
        """Calls the function for places, relative to the extent; returns the numbers of the samples.

        Raises:
            OptionError: too many samples; or a size inside the domain is not above 0.
        """
        first, points = len(self.values), self._extent.low + places * self._extent.size
        if first + len(points) > MOST_SAMPLES:
            raise OptionError(
                f"{option(self._source.name)} needs more than {MOST_SAMPLES:,} samples: its values are too small for "
                "the domain"
            )
        found = called(self._source.function, points, self._source.name).copy()
        wrong = np.flatnonzero(~(found > 0))
        inside = wrong[self._extent.holds(points[wrong])]
        if inside.size:
            raise not_above_0(self._source.name, found, points, int(inside[0]))
        found[wrong] = np.nan
        self.points = np.concatenate([self.points, points])
        self.values = np.concatenate([self.values, self._source.as_lengths(found)])
        return np.arange(first, len(self.values))


@checks_keywords
def sampled(size: SizeSource | Size, over: Mesh | ArrayLike, *, error: float = 0.05) -> SizeField:
    """Samples a function once, on a grid that is fine where the sizes are small: a field for `dmr.refine`.

    The grid is a quadtree. A rectangle of it is at most twice as wide as the sizes at its corners. It is divided
    further where the function differs from the interpolation by more than `error`, until its width is 5 * `error` times
    these sizes: sizes that jump stay blurred by this width. `deviation` of the field is the largest difference that is
    left where both were compared.

    Args:
        size: a function of (n, 2) points, read-only, that returns (n,) sizes > 0, inf for no bound. It is called once
            per level of the tree, and once per point. Outside the domain it may return NaN: the sizes of the nearest
            samples are taken there.
        over: the domain, a mesh: only rectangles that meet its triangles are sampled; or a rectangle (x0, y0, x1, y1).
        error: the relative difference that is accepted, above 0.

    Raises:
        OptionError: `size` is not a function, or returns a size inside the domain that is not above 0; it would take
            more than 2^25 samples; or the domain or the error is invalid.
    """
    source = size_source(size)
    error = real_option("error", error)
    if not (math.isfinite(error) and error > 0):
        raise OptionError(f"error must be a finite number above 0, not {error:g}")
    return sampled_on(open_device("cpu"), source, over, error=error)


def sampled_on(device: Device, source: SizeSource, over: Mesh | ArrayLike, *, error: float = 0.05) -> SizeField:
    """Samples sizes once, with the help of a device; the other arguments, and errors, are those of `sampled`."""
    function = source if isinstance(source, FunctionSizes) else FunctionSizes(source, "size")
    tree, sizes = _sample(function, Extent(over, device), error)
    return SizeField.on_support(tree, sizes)


def _sample(function: FunctionSizes, extent: Extent, error: float) -> tuple[Quadtree, Float]:
    """Samples a function; returns the tree, and the sizes at its samples."""
    samples = Samples(function, extent)
    now = Rectangles(
        np.zeros(1, np.int64), np.zeros((1, 2), np.int64), samples.add(PLACES[CORNERS] / 2)[None], np.zeros(1),
        extent.crossed(),
    )  # fmt: skip
    corners, children, deviation, level = [now.corners], [], 0.0, 0
    while True:
        divided = _is_divided(now, samples.values, extent, level, error)
        deviation = max(deviation, now.deviations[~divided].max(initial=0.0))
        made = np.full((len(now.nodes), 4), -1)
        children.append(made)
        if not divided.any():
            break
        now, made[divided] = _divide(now, divided, samples, extent, level, sum(map(len, corners)))
        corners.append(now.corners)
        level += 1
    (left, bottom), (width, height) = extent.low.tolist(), extent.size.tolist()
    tree = Quadtree(
        left=left, bottom=bottom, width=width, height=height, depth=level,
        children=np.concatenate(children).astype(np.int32), corners=np.concatenate(corners).astype(np.int32),
        points=samples.points, deviation=float(deviation),
    )  # fmt: skip
    return tree, _completed(samples.values, tree.corners)


def _is_divided(now: Rectangles, values: Float, extent: Extent, level: int, error: float) -> NDArray[np.bool_]:
    if level < FEWEST_LEVELS or level == MOST_LEVELS:
        return np.full(len(now.nodes), level < FEWEST_LEVELS)
    width = extent.size.max() / 2.0**level
    sizes = values[now.corners]
    least = np.where(np.isnan(sizes), np.inf, sizes).min(axis=1)
    divided: NDArray[np.bool_] = (width > COARSEST * least) | (
        (now.deviations > error) & (width > FINEST * error * least)
    )
    return divided


def _divide(
    now: Rectangles, divided: NDArray[np.bool_], samples: Samples, extent: Extent, level: int, nodes: int
) -> tuple[Rectangles, NDArray[np.int64]]:
    """Divides rectangles; returns the quadrants that meet the domain, and (k, 4) their numbers, -1 for the others."""
    kept = np.flatnonzero(divided)
    places, corners = now.places[kept], now.corners[kept]
    quadrants = 2 * places[:, None] + PLACES[[0, 1, 3, 4]]
    meets, crossed = extent.meets(quadrants, now.crossed, kept, level + 1)

    # A new place is needed by those of the quadrants that have it as a corner.
    needed = np.zeros((len(kept), 9), bool)
    for place, one, other in ((1, 0, 1), (3, 0, 2), (5, 1, 3), (7, 2, 3)):
        needed[:, place] = meets[:, one] | meets[:, other]
    needed[:, 4] = meets.any(axis=1)
    halves = 2 * places[:, None] + PLACES
    side = 2 ** (level + 1) + 1
    keys, inverse = np.unique((halves[..., 0] * side + halves[..., 1])[needed], return_inverse=True)
    numbers = np.full((len(kept), 9), -1)
    numbers[:, CORNERS] = corners
    new = samples.add(np.stack([keys // side, keys % side], axis=1) / (side - 1))
    numbers[needed] = new[inverse.reshape(-1)]

    found = np.where(needed[:, NEW], samples.values[numbers[:, NEW]], np.nan)
    deviations = _deviations(samples.values[corners], found)
    row, quadrant = np.nonzero(meets)
    made = np.full(meets.shape, -1)
    made[row, quadrant] = nodes + np.arange(len(row))
    below = Rectangles(
        made[row, quadrant], quadrants[row, quadrant], numbers[row[:, None], OF_QUADRANTS[quadrant]], deviations[row],
        crossed,
    )  # fmt: skip
    return below, made


def _deviations(corners: Float, found: Float) -> Float:
    """The largest relative difference between what is found at the new places and what the corners give there."""
    with np.errstate(all="ignore"):  # sizes may be infinite, unknown, or at the ends of the range of floats
        one, two, three, four = (0.5 * corner for corner in corners.T)
        middle = 0.5 * one + 0.5 * two + 0.5 * three + 0.5 * four
        given = np.stack([one + two, one + three, middle, two + four, three + four], axis=1)
        differences = np.abs(found - given) / np.minimum(found, given)
    differences[np.isinf(found) & np.isinf(given)] = 0.0
    largest: Float = np.where(np.isnan(differences), 0.0, differences).max(axis=1)
    infinite = np.isinf(corners)
    largest[infinite.any(axis=1) & ~infinite.all(axis=1)] = np.inf  # the bound ends somewhere in the rectangle
    return largest


def _completed(values: Float, corners: Int) -> Float:
    """Gives samples without a size the smallest one of their neighbours, one layer after the other."""
    sides = np.concatenate([corners[:, pair] for pair in SIDES])
    values = values.copy()
    while np.isnan(values).any():
        known = ~np.isnan(values[sides])
        there, here = sides[known[:, 0] & ~known[:, 1]], sides[known[:, 1] & ~known[:, 0]][:, ::-1]
        pairs = np.concatenate([there, here])
        if not len(pairs):
            values[np.isnan(values)] = np.inf
            break
        values[pairs[:, 1]] = np.inf
        np.minimum.at(values, pairs[:, 1], values[pairs[:, 0]])
    return values
