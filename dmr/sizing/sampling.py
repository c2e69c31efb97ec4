"""Samples a function ahead, on a quadtree: few calls for many points each, one per level of the tree.

A rectangle is divided into four as long as it is wide compared with the sizes at its corners, or the function differs
there from what the corners of its parent give. Rectangles that do not meet the domain are left out. The first one is
about as high as wide, also where the domain is not: of a long channel, one row of small rectangles is left. Gmsh and
other meshers interpolate sizes in a background mesh for the same reason: a function need not be called for each
triangle.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import checks_keywords, real_option
from dmr.common.text import option
from dmr.errors import OptionError
from dmr.memory import Device, DeviceArray, constant, open_device
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
SOURCE = "sizing/sampling.cu"

PLACES, QUADRANTS = constant("PLACES", SOURCE), constant("QUADRANTS", SOURCE)  # of a rectangle
ROOT = np.array([(0, 0), (1, 0), (0, 1), (1, 1)])  # the corners of the root, in units of its width


class Rectangles(NamedTuple):
    """Rectangles of one level of the tree, on the CPU.

    Attributes:
        places: (2k,) columns and rows; corners: (4k,) samples.
        deviations: (k,) the largest relative difference between the function and the interpolation in the parent.
        rectangles, edges: (p,) pairs of a rectangle and a boundary edge that may cross it.
    """

    places: DeviceArray
    corners: DeviceArray
    deviations: DeviceArray
    rectangles: Int
    edges: Int

    @property
    def size(self) -> int:
        """The number of rectangles."""
        return self.deviations.size


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
        first, points = len(self.values), self._extent.points(places)
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
    """Samples sizes once, on a CPU; the other arguments, and errors, are those of `sampled`."""
    function = source if isinstance(source, FunctionSizes) else FunctionSizes(source, "size")
    tree, sizes = _sample(function, Extent(over, device), error)
    return SizeField.on_support(tree, sizes)


def _sample(function: FunctionSizes, extent: Extent, error: float) -> tuple[Quadtree, Float]:
    """Samples a function; returns the tree, and the sizes at its samples."""
    samples, device = Samples(function, extent), extent.device
    edges = np.arange(extent.edges, dtype=np.int32)
    now = Rectangles(
        device.zeros(2, np.int32), device.array(samples.add(ROOT).astype(np.int32)), device.zeros(1, np.float64),
        np.zeros_like(edges), edges,
    )  # fmt: skip
    corners, children, deviation, level, nodes = [now.corners.content()], [], 0.0, 0, 1
    while True:
        divided = _is_divided(now, samples.values, extent, level, error)
        deviation = max(deviation, now.deviations.content()[~divided].max(initial=0.0))
        made = np.full((now.size, QUADRANTS), -1, np.int32)
        children.append(made)
        if not divided.any():
            break
        now, made[divided] = _divide(now, divided, samples, extent, level, nodes)
        corners.append(now.corners.content())
        nodes += now.size
        level += 1
    (left, bottom), (width, height) = extent.low.tolist(), extent.size.tolist()
    tree = Quadtree(
        left=left, bottom=bottom, width=width, height=height, depth=level, children=np.concatenate(children),
        corners=np.concatenate(corners).reshape(-1, QUADRANTS), points=samples.points, deviation=float(deviation),
    )  # fmt: skip
    return tree, _completed(samples.values, tree.corners)


def _is_divided(now: Rectangles, values: Float, extent: Extent, level: int, error: float) -> NDArray[np.bool_]:
    if level < FEWEST_LEVELS or level == MOST_LEVELS:
        return np.full(now.size, level < FEWEST_LEVELS)
    device, width = extent.device, float(extent.size.max() / 2.0**level)
    flags = device.empty(now.size, np.int32)
    device.launch(
        "choose_divided", now.size, now.corners, device.as_input(values), now.deviations, width, COARSEST,
        FINEST * error, error, flags,
    )  # fmt: skip
    return flags.content().astype(bool)


def _divide(
    now: Rectangles, divided: NDArray[np.bool_], samples: Samples, extent: Extent, level: int, nodes: int
) -> tuple[Rectangles, Int]:
    """Divides rectangles; returns the quadrants that meet the domain, and (k, 4) their numbers, -1 for the others."""
    device, kept = extent.device, np.flatnonzero(divided)
    places, corners = (
        device.array(array.content().reshape(now.size, -1)[kept].reshape(-1)) for array in (now.places, now.corners)
    )
    meets, crossed, crossing = extent.meets(places, kept, now.rectangles, now.edges, level + 1)
    row_bits = level + 2  # of the rows 0 to 2 ** (level + 1)
    children, numbers = device.empty(meets.size, np.int32), device.empty(PLACES * len(kept), np.int32)
    most = (PLACES - QUADRANTS) * len(kept)
    slots = 1 << (2 * most).bit_length()
    counts, keys = device.empty(2, np.int32), device.empty(most, np.int64)
    device.launch(
        "number_quadrants", 1, meets, places, corners, len(kept), nodes, row_bits, children, numbers,
        device.zeros(slots, np.uint64), device.empty(slots, np.int32), slots - 1, keys, counts,
    )  # fmt: skip
    made, found = counts.content().tolist()
    order = np.argsort(keys.content()[:found])
    new = keys.content()[order]
    rank = np.empty(found, np.int32)
    rank[order] = np.arange(found, dtype=np.int32)
    first = len(samples.values)
    samples.add(np.stack([new >> row_bits, new & (2**row_bits - 1)], axis=1) / 2.0 ** (level + 1))
    below = Rectangles(
        device.empty(2 * made, np.int32), device.empty(QUADRANTS * made, np.int32), device.empty(made, np.float64),
        children.content()[crossed] - np.int32(nodes), crossing,
    )  # fmt: skip
    device.launch(
        "complete_quadrants", len(kept), device.array(rank), first, device.as_input(samples.values), places, children,
        nodes, numbers, below.places, below.corners, below.deviations,
    )  # fmt: skip
    return below, children.content().reshape(-1, QUADRANTS)


def _completed(values: Float, corners: Int) -> Float:
    """Gives samples without a size the smallest one of their neighbours, one layer after the other."""
    if not np.isnan(values).any():
        return values
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
