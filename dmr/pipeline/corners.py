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
    apex = np.concatenate([subsegments["from"], subsegments["to"]])
    far = np.concatenate([subsegments["to"], subsegments["from"]])
    # Turning counter-clockwise, the domain follows a segment that leaves the vertex with the domain on its left.
    domain_follows = np.concatenate([np.ones(len(inner), bool), inner])
    way = points[far] - points[apex]
    # A pseudo-angle, rising with the angle from -2 to 2: quotients only, the same bits on every machine.
    slope = way[:, 0] / np.abs(way).sum(axis=1)
    angle = np.where(way[:, 1] >= 0, 1 - slope, slope - 1)
    ordered = np.lexsort((angle, apex))
    apex, way, domain_follows = apex[ordered], way[ordered], domain_follows[ordered]
    starts = np.flatnonzero(np.concatenate([[True], apex[1:] != apex[:-1]]))
    following = np.arange(1, len(apex) + 1)
    following[np.concatenate([starts[1:], [len(apex)]]) - 1] = starts  # the last one's neighbour is the first
    other = way[following]
    dot = (way * other).sum(axis=1)
    cross = way[:, 0] * other[:, 1] - way[:, 1] * other[:, 0]
    lengths = (way * way).sum(axis=1) * (other * other).sum(axis=1)
    acute = domain_follows & (cross > 0) & (dot > 0) & (dot * dot > COSINE_SQUARED * lengths)
    flags = np.zeros(len(points), np.uint8)
    flags[apex[acute]] = 1
    return flags


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
