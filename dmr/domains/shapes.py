"""The common shapes as planar straight-line graphs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.arguments import checks_keywords, listed, real_option, shortened, whole_option
from dmr.common.available import require_memory
from dmr.common.number_arrays import given_array, real_array
from dmr.domains.interior import INSIDE, point_inside, side_of_rings
from dmr.domains.rings import checked_chain, checked_ring
from dmr.errors import InvalidMeshError, OptionError
from dmr.mesh.types import Float, Int, Pslg

BYTES_PER_POINT = 120  # peak memory per point of a circle


@checks_keywords
def polygon(outline: ArrayLike, holes: Sequence[ArrayLike] = (), *, markers: Any = None) -> Pslg:
    """A polygon with optional holes.

    The vertices are the corners of the outline in their order, then those of each hole; a last corner that repeats the
    first is omitted. Segment k of a ring runs from its corner k to the next one.

    Args:
        outline: (n, 2) corners, in either direction, closed or not.
        holes: outlines of holes, likewise. They must lie in the outline and must not overlap, but may touch; use
            `polygons` for islands within a hole.
        markers: of the segments: None (0), one number for all, or a sequence with one entry per ring (the outline
            first), which is a number, or one number per segment. Without holes, also one number per segment.

    Returns:
        The graph, with a point in each hole that is proved to lie strictly inside it.

    Raises:
        InvalidMeshError: a ring is invalid (the message names its number and vertex), a hole lies within another hole
            or outside the outline, or the markers have the wrong shape or type.
    """
    rings = [checked_ring(outline, "the outline")]
    rings += [checked_ring(hole, f"hole {k}") for k, hole in enumerate(listed("holes", holes))]
    points = [point_inside([ring], f"hole {k}") for k, ring in enumerate(rings[1:])]
    _check_holes(rings, points)
    segment_markers = _markers_of_rings(markers, rings)
    return Pslg(np.concatenate(rings), closed_segments(rings), holes=np.array(points), segment_markers=segment_markers)


@checks_keywords
def rectangle(width: float, height: float, corner: ArrayLike = (0.0, 0.0), *, markers: Any = None) -> Pslg:
    """A rectangle with sides parallel to the axes.

    Args:
        width, height: its extent, positive.
        corner: its lower left corner.
        markers: as for `polygon`; four numbers belong to the lower, right, upper and left side, in this order.

    Raises:
        OptionError: an extent is not positive.
        InvalidMeshError: the markers have the wrong shape or type.
    """
    width, height = _positive("width", width), _positive("height", height)
    x, y = _pair("corner", corner)
    return polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], markers=markers)


@checks_keywords
def circle(radius: float, n: int, center: ArrayLike = (0.0, 0.0), *, markers: Any = None) -> Pslg:
    """A circle as a regular polygon with n corners.

    Args:
        radius, center: of the circle through the corners; n: at least 3; markers: as for `polygon`.

    Raises:
        OptionError: as for `circle_points`.
    """
    return polygon(circle_points(radius, n, center), markers=markers)


@checks_keywords
def regular_polygon(
    n: int, radius: float = 1.0, center: ArrayLike = (0.0, 0.0), *, angle: float = 0.0, markers: Any = None
) -> Pslg:
    """A regular polygon with n sides.

    Args:
        n: at least 3; radius, center: of the circle through the corners; angle: of the first corner, in degrees from
            the x axis; markers: as for `polygon`.

    Raises:
        OptionError: as for `circle_points`.
    """
    return polygon(circle_points(radius, n, center, angle=angle), markers=markers)


@checks_keywords
def circle_points(radius: float, n: int, center: ArrayLike = (0.0, 0.0), *, angle: float = 0.0) -> Float:
    """Evenly spaced points on a circle, counter-clockwise: an outline or a hole for `polygon`.

    Args:
        radius: positive.
        n: the number of points, at least 3.
        center: (x, y).
        angle: of the first point, in degrees from the x axis.

    Returns:
        (n, 2) float64. Without an angle they have the exact symmetry of the circle; quarters are rotated exactly.

    Raises:
        OptionError: the radius is not positive, or there are fewer than three points.
    """
    radius = _positive("radius", radius)
    n, angle = whole_option("n", n), real_option("angle", angle)
    if n < 3:
        raise OptionError(f"a circle needs three points or more, not {n}")
    require_memory(BYTES_PER_POINT * n, f"a circle of {shortened(n)} points")
    quarter, rest = np.divmod(4 * np.arange(n), n)
    # The second half of a quarter mirrors its first.
    mirrored = 2 * rest > n
    turn = np.where(mirrored, n - rest, rest) / n * (math.pi / 2)
    first, second = radius * np.cos(turn), radius * np.sin(turn)
    x, y = np.where(mirrored, second, first), np.where(mirrored, first, second)
    points: Float = np.column_stack((np.choose(quarter, (x, -y, -x, y)), np.choose(quarter, (y, x, -y, -x))))
    if not math.isfinite(angle):
        raise OptionError(f"angle must be finite, not {angle:g}")
    if angle:
        cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        points = points @ np.array([[cosine, sine], [-sine, cosine]])
    points += _pair("center", center)
    return points


@checks_keywords
def polyline(points: ArrayLike, *, markers: Any = None) -> Pslg:
    """A chain of segments: a crack, a road, a border between regions. It is closed if the last point equals the first.

    Args:
        points: (n, 2), two or more.
        markers: None (0), one number for all, or one number per segment.

    Raises:
        InvalidMeshError: the points or markers are invalid; the message names the vertex.
    """
    chain = checked_chain(points, "the chain")
    count = len(chain) - 1
    closed = count > 2 and bool((chain[0] == chain[-1]).all())
    ends = np.column_stack((np.arange(count), np.arange(1, count + 1))).astype(np.int32)
    if closed:
        chain, ends[-1, 1] = chain[:-1], 0
    return Pslg(chain, ends, segment_markers=_markers_of_edges(markers, count, "the chain"))


def closed_segments(rings: Sequence[Float]) -> Int:
    """(s, 2): the edges of rings whose corners are stored consecutively in one table."""
    tables, start = [], 0
    for ring in rings:
        index = np.arange(len(ring))
        tables.append(np.column_stack((index, (index + 1) % len(ring))) + start)
        start += len(ring)
    return np.concatenate(tables).astype(np.int32)


def _check_holes(rings: Sequence[Float], points: Sequence[Float]) -> None:
    """Checks that each hole, represented by its interior point, lies in the outline and in no other hole."""
    low = np.array([ring.min(axis=0) for ring in rings])
    high = np.array([ring.max(axis=0) for ring in rings])
    for k, point in enumerate(points):
        if side_of_rings(rings[:1], point) != INSIDE:
            x, y = point.tolist()
            raise InvalidMeshError(f"hole {k} does not lie in the outline: its interior point ({x!r}, {y!r}) does not")
        around = ((low <= point) & (point <= high)).all(axis=1)
        others = set(np.flatnonzero(around).tolist()) - {0, k + 1}
        for other in sorted(others):
            if side_of_rings([rings[other]], point) == INSIDE:
                raise InvalidMeshError(
                    f"hole {k} overlaps hole {other - 1}: holes must lie apart (an island in a hole is a polygon of"
                    " its own, for dmr.domains.polygons)"
                )


def _markers_of_rings(markers: Any, rings: Sequence[Float]) -> Int:
    if not isinstance(markers, Iterable) or getattr(markers, "ndim", 1) == 0:
        return _markers_of_edges(markers, sum(map(len, rings)), "the rings")
    entries = list(markers)
    if len(rings) == 1 and len(entries) == len(rings[0]):
        entries = [entries]
    if len(entries) != len(rings):
        raise InvalidMeshError(
            f"markers must have one entry for each ring, the outline first: {len(rings)}, not {len(entries)}"
        )
    names = ["the outline", *(f"hole {k}" for k in range(len(rings) - 1))]
    parts = [_markers_of_edges(e, len(ring), name) for e, ring, name in zip(entries, rings, names, strict=True)]
    return np.concatenate(parts)


def _markers_of_edges(markers: Any, count: int, name: str) -> Int:
    try:
        given = given_array(0 if markers is None else markers)
    except ValueError:
        raise InvalidMeshError(f"the markers of {name} must be one number or {count} of them") from None
    if given.dtype.kind not in "iu":
        raise InvalidMeshError(f"the markers of {name} must be whole numbers, not {given.dtype}")
    if given.ndim and given.shape != (count,):
        raise InvalidMeshError(
            f"the markers of {name} must be one number or {count} of them, not of shape {given.shape}"
        )
    if given.size and (given.max() > 2**31 - 1 or given.min() < -(2**31)):
        raise InvalidMeshError(f"the markers of {name} do not fit in 32 bits")
    return np.broadcast_to(given, (count,)).astype(np.int32)


def _positive(name: str, value: Any) -> float:
    number = real_option(name, value)
    if not (math.isfinite(number) and number > 0):
        raise OptionError(f"{name} must be a finite number above 0, not {number:g}")
    return number


def _pair(name: str, value: ArrayLike) -> tuple[float, float]:
    try:
        x, y = (float(each) for each in real_array(value).reshape(-1))
    except ValueError:
        raise OptionError(f"{name} must be two numbers, not {shortened(value)}") from None
    return x, y
