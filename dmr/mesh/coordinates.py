"""The coordinate range in which the predicates are exact (cuda_src/geometry/predicates.cuh)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.errors import InvalidMeshError
from dmr.memory import real_constant
from dmr.mesh.types import Float

SMALLEST = real_constant("SMALLEST_COORDINATE", "geometry/predicates.cuh")
LARGEST = 2.0**201
# Split points below SMALLEST are set to zero. In meshes of at least this extent, that is less than an ulp of a segment.
SMALLEST_EXTENT = 2.0**-88
VALUES_IN_CACHE = 2**15


def outside_range(points: Float) -> NDArray[np.intp]:
    """The rows of (n, 2) points for which the predicates are not exact: out of range, infinite or not a number."""
    values = points.reshape(-1)
    parts = range(0, values.size, VALUES_IN_CACHE)
    if all(_usable(values[begin : begin + VALUES_IN_CACHE]).all() for begin in parts):
        return np.empty(0, np.intp)
    return np.flatnonzero(~_usable(points).all(axis=1))


def _usable(values: Float) -> NDArray[np.bool_]:
    magnitude = np.abs(values)
    usable: NDArray[np.bool_] = (magnitude <= LARGEST) & ((magnitude >= SMALLEST) | (magnitude == 0))
    return usable


def check_coordinates(vertices: Float) -> None:
    """Rejects coordinates for which the predicates are not exact.

    Args:
        vertices: (n, 2) finite coordinates.

    Raises:
        InvalidMeshError: a magnitude is out of range; the message names the vertex.
    """
    wrong = outside_range(vertices)
    if wrong.size:
        index = int(wrong[0])
        x, y = vertices[index]
        raise InvalidMeshError(
            f"coordinates ({x:g}, {y:g}) lie outside the range in which geometry is exact "
            f"(0, or {SMALLEST:.1e} to {LARGEST:.1e} in magnitude): scale the mesh",
            "vertex",
            index,
        )
    if vertices.size and 0 < max(vertices.max(), -vertices.min()) < SMALLEST_EXTENT:
        raise InvalidMeshError(
            f"all coordinates are below {SMALLEST_EXTENT:.1e} in magnitude, where geometry is not exact: scale the mesh"
        )
