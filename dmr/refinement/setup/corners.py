"""Input corners below 60 degrees, around which segments are split on concentric shells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.memory import real_constant
from dmr.refinement.state.records import SUBSEGMENT
from dmr.triangulation.native import library

COSINE_SQUARED = real_constant("BELOW_60_DEGREES", "mesh/corners.cuh") ** 2


def acute_corners(subsegments: NDArray[Any], points: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Flags the vertices at which two neighbouring segments enclose less than 60 degrees of the domain.

    Args:
        subsegments: records with `from`, `to`, `right` (-1 where the domain lies on the left only).
        points: (n, 2) coordinates.

    Returns:
        (n,) uint8, 1 at such vertices.

    Raises:
        NativeLibraryError: the native library is missing.
        MemoryError: there is too little of it.
    """
    points, subsegments = np.ascontiguousarray(points, np.float64), np.ascontiguousarray(subsegments, SUBSEGMENT)
    flags = np.zeros(len(points), np.uint8)
    lacks_memory = library().dmr_acute_corners(
        points.ctypes.data, len(points), subsegments.ctypes.data, len(subsegments), COSINE_SQUARED, flags.ctypes.data
    )
    if lacks_memory:
        raise MemoryError
    return flags


def anchors(subsegments: NDArray[Any], acute: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Returns, by vertex, an acute corner at the other end of a segment (the last of several); -1 if there is none.

    Args:
        subsegments: as for `acute_corners`; acute: what that returned.
    """
    subsegments = np.ascontiguousarray(subsegments, SUBSEGMENT)
    result = np.full(len(acute), -1, np.int32)
    library().dmr_anchors(subsegments.ctypes.data, len(subsegments), acute.ctypes.data, result.ctypes.data)
    return result
