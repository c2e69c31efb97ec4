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
    tails, heads = subsegments["from"], subsegments["to"]
    apex = np.concatenate([tails, heads])
    way = points[heads] - points[tails]
    way = np.concatenate([way, -way])
    # Turning counter-clockwise, the domain follows a segment that leaves the vertex with the domain on its left.
    domain_follows = np.concatenate([np.ones(len(inner), bool), inner])
    ends = np.bincount(apex, minlength=len(points))
    flags = np.zeros(len(points), np.uint8)
    flags[_acute_between_two(np.flatnonzero(ends == 2), apex, way, domain_follows, len(points))] = 1
    several = np.flatnonzero(ends[apex] > 2)
    flags[_acute_between_several(apex[several], way[several], domain_follows[several])] = 1
    return flags


def _acute_between_two(
    vertices: NDArray[np.int64],
    apex: NDArray[np.int32],
    way: NDArray[np.float64],
    domain_follows: NDArray[np.bool_],
    count: int,
) -> NDArray[np.int64]:
    """Which of the vertices that join two segments, as most do, have an acute corner."""
    numbers = np.arange(len(apex))
    first, last = np.empty(count, np.int64), np.empty(count, np.int64)
    first[apex[::-1]] = numbers[::-1]  # later writes win
    last[apex] = numbers
    one, other = first[vertices], last[vertices]
    there = _is_acute(way[one], way[other], domain_follows[one])
    back = _is_acute(way[other], way[one], domain_follows[other])
    return vertices[there | back]


def _acute_between_several(
    apex: NDArray[np.int32], way: NDArray[np.float64], domain_follows: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """The vertices with an acute corner, whose segments are sorted by their directions."""
    if not len(apex):
        return apex
    # A pseudo-angle, rising with the angle from -2 to 2: quotients only, the same bits on every machine.
    slope = way[:, 0] / np.abs(way).sum(axis=1)
    angle = np.where(way[:, 1] >= 0, 1 - slope, slope - 1)
    ordered = np.lexsort((angle, apex))
    apex, way, domain_follows = apex[ordered], way[ordered], domain_follows[ordered]
    starts = np.flatnonzero(np.concatenate([[True], apex[1:] != apex[:-1]]))
    following = np.arange(1, len(apex) + 1)
    following[np.concatenate([starts[1:], [len(apex)]]) - 1] = starts  # the last one's neighbour is the first
    return apex[_is_acute(way, way[following], domain_follows)]


def _is_acute(
    way: NDArray[np.float64], other: NDArray[np.float64], domain_follows: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Whether the domain lies between two directions, the second one following counter-clockwise below 60 degrees."""
    (x, y), (u, v) = way.T, other.T
    dot = x * u + y * v
    lengths = (x * x + y * y) * (u * u + v * v)
    acute: NDArray[np.bool_] = (x * v - y * u > 0) & (dot > 0) & (dot * dot > COSINE_SQUARED * lengths)
    return acute & domain_follows


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
