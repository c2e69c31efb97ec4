"""Checks lists of points given by the user; every message names the list."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.number_arrays import real_array
from dmr.errors import InvalidMeshError
from dmr.exact import signs
from dmr.exact.polynomials import cross
from dmr.mesh.types import Float


def checked_points(points: ArrayLike, name: str) -> Float:
    """Checks a table of points and converts it to float64.

    Args:
        points: (n, 2) real numbers.
        name: the name of the table in messages ("the outline", "hole 2").

    Raises:
        InvalidMeshError: the shape is wrong, or a coordinate is not finite; the message names the vertex.
    """
    try:
        table = real_array(points).copy()
    except ValueError as error:
        raise InvalidMeshError(f"{name} must be a table (n, 2) of real numbers ({error})") from None
    if table.shape == (2,):
        raise InvalidMeshError(
            f"{name} must be a table (n, 2) of points, not a single point: give a list of rings, each a list of points"
        )
    if table.ndim != 2 or table.shape[1] != 2:
        raise InvalidMeshError(f"{name} must be a table (n, 2) of points, not of shape {table.shape}")
    wrong = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if wrong.size:
        k = int(wrong[0])
        raise InvalidMeshError(f"{name}: vertex {k} at {_place(table[k])} is not finite")
    return table


def checked_chain(points: ArrayLike, name: str) -> Float:
    """Checks an open chain of at least two points, each different from the previous one.

    Args:
        points: (n, 2).
        name: for messages.

    Raises:
        InvalidMeshError: as for `checked_points`; or there are too few points, or two consecutive points are equal.
    """
    table = checked_points(points, name)
    if len(table) < 2:
        raise InvalidMeshError(f"{name} needs two points or more, and has {len(table)}")
    again = np.flatnonzero((table[1:] == table[:-1]).all(axis=1))
    if again.size:
        k = int(again[0])
        raise InvalidMeshError(
            f"{name}: vertex {k + 1} repeats vertex {k} at {_place(table[k])}; leave one of them out"
        )
    return table


def checked_ring(points: ArrayLike, name: str) -> Float:
    """Checks a closed outline; returns its corners in the given order, without the last if it repeats the first.

    Args:
        points: (n, 2), in either direction.
        name: for messages.

    Returns:
        (m, 2) float64: m corners and as many edges; edge k runs from corner k to corner k + 1, the last to corner 0.

    Raises:
        InvalidMeshError: as for `checked_chain`; or there are fewer than three corners, or all are collinear.
    """
    table = checked_points(points, name)
    if len(table) > 1 and (table[0] == table[-1]).all():
        table = table[:-1]
    if len(table) < 3:
        raise InvalidMeshError(f"{name} needs three corners or more, and has {len(table)}")
    table = checked_chain(table, name)
    if (table[0] == table[-1]).all():
        raise InvalidMeshError(
            f"{name}: vertex {len(table) - 1} repeats vertex 0 at {_place(table[0])}, and is repeated"
        )
    if not _turns(table).any():
        raise InvalidMeshError(f"{name} encloses nothing: all its {len(table)} corners lie on one line")
    return table


def why_empty(ring: Float) -> str | None:
    """The reason why a ring encloses nothing; None for ordinary rings, which enclose something.

    Args:
        ring: (n, 2) finite, without the closing corner, each corner different from the previous one.
    """
    if len(ring) < 3:
        return f"it has only {len(ring)} distinct corners" if len(ring) != 1 else "it has only one distinct corner"
    if _has_area(ring):
        return None
    if not _turns(ring).any():
        return f"all its {len(ring)} corners lie on one line"
    if _runs_back(ring):
        return f"its {len(ring)} edges run back along each other"
    return None


def _has_area(ring: Float) -> bool:
    """Whether the signed area is certainly nonzero, that is, far larger than the rounding error."""
    x, y = (ring - ring[0]).T
    with np.errstate(all="ignore"):
        terms = x * np.roll(y, -1) - np.roll(x, -1) * y
        size = np.abs(x * np.roll(y, -1)).sum() + np.abs(np.roll(x, -1) * y).sum()
        return bool(abs(terms.sum()) > 1e-9 * size) and bool(np.isfinite(size))


def _runs_back(ring: Float) -> bool:
    """Whether each edge occurs an even number of times, so that every ray crosses an even number of edges."""
    corners = np.unique(ring, axis=0, return_inverse=True)[1].reshape(-1)
    ends = np.sort(np.column_stack((corners, np.roll(corners, -1))), axis=1)
    counts = np.unique(ends, axis=0, return_counts=True)[1]
    return not (counts % 2).any()


def without_repetitions(points: Float) -> Float:
    """The points without those that equal their predecessor."""
    keep = np.ones(len(points), bool)
    keep[1:] = (points[1:] != points[:-1]).any(axis=1)
    return points[keep]


def _turns(ring: Float) -> NDArray[np.int8]:
    """The side of the line through corners 0 and 1 on which each corner lies: 1 left, -1 right, 0 on it; exact."""
    (ax, ay), (bx, by) = ring[0], ring[1]
    x, y = np.ascontiguousarray(ring.T)

    def constant(value: float) -> Float:
        return np.full(len(ring), value)

    sides = [(constant(bx), constant(ax)), (constant(by), constant(ay)), (x, constant(ax)), (y, constant(ay))]
    return signs(cross, sides)


def _place(point: Float) -> str:
    return f"({float(point[0])!r}, {float(point[1])!r})"
