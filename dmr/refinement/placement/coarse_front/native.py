"""The native coarse front (`coarse_front.cpp`)."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int32, c_void_p
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.common.native import address_of, declare, load_library
from dmr.mesh.edges import connected
from dmr.mesh.types import Float, Int
from dmr.triangulation.plane import Plane

INTERFACE = 4  # of `coarse_front.cpp`, which has it too: increment both when arguments change

LIBRARY = Path(__file__).with_name("_coarse_front.so")

NO_MEMORY = -1


class CoarseFront(NamedTuple):
    """A triangulation in which sizes are interpolated.

    Attributes:
        vertices: (n, 2) those of the plane first; sizes: (n,) there.
        triangles, neighbours: (t, 3) those of the plane first, of which some are replaced.
        growth: the mean growth of the sizes per unit of distance, at most 1, over the triangles that are wanted.
        wanted: how many triangles the sizes want.
    """

    vertices: Float
    sizes: Float
    triangles: Int
    neighbours: Int
    growth: float
    wanted: float


@cache
def library() -> ctypes.CDLL:
    """Loads the library and declares its function; raises NativeLibraryError as `load_library`."""
    loaded = load_library(LIBRARY, ("dmr_coarse_front_interface", INTERFACE))
    declare(
        loaded, "dmr_coarse_front", c_int32,
        c_void_p, c_void_p, c_int32, c_void_p, c_void_p, c_void_p, c_int32, *[c_void_p] * 3, *[c_int32] * 3,
        *[c_double] * 2, c_void_p, c_void_p,
    )  # fmt: skip
    return loaded


def coarse_front(
    vertices: Float,
    plane: Plane,
    in_domain: NDArray[np.bool_],
    *,
    largest: float,
    threshold: float,
    unit_steps: int,
    most: int,
) -> CoarseFront:
    """Inserts a few points into the triangulation of a divided outline, with the sizes that a front would give them.

    Args:
        vertices: (n, 2) those of the plane; plane: the triangulation of the outline and its surroundings.
        in_domain: by label, whether a part of the plane belongs to the domain.
        largest: the size where no edge is shorter than the threshold, a length.
        unit_steps: the first steps are one size long, and so many; the others become longer.
        most: the front stops when it has inserted this many points.

    Raises:
        NativeLibraryError: the native library is missing.
        MemoryError: there is too little memory.
    """
    n, count = len(vertices), len(plane.triangles)
    points, sizes = np.empty((n + most, 2)), np.empty(n + most)
    points[:n] = vertices
    corners, neighbours = (np.empty((count + 2 * most, 3), np.int32) for _ in range(2))
    corners[:count], neighbours[:count] = plane.triangles, plane.neighbours
    labels, filled = np.ascontiguousarray(plane.labels), in_domain.astype(np.uint8)
    parts = connected(n, *plane.edges.T).astype(np.int32)
    walls = np.concatenate([plane.left_side, plane.right_side])
    measured = np.empty(2)
    added = library().dmr_coarse_front(
        address_of(points), address_of(sizes), n, address_of(corners), address_of(neighbours), address_of(labels),
        count, address_of(filled), address_of(parts), address_of(walls), len(walls), unit_steps, most,
        largest, threshold, address_of(measured[:1]), address_of(measured[1:]),
    )  # fmt: skip
    if added == NO_MEMORY:
        raise MemoryError
    n, count = n + added, count + 2 * added
    return CoarseFront(points[:n], sizes[:n], corners[:count], neighbours[:count], *measured.tolist())
