"""Input corners below 60 degrees: where segments are split on concentric shells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# That of 60 degrees, and a little that rounding may have taken off them (BELOW_60_DEGREES of cuda_src/corners.cuh).
COSINE_SQUARED = (0.5 * (1.0 + 2.0**-30)) ** 2


def acute_corners(subsegments: NDArray[Any], points: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Flags the vertices at which two neighbouring segments enclose less than 60 degrees of the domain.

    Args:
        subsegments: records with `from`, `to`, `right` (-1 where the domain lies on the left only).
        points: (n, 2) coordinates.

    Returns:
        (n,) uint8, 1 at such vertices.
    """
    inner = subsegments["right"] >= 0
    tails, heads = subsegments["from"].copy(), subsegments["to"].copy()
    # Both ends of each subsegment: where it leaves from, and the way to the other end.
    apex = np.concatenate([tails, heads])
    along = [line[heads] - line[tails] for line in points.T.copy()]
    x, y = (np.concatenate([way, -way]) for way in along)
    # Turning counter-clockwise, the domain follows a segment that leaves the vertex with the domain on its left.
    domain_follows = np.concatenate([np.ones(len(inner), bool), inner])
    ends = np.bincount(apex, minlength=len(points))
    flags = np.zeros(len(points), np.uint8)

    def flag(one: NDArray[np.intp], following: NDArray[np.intp]) -> None:
        """Flags vertices by pairs of their ends, the second of which follows counter-clockwise."""
        cross = x[one] * y[following] - y[one] * x[following]
        flags[apex[one[domain_follows[one] & (cross > 0)]]] = 1

    # Most vertices have two ends: each of them follows the other one.
    one, other = _pairs(apex, np.flatnonzero(ends == 2), len(points))
    narrow = _narrow(x, y, one, other)
    one, other = one[narrow], other[narrow]
    flag(one, other)
    flag(other, one)
    several = np.flatnonzero(ends[apex] > 2)
    one, following = _sorted_around(apex[several], x[several], y[several])
    one, following = several[one], several[following]
    narrow = _narrow(x, y, one, following)
    flag(one[narrow], following[narrow])
    return flags


def _pairs(
    apex: NDArray[np.int32], vertices: NDArray[np.intp], count: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The two ends of each of these vertices."""
    numbers = np.arange(len(apex), dtype=np.intp)
    first, last = np.empty(count, np.intp), np.empty(count, np.intp)
    first[apex[::-1]] = numbers[::-1]  # later writes win
    last[apex] = numbers
    return first[vertices], last[vertices]


def _narrow(
    x: NDArray[np.float64], y: NDArray[np.float64], one: NDArray[np.intp], other: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Which pairs of ends enclose less than 60 degrees, on whichever side."""
    a, b, c, d = x[one], y[one], x[other], y[other]
    dot = a * c + b * d
    lengths = (a * a + b * b) * (c * c + d * d)
    return np.flatnonzero((dot > 0) & (dot * dot > COSINE_SQUARED * lengths))


def _sorted_around(
    apex: NDArray[np.int32], x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All ends, and for each the next one around its vertex, counter-clockwise."""
    if not len(apex):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    # A pseudo-angle, rising with the angle from -2 to 2: quotients only, the same bits on every machine.
    slope = x / (np.abs(x) + np.abs(y))
    angle = np.where(y >= 0, 1 - slope, slope - 1)
    ordered = np.lexsort((angle, apex))
    starts = np.flatnonzero(np.concatenate([[True], np.diff(apex[ordered]) != 0]))
    following = np.arange(1, len(apex) + 1)
    following[np.concatenate([starts[1:], [len(apex)]]) - 1] = starts  # the last one's neighbour is the first
    return ordered, ordered[following]


def anchors(subsegments: NDArray[Any], acute: NDArray[np.uint8]) -> NDArray[np.int32]:
    """By vertex: an acute corner at the other end of a segment (the last one of several); -1 where there is none.

    Args:
        subsegments: as for `acute_corners`; acute: what that returned.
    """
    result = np.full(len(acute), -1, np.int32)
    for near, far in (("from", "to"), ("to", "from")):
        corner = acute[subsegments[near]] == 1
        result[subsegments[far][corner]] = subsegments[near][corner]
    return result
