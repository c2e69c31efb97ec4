"""ctypes bindings of the native library of unions (`library.cpp`).

The structs here mirror those in the C++ files; increment `INTERFACE` in both places when they change.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_double, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.common.native import interruptible, load_library, members

INTERFACE = 3

LIBRARY = Path(__file__).with_name("_unions.so")


class NumberedList(Structure):
    """An ascending list of numbers, and the places of its entries in a union (`List`)."""

    _fields_ = members("address entries", "int64 count first", "address places")


@cache
def library() -> ctypes.CDLL:
    """Loads the library and declares its functions; raises NativeLibraryError as `load_library`."""
    loaded = load_library(LIBRARY, ("dmr_unions_interface", INTERFACE))
    interruptible(loaded, "dmr_unite", c_int64, POINTER(NumberedList), c_int32, c_int32, c_void_p, c_void_p)
    interruptible(loaded, "dmr_find_numbers", None, POINTER(NumberedList), c_void_p, c_int64, c_int32, c_void_p)
    interruptible(loaded, "dmr_components", None, c_void_p, c_int64, c_int32, c_void_p)
    shapes = (c_void_p, c_void_p, c_int64, c_double, c_double, c_int32, c_void_p, c_void_p)
    interruptible(loaded, "dmr_shapes", None, *shapes)
    interruptible(
        loaded, "dmr_bins", None, c_void_p, c_void_p, c_int64, c_double, c_double, c_int32, c_int32, c_void_p, c_void_p
    )
    walls = (c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_int32, c_void_p, c_void_p, c_void_p)
    interruptible(loaded, "dmr_walls", None, *walls)
    interruptible(loaded, "dmr_take_rows", None, c_void_p, c_int64, c_void_p, c_int32, c_int64, c_int32, c_void_p)
    interruptible(loaded, "dmr_flag", None, c_void_p, c_int32, c_int64, c_int32, c_void_p)
    interruptible(loaded, "dmr_frozen", None, c_void_p, c_void_p, c_int64, c_int32, c_void_p)
    interruptible(loaded, "dmr_cut_edges", None, c_void_p, c_void_p, c_void_p, c_int64, c_int32, c_void_p)
    interruptible(loaded, "dmr_touch", None, c_void_p, c_int64, c_void_p, c_int32, c_int32, c_void_p)
    return loaded


def components(neighbours: NDArray[np.int32], threads: int = 1) -> NDArray[np.int32]:
    """Returns (m,) the connected component of each triangle: the smallest number of its triangles.

    Args:
        neighbours: (m, 3), -1 where there is none; links go both ways.
        threads: that compute.
    """
    links, labels = np.ascontiguousarray(neighbours, np.int32), np.empty(len(neighbours), np.int32)
    library().dmr_components(links.ctypes.data, len(links), threads, labels.ctypes.data)
    return labels


def shapes(
    points: NDArray[np.float64], triangles: NDArray[np.int32], cosine_squared: float, long_edge: float, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Returns the area of each triangle, whether it is skinny, and whether it is skinny and flat.

    Args:
        points: (n, 2); triangles: (m, 3), the numbers of the corners.
        cosine_squared: of the bound on angles; a triangle with a smaller angle is skinny.
        long_edge: the longest edge of a flat triangle is longer than this times the height above it.
        threads: that compute.
    """
    points, triangles = np.ascontiguousarray(points, np.float64), np.ascontiguousarray(triangles, np.int32)
    areas, flags = np.empty(len(triangles)), np.empty(len(triangles), np.uint8)
    library().dmr_shapes(
        points.ctypes.data, triangles.ctypes.data, len(triangles), cosine_squared, long_edge, threads,
        areas.ctypes.data, flags.ctypes.data,
    )  # fmt: skip
    return areas, (flags & 1).astype(np.bool_), (flags & 2).astype(np.bool_)


def walls(
    points: NDArray[np.float64],
    triangles: NDArray[np.int32],
    rows: NDArray[np.intp],
    segments: NDArray[np.int64],
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Finds the longest segment of each triangle that the opposite corner is above, or beside by at most its height.

    Args:
        points: (n, 2); triangles: (m, 3), the numbers of the corners.
        rows: the numbers of the triangles that are wanted.
        segments: the keys of the segments (`edge_keys`), ascending.
        threads: that compute.

    Returns:
        For each triangle the number of the edge, -1 if there is none; its length; and the height of the corner.
    """
    points, triangles = np.ascontiguousarray(points, np.float64), np.ascontiguousarray(triangles, np.int32)
    found, lengths, heights = np.empty(len(rows), np.int64), np.empty(len(rows)), np.empty(len(rows))
    library().dmr_walls(
        points.ctypes.data, triangles.ctypes.data, rows.ctypes.data, len(rows), segments.ctypes.data, len(segments),
        threads, found.ctypes.data, lengths.ctypes.data, heights.ctypes.data,
    )  # fmt: skip
    return found, lengths, heights


def bins(
    values: NDArray[np.float64], weights: NDArray[np.int64], low: float, width: float, count: int, threads: int
) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Returns the bin of each value, of `count` ones of a width from `low` on, and the weight of each bin.

    Args:
        values, weights: (n,), not below `low`; low: where bins begin; width: of a bin; 0 puts all into the first.
        count: of the bins, the last of which has all higher values; at most 2^15.
        threads: that compute.
    """
    values, weights = np.ascontiguousarray(values), np.ascontiguousarray(weights)
    found, sums = np.empty(len(values), np.int16), np.zeros(count, np.int64)
    library().dmr_bins(
        values.ctypes.data, weights.ctypes.data, len(values), low, width, count, threads, found.ctypes.data,
        sums.ctypes.data,
    )  # fmt: skip
    return found, sums
