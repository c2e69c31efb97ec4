"""A lattice of equilateral triangles inside a domain, where one size is wanted (`cuda_src/placement/lattice`).

The front then has to fill only what is left between the lattice and the outline. The rows of the lattice are parallel
to the longest segment of the boundary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import sum_in_order
from dmr.memory import Device, DeviceArray, Packed, flagged_indices, pack, real_constant
from dmr.mesh.shapes import enclosed_area
from dmr.mesh.types import Float, Int
from dmr.refinement.placement.metric import lengths
from dmr.refinement.state.records import POINT
from dmr.sizing.source import DeviceSizes

CLEARANCE = (
    3.0  # sizes between the lattice and the outline: walls of narrow strips stay parallel to layers of the front
)
FREE_VERTEX_CLEARANCE = 0.5  # the same for vertices without segments, from which no front advances
MOST_ROWS = 2**24
EVEN = 0.02  # largest relative difference of a size from that of the lattice,
NEARLY_EVEN = 0.14  # and where sizes vary
SAMPLES, LEAST_SHARE = 256, 1 / 16  # of all places, and the share of samples with nearly the size of the lattice
FINER_SAMPLES = 4.0  # where the outline gives few samples: more of these, since many lie near the outline
FIT = 1e-3  # largest sine by which a segment is off the direction of a row,
FIT_OF_LENGTH = 0.02  # and sizes by which its length is off a whole number of them
FINER, COARSER = 0.997, 1.051  # sizes of lattices that fit, in units of the one for placing, 0.98 of the one wanted
ROOT_OF_THREE = real_constant("ROOT_OF_THREE", "placement/layers.cuh")


@dataclass(frozen=True, eq=False)
class _Frame:
    """The frame of lattices in a domain: rows are parallel to the longest segment of its boundary.

    Attributes:
        origin, along: (2,) a point, and the direction of rows; longest: the length of that segment.
        area: of the domain; low, high: (b, 2) the lower and the higher end of each boundary segment, in the frame.
    """

    origin: Float
    along: Float
    longest: float
    area: float
    low: Float
    high: Float

    @classmethod
    def of(cls, points: Float, boundary: Int) -> _Frame:
        """Makes the frame; arguments are those of `lattice_points`."""
        start, end = points[boundary[:, 0]], points[boundary[:, 1]]
        ways = end - start
        length = lengths(ways)
        longest = int(length.argmax())
        origin, along = start[longest], ways[longest] / length[longest]
        one, other = (_in_frame(places, origin, along) for places in (start, end))
        falls = (one[:, 1] > other[:, 1])[:, None]
        low, high = np.where(falls, other, one), np.where(falls, one, other)
        return cls(origin, along, float(length[longest]), enclosed_area(points, boundary), low, high)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The parts of a lattice's rows that lie in a domain.

    Attributes:
        frame: that of the lattice; spacing, rise: of places in a row, and of rows.
        row, column: (s,) int64, per span: its row and its first column; counts: (s,) its places.
    """

    frame: _Frame
    spacing: float
    rise: float
    row: Int
    column: Int
    counts: Int


@dataclass(frozen=True, eq=False)
class LatticePoints:
    """Points of a lattice.

    Attributes:
        places, sizes: the points, and the sizes there, on a device; count: how many.
        least, most: bounds of the sizes.
        sides: where sizes vary, (count,) int32, 1 for the points that do not have six neighbours in the lattice.
        samples: places in the domain at which sizes have been evaluated, and their sizes, if these vary by place.
    """

    places: DeviceArray
    sizes: DeviceArray
    count: int
    least: float
    most: float
    sides: DeviceArray | None = None
    samples: tuple[DeviceArray, DeviceArray] | None = None

    @property
    def levels(self) -> list[float]:
        """A size for each power of 2 between those of points."""
        return list({math.frexp(size)[1]: size for size in (self.least, self.most)}.values()) if self.count else []


def lattice_points(
    points: Float,
    pieces: Int,
    boundary: Int,
    size: float,
    sizes: DeviceSizes,
    device: Device,
    most: int,
    *,
    even: bool = False,
    fewest: int = 0,
) -> LatticePoints:
    """Returns the points of the lattice: none if there could be more than `most`, or few places have nearly one size.

    Args:
        points: (n, 2), the vertices of the divided outline, and other points that are there already.
        pieces: (p, 2) of the outline; boundary: (b, 2) segments that have the domain on their left only.
        size: of the lattice if the size is the same everywhere, otherwise an upper bound; sizes: the wanted sizes.
        device: where points are flagged; most: points at most; even: whether the size is the same everywhere.
        fewest: there is no lattice, either, if it would have about fewer points than this.
    """
    frame, largest = _Frame.of(points, boundary), size
    rows = _rows(frame, size, most) if np.isfinite(size) else None  # infinity is no target
    if even:
        return _filled(points, pieces, rows, size, sizes, device, even=True)
    sampled, found = _sampled(rows, sizes, device), _no_points(device)
    if sampled is not None:
        size, share = _most_frequent(sampled[1].download())
        filled = None if share < LEAST_SHARE else rows if size == largest else _rows(frame, size, most)
        if filled is not None and share * filled.counts.sum() >= fewest:
            found = _filled(points, pieces, filled, size, sizes, device)
    if fewest and (sampled is None or sampled[0].size < SAMPLES // 2):  # sizes may be smaller in the interior
        finer = math.sqrt(frame.area / (0.5 * ROOT_OF_THREE * FINER_SAMPLES * SAMPLES))
        sampled = _sampled(_rows(frame, finer, most), sizes, device)
    return replace(found, samples=sampled)


def _sampled(rows: _Rows | None, sizes: DeviceSizes, device: Device) -> tuple[DeviceArray, DeviceArray] | None:
    """Returns some of the places of rows, and the sizes there; None if there are none."""
    if rows is None or not rows.counts.sum():
        return None
    samples = device.array(_samples(rows), POINT)
    found = device.empty(samples.size, np.float64)
    sizes.evaluate(samples, samples.size, found)
    return samples, found


def further_points(
    points: Float,
    pieces: Int,
    boundary: Int,
    found: LatticePoints,
    uncovered: NDArray[np.int64],
    sizes: DeviceSizes,
    device: Device,
    most: int,
) -> LatticePoints:
    """Returns the points of another lattice, around samples that have no point nearby.

    Sizes there may be much smaller than at the outline, from which no front reaches them.

    Args:
        found: has the samples; uncovered: the numbers of these; the others are those of `lattice_points`.
    """
    assert found.samples is not None
    places, at_samples = (array.download() for array in found.samples)
    size, _ = _most_frequent(at_samples[uncovered])
    if not math.isfinite(size):
        return _no_points(device)
    around = places.view(np.float64).reshape(-1, 2)
    frame = _Frame.of(points, boundary)
    apart = 2.0 * math.sqrt(frame.area / (0.5 * ROOT_OF_THREE * len(around)))  # as far as to the next sample
    rows = _rows(frame, size, most, (around[uncovered], apart))
    return _filled(points, pieces, rows, size, sizes, device)


def _no_points(device: Device) -> LatticePoints:
    return LatticePoints(device.empty(0, POINT), device.empty(0, np.float64), 0, 0.0, math.inf)


def _filled(
    points: Float,
    pieces: Int,
    rows: _Rows | None,
    size: float,
    sizes: DeviceSizes,
    device: Device,
    *,
    even: bool = False,
) -> LatticePoints:
    """Returns the places of rows that are far enough from the outline, and have about the size of the lattice."""
    if rows is None or not rows.counts.sum():
        return _no_points(device)
    count = int(rows.counts.sum())
    view, held = _view(rows, device)
    assert held  # `view` has only the addresses
    places, flags = device.empty(count, POINT), device.empty(count, np.int32)
    device.launch("list_lattice", count, view, places, flags)
    outline = device.array(points, POINT)
    is_free = np.ones(len(points), bool)
    is_free[pieces] = False
    free = np.flatnonzero(is_free).astype(np.int32)
    for ends, clearance in ((pieces, CLEARANCE), (np.stack([free, free], axis=1), FREE_VERTEX_CLEARANCE)):
        if len(ends):
            flat = device.array(ends.reshape(-1))
            device.launch("unflag_near_pieces", len(ends), view, outline, flat, clearance * size, flags)
    taken, remaining, kept = _flagged(places, flags)
    found = device.empty(kept, np.float64)
    if even:
        device.launch("fill_sizes", kept, size, found)
        return LatticePoints(taken, found, kept, size, size)
    if not kept:
        return _no_points(device)
    flags = device.empty(kept, np.int32)
    sizes.evaluate(taken, kept, found)
    device.launch("flag_equal_sizes", kept, found, size, NEARLY_EVEN * size, flags)
    taken, listed, kept = _flagged(taken, flags)
    there = device.empty(kept, np.float64)
    device.launch("gather_float64", kept, found, listed, there)
    marks, sides = device.zeros(count, np.uint8), device.empty(kept, np.int32)
    device.launch("mark_lattice_nodes", kept, remaining, listed, marks)
    device.launch("flag_lattice_sides", kept, view, remaining, listed, marks, sides)
    return LatticePoints(taken, there, kept, size * (1 - 1.01 * NEARLY_EVEN), size * (1 + 1.01 * NEARLY_EVEN), sides)


def _most_frequent(sizes: Float) -> tuple[float, float]:
    """Returns the size for places with nearly the size of which most triangles are wanted, and their share of samples.

    With it, a lattice has as many triangles in these places as are wanted there.

    Args:
        sizes: (n,) at samples that are evenly distributed in the domain.
    """
    found = np.sort(sizes[np.isfinite(sizes)])
    if not len(found):
        return math.inf, 0.0
    low = np.searchsorted(found, (1 - NEARLY_EVEN) * found)
    middle = np.searchsorted(found, found, side="right")
    high = np.searchsorted(found, (1 + NEARLY_EVEN) * found, side="right")
    inverse = 1 / found  # its square has the same bits on every machine, unlike a power
    count, length = (np.concatenate([[0.0], np.cumsum(values)]) for values in (inverse * inverse, inverse))
    # A size h counts 1 - |h / size - 1| / NEARLY_EVEN times, divided by the square of h.
    slope, per_length = 1 / NEARLY_EVEN, 1 / (NEARLY_EVEN * found)
    weight = (1 - slope) * (count[middle] - count[low]) + per_length * (length[middle] - length[low])
    weight += (1 + slope) * (count[high] - count[middle]) - per_length * (length[high] - length[middle])
    best = len(found) - 1 - int(weight[::-1].argmax())
    size, near = float(found[best]), found[low[best] : high[best]]
    ratios = size / near  # all are exactly 1 where one size is wanted
    wanted = sum_in_order(ratios * ratios)  # triangles, in those of this size
    return size * math.sqrt(len(near) / wanted), len(near) / len(found)


def _flagged(places: DeviceArray, flags: DeviceArray) -> tuple[DeviceArray, DeviceArray, int]:
    """Returns the places with a flag, their indices, and their number."""
    listed, kept = flagged_indices(flags)
    taken = places.device.empty(kept, POINT)
    if kept:
        places.device.launch("take_places", kept, listed, places, taken)
    return taken, listed, kept


def fitting_size(points: Float, ends: Int, size: float) -> float | None:
    """Returns the size next to `size` with which the segments of an outline are rows of one lattice.

    Their directions then differ by multiples of 60 degrees, and they are whole numbers of sizes long.

    Args:
        points: (n, 2); ends: (s, 2) the vertices that each segment joins; size: with which points are placed.

    Returns:
        The size, the smallest if there are several, or None if none between 0.997 and 1.051 of `size` fits.
    """
    ways = points[ends[:, 1]] - points[ends[:, 0]]
    length = lengths(ways)
    longest = int(length.argmax())
    unit = ways / length[:, None]
    sine = unit[longest, 0] * unit[:, 1] - unit[longest, 1] * unit[:, 0]
    if (np.abs(sine * (3.0 - 4.0 * sine * sine)) > FIT).any():  # the sine of three times the angle
        return None
    ratio = float(length[longest]) / size
    found = [float(length[longest]) / pieces for pieces in (np.floor(ratio), np.ceil(ratio)) if pieces > 0]
    found = [near for near in found if FINER * size <= near <= COARSER * size]
    found = [near for near in found if (np.abs(length / near - np.rint(length / near)) <= FIT_OF_LENGTH).all()]
    return min(found, default=None)  # as Gmsh, which divides segments in pieces no longer than the size


def _rows(frame: _Frame, size: float, most: int, around: tuple[Float, float] | None = None) -> _Rows | None:
    """Returns the rows in a domain; None if they, or places in them, could be more than `most`.

    Args:
        around: (k, 2) places and a distance: only what is in the rectangle around the places, and up to this distance
            from it.
    """
    area, low, high = frame.area, frame.low, frame.high
    if around is not None:
        seen = _in_frame(around[0], frame.origin, frame.along)
        (left, bottom), (right, top) = seen.min(axis=0) - around[1], seen.max(axis=0) + around[1]
        area = min(area, (right - left) * (top - bottom))
    if not area < most * (0.5 * ROOT_OF_THREE * size * size):
        return None
    spacing = _spacing(frame.longest, size)
    rise = 0.5 * ROOT_OF_THREE * spacing
    first, stop = (np.ceil(places[:, 1] / rise).astype(np.int64) for places in (low, high))
    if around is not None:
        first, stop = (np.clip(bounds, int(bottom // rise), int(top // rise) + 1) for bounds in (first, stop))
    edge = np.repeat(np.arange(len(low)), stop - first)
    row = first[edge] + np.arange(len(edge)) - np.repeat(np.cumsum(stop - first) - (stop - first), stop - first)
    part = (row * rise - low[edge, 1]) / (high[edge, 1] - low[edge, 1])
    crossing = low[edge, 0] + part * (high[edge, 0] - low[edge, 0])
    order = np.lexsort((crossing, row))  # rows are in the domain from every other crossing to the next one
    row, crossing = row[order][::2], crossing[order].reshape(-1, 2)
    shift, clearance = 0.5 * (row & 1), CLEARANCE * size
    column = np.ceil((crossing[:, 0] + clearance) / spacing - shift).astype(np.int64)
    last = np.floor((crossing[:, 1] - clearance) / spacing - shift).astype(np.int64)
    if around is not None:
        column, last = np.maximum(column, int(left // spacing)), np.minimum(last, int(right // spacing) + 1)
    some = last >= column
    if row.size and row[-1] - row[0] > min(most, MOST_ROWS):  # parts of the domain are very far apart
        return None
    return _Rows(frame, spacing, rise, row[some], column[some], (last - column + 1)[some])


def _samples(rows: _Rows) -> Float:
    """Returns some of the places, evenly chosen: a fine outline of a large domain has very many, of other sizes."""
    end = np.cumsum(rows.counts)
    number = np.arange(0, end[-1], max(end[-1] // SAMPLES, 1))
    span = np.searchsorted(end, number, side="right")
    row = rows.row[span]
    column = rows.column[span] + number - (end - rows.counts)[span]
    x, y = (column + 0.5 * (row & 1)) * rows.spacing, row * rows.rise
    (along_x, along_y), origin = rows.frame.along, rows.frame.origin
    return np.stack([origin[0] + x * along_x - y * along_y, origin[1] + x * along_y + y * along_x], axis=1)


def lattice_frame(points: Float, boundary: Int, size: float) -> Float:
    """Returns (6,) float64: a point of the lattice, its direction, the distance between its points, and the size.

    Args:
        points, boundary, size: as for `lattice_points`.
    """
    ways = points[boundary[:, 1]] - points[boundary[:, 0]]
    length = lengths(ways)
    longest = int(length.argmax())
    spacing = _spacing(float(length[longest]), size)
    return np.array([*points[boundary[longest, 0]], *(ways[longest] / length[longest]), spacing, size])


def _spacing(longest: float, size: float) -> float:
    """Returns the spacing: that of the pieces of the longest segment if these are about as long as the size."""
    piece = longest / max(round(longest / size), 1)
    return piece if abs(piece - size) <= 0.5 * EVEN * size else size


def _in_frame(places: Float, origin: Float, along: Float) -> Float:
    x, y = places[:, 0] - origin[0], places[:, 1] - origin[1]
    found = np.empty_like(places)
    found[:, 0], found[:, 1] = x * along[0] + y * along[1], y * along[0] - x * along[1]
    return found


def _view(rows: _Rows, device: Device) -> tuple[Packed, tuple[DeviceArray, ...]]:
    """Uploads the rows; returns the kernel argument, and the arrays that it refers to."""
    lowest, origin, along = int(rows.row[0]), rows.frame.origin, rows.frame.along
    per_row = np.bincount(rows.row - lowest)
    first_span, first_place = (np.concatenate([[0], np.cumsum(counts)]) for counts in (per_row, rows.counts))
    held = tuple(device.array(values.astype(np.int32)) for values in (first_span, rows.row, rows.column, first_place))
    view = pack(
        "Lattice", x=float(origin[0]), y=float(origin[1]), along_x=float(along[0]), along_y=float(along[1]),
        spacing=rows.spacing, rise=rows.rise, lowest=lowest, rows=len(per_row), spans=len(rows.row),
        first_span=held[0], row_of_span=held[1], column=held[2], first_place=held[3],
    )  # fmt: skip
    return view, held
