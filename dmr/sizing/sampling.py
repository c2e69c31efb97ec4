"""Samples a function ahead, on a quadtree: few calls for many points each, about one per level of the tree.

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
from numpy.typing import ArrayLike, DTypeLike

from dmr.common.arguments import checks_keywords, real_option
from dmr.common.text import option
from dmr.errors import OptionError
from dmr.memory import Device, DeviceArray, constant, open_device, pack, record
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
FEW = 2**12  # elements: arrays that are used again have more, so that the next level needs no new ones
SOURCE = "sizing/sampling.cu"

POINT = record("Point")
PLACES, QUADRANTS = constant("PLACES", SOURCE), constant("QUADRANTS", SOURCE)  # of a rectangle
ROOT = np.array([(0, 0), (1, 0), (0, 1), (1, 1)])  # the corners of the root, in units of its width


class Rectangles(NamedTuple):
    """Rectangles of one level of the tree, on the CPU. Arrays may be longer.

    Attributes:
        size: the number of rectangles; places: (2 * size,) columns and rows; corners: (4 * size,) samples.
        deviations: (size,) the largest relative difference between the function and the interpolation in the parent.
        pairs: the number of pairs of a rectangle and a boundary edge that may cross it: `rectangles` and `edges`.
    """

    size: int
    places: DeviceArray
    corners: DeviceArray
    deviations: DeviceArray
    pairs: int
    rectangles: DeviceArray
    edges: DeviceArray


class Scratch:
    """Arrays that the levels use one after another, by name. To allocate them again would take much of the time."""

    def __init__(self, device: Device) -> None:
        self._device, self._arrays = device, dict[str, DeviceArray]()

    def __call__(self, name: str, size: int, dtype: DTypeLike = np.int32) -> DeviceArray:
        """Returns an array of at least a size, with any content."""
        found = self._arrays.get(name)
        if found is None or found.size < size:
            found = self._arrays[name] = self._device.empty(max(size + min(size, FEW), FEW), dtype)
        return found


class Samples:
    """The samples so far: their coordinates and sizes, NaN where the function gives none outside the domain."""

    def __init__(self, source: FunctionSizes, extent: Extent) -> None:
        self._points: list[Float] = []
        self._count, self._known = 0, 0
        self._values, self._source, self._extent = np.empty(0), source, extent

    @property
    def count(self) -> int:
        """The number of samples."""
        return self._count

    @property
    def points(self) -> Float:
        """(count, 2) coordinates."""
        return np.concatenate(self._points)

    @property
    def values(self) -> Float:
        """(count,) sizes; calls the function for the samples that were added since the last time.

        Raises:
            OptionError: a size inside the domain is not above 0.
        """
        if self._known < self._count:
            self._points = [self.points]
            points = self._points[0][self._known :]
            found = called(self._source.function, points, self._source.name).copy()
            wrong = np.flatnonzero(~(found > 0))
            if wrong.size:
                inside = wrong[self._extent.holds(points[wrong])]
                if inside.size:
                    raise not_above_0(self._source.name, found, points, int(inside[0]))
                found[wrong] = np.nan
            self._values = np.concatenate([self._values, self._source.as_lengths(found)])
            self._known = self._count
        return self._values

    def add(self, points: Float) -> None:
        """Adds samples.

        Raises:
            OptionError: there are too many.
        """
        if self._count + len(points) > MOST_SAMPLES:
            raise OptionError(
                f"{option(self._source.name)} needs more than {MOST_SAMPLES:,} samples: its values are too small for "
                "the domain"
            )
        self._points.append(points)
        self._count += len(points)


@checks_keywords
def sampled(size: SizeSource | Size, over: Mesh | ArrayLike, *, error: float = 0.05) -> SizeField:
    """Samples a function once, on a grid that is fine where the sizes are small: a field for `dmr.refine`.

    The grid is a quadtree. A rectangle of it is at most twice as wide as the sizes at its corners. It is divided
    further where the function differs from the interpolation by more than `error`, until its width is 5 * `error` times
    these sizes: sizes that jump stay blurred by this width. `deviation` of the field is the largest difference that is
    left where both were compared.

    Args:
        size: a function of (n, 2) points, read-only, that returns (n,) sizes > 0, inf for no bound. It is called once
            for the first levels of the tree, once per further level, and once per point. Outside the domain it may
            return NaN: the sizes of the nearest samples are taken there.
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
    assert device.threads  # what kernels write is read in place
    scratch = Scratch(device)
    samples.add(extent.points(ROOT))
    edges = np.arange(extent.edges, dtype=np.int32)
    now = Rectangles(
        1, device.zeros(2, np.int32), device.array(np.arange(QUADRANTS, dtype=np.int32)), device.zeros(1, np.float64),
        extent.edges, device.zeros(extent.edges, np.int32), device.array(edges),
    )  # fmt: skip
    corners, children, deviation, level, nodes = [now.corners.content()], [], 0.0, 0, 1
    while True:
        made = device.empty(QUADRANTS * now.size, np.int32)
        children.append(made.content())
        below, largest = _divided(now, made, samples, extent, level, nodes, error, scratch)
        deviation = max(deviation, largest)
        if below is None:
            break
        now = below
        corners.append(now.corners.content())
        nodes += now.size
        level += 1
    (left, bottom), (width, height) = extent.low.tolist(), extent.size.tolist()
    values = samples.values
    tree = Quadtree(
        left=left, bottom=bottom, width=width, height=height, depth=level,
        children=np.concatenate(children).reshape(-1, QUADRANTS),
        corners=np.concatenate(corners).reshape(-1, QUADRANTS), points=samples.points, deviation=deviation,
    )  # fmt: skip
    return tree, _completed(values, tree.corners)


def _divided(
    now: Rectangles,
    made: DeviceArray,
    samples: Samples,
    extent: Extent,
    level: int,
    nodes: int,
    error: float,
    scratch: Scratch,
) -> tuple[Rectangles | None, float]:
    """Divides those rectangles of a level that have to be.

    Args:
        now: the rectangles, and `made`: (4k,) receives the numbers of their quadrants that meet the domain, or -1.
        samples, extent: of the tree; level: of the rectangles; nodes: of the tree so far; error: accepted.
        scratch: for all levels.

    Returns:
        The quadrants, or None if no rectangle is divided, and the largest deviation of one that is not divided.
    """
    device, size, pairs, turn = extent.device, now.size, now.pairs, str(level % 2)
    is_full = level < FEWEST_LEVELS  # the function is called for all of these levels at once
    width = math.inf if is_full else -1.0 if level == MOST_LEVELS else float(extent.size.max() / 2.0**level)
    rule = pack("DivisionRule", width=width, coarsest=COARSEST, finest=FINEST * error, error=error)
    values = None if is_full else device.as_input(samples.values)
    places, meets = scratch("divided places", 2 * size), scratch("meets", QUADRANTS * size)
    divided = pack(
        "DividedRectangles", rectangle=scratch("rectangle", size), places=places, meets=meets,
        corners=scratch("divided corners", QUADRANTS * size), is_crossed=scratch("is crossed", size),
    )  # fmt: skip
    of_level = extent.packed_level(level + 1)
    unsure, counts = scratch("unsure", QUADRANTS * size), scratch("counts", 5)
    crossed, crossing = scratch("crossed", QUADRANTS * pairs), scratch("crossing" + turn, QUADRANTS * pairs)
    largest = scratch("deviation", 1, np.float64)
    device.launch(
        "divide_rectangles", 1, size, now.places, now.corners, now.deviations, values, rule, now.rectangles, now.edges,
        pairs, extent.start, extent.end, of_level, divided, scratch("rows", size), crossed,
        crossing, unsure, made, counts, largest,
    )  # fmt: skip
    count, found, others = counts.content()[:3].tolist()
    deviation = float(largest.content()[0])
    if not count:
        return None, deviation
    if others:
        extent.locate(unsure[:others], of_level, places, meets)
    most = (PLACES - QUADRANTS) * count
    slots = 1 << (2 * most).bit_length()
    numbers, points = scratch("numbers", PLACES * count), scratch("points", most, POINT)
    rectangles = scratch("rectangles" + turn, found)
    device.launch(
        "number_quadrants", 1, divided, count, nodes, samples.count, level + 2, extent.packed_places(level + 1), made,
        numbers, scratch("table", slots, np.uint64), scratch("owners", slots), slots - 1, points, counts,
        crossed, found, rectangles,
    )  # fmt: skip
    quadrants, new = counts.content()[3:5].tolist()
    samples.add(points.content()[:new].view(np.float64).reshape(-1, 2).copy())
    below = Rectangles(
        quadrants, scratch("places" + turn, 2 * quadrants), device.empty(QUADRANTS * quadrants, np.int32),
        scratch("deviations" + turn, quadrants, np.float64), found, rectangles, crossing,
    )  # fmt: skip
    at_samples = device.as_input(samples.values) if level + 1 >= FEWEST_LEVELS else None
    device.launch(
        "complete_quadrants", count, divided, at_samples, made, nodes, numbers, below.places, below.corners,
        below.deviations,
    )  # fmt: skip
    return below, deviation


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
