"""ctypes bindings of the native library of unions and blocks (`library.cpp`).

The structs here mirror those in the C++ files; increment `INTERFACE` in both places when they change.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection
from ctypes import POINTER, Structure, c_double, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.native import interruptible, load_library, members

INTERFACE = 5

LIBRARY = Path(__file__).with_name("_unions.so")


class NumberedList(Structure):
    """An ascending list of numbers, and the places of its entries in a union (`List`)."""

    _fields_ = members("address entries", "int64 count first", "address places")


class Demand(Structure):
    """The bounds that triangles of the result meet (`Demand`): see `predict`."""

    _fields_ = members("double cosine_squared long_edge for_skinny over_fewest max_area most", "address bounds")


@cache
def library() -> ctypes.CDLL:
    """Loads the library and declares its functions; raises NativeLibraryError as `load_library`."""
    loaded = load_library(LIBRARY, ("dmr_unions_interface", INTERFACE))
    interruptible(loaded, "dmr_unite", c_int64, POINTER(NumberedList), c_int32, c_int32, c_void_p, c_void_p)
    interruptible(loaded, "dmr_find_numbers", None, POINTER(NumberedList), c_void_p, c_int64, c_int32, c_void_p)
    interruptible(loaded, "dmr_components", None, c_void_p, c_int64, c_int32, c_void_p)
    interruptible(loaded, "dmr_link", c_int32, c_void_p, c_int64, c_int64, c_int32, c_void_p)
    predict = (c_void_p, c_void_p, c_void_p, c_int64, POINTER(Demand), c_int32, *5 * [c_void_p])
    interruptible(loaded, "dmr_predict", None, *predict)
    blocks = (c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_int32, c_double, c_int32, c_void_p)
    interruptible(loaded, "dmr_blocks", c_int32, *blocks)
    interruptible(loaded, "dmr_block_weights", None, c_void_p, c_void_p, c_int64, c_int32, c_int32, c_void_p)
    beside = (c_void_p, c_void_p, c_void_p, c_int64, c_int32, c_void_p, c_void_p)
    interruptible(loaded, "dmr_beside_cuts", None, *beside)
    walls = (c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_int32, c_void_p, c_void_p, c_void_p)
    interruptible(loaded, "dmr_walls", None, *walls)
    interruptible(loaded, "dmr_take_rows", None, c_void_p, c_int64, c_void_p, c_int32, c_int64, c_int32, c_void_p)
    interruptible(loaded, "dmr_flag", None, c_void_p, c_int32, c_int64, c_int32, c_void_p)
    interruptible(loaded, "dmr_frozen", None, c_void_p, c_void_p, c_int64, c_int32, c_void_p)
    border = (c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_int32, c_void_p)
    interruptible(loaded, "dmr_border", None, *border)
    interruptible(loaded, "dmr_cut_edges", c_int64, *border, c_void_p, c_void_p)
    pairs = (c_void_p, c_int64, c_int64, c_void_p, c_int64, c_int32, c_void_p)
    interruptible(loaded, "dmr_find_pairs", c_int32, *pairs)
    interruptible(loaded, "dmr_put_rows", None, c_void_p, c_int64, c_void_p, c_int64, c_int32, c_void_p)
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


def linked(triangles: NDArray[np.int32], vertices: int, threads: int) -> NDArray[np.int32]:
    """Returns (m, 3) the triangle across each edge of triangles that do not overlap, as `Mesh.neighbours`.

    Args:
        triangles: (m, 3), the numbers of the corners; vertices: above all of these; threads: that compute.

    Raises:
        MemoryError: there is too little memory.
    """
    triangles, found = np.ascontiguousarray(triangles, np.int32), np.empty(triangles.shape, np.int32)
    if library().dmr_link(triangles.ctypes.data, len(triangles), vertices, threads, found.ctypes.data):
        raise MemoryError
    return found


# The outputs of `predict` for each triangle, in the order of the library's arguments.
PREDICTED = {"areas": np.float64, "by_angle": np.float64, "by_size": np.float64, "weights": np.int64, "thin": np.bool_}


def predict(
    points: NDArray[np.float64],
    triangles: NDArray[np.int32],
    demand: Demand,
    bounds: NDArray[np.float64] | None,
    wanted: Collection[str],
    threads: int,
    rows: NDArray[np.intp] | None = None,
) -> dict[str, NDArray[Any]]:
    """Predicts the triangles of the result in triangles of a mesh.

    Args:
        points: (n, 2); triangles: (m, 3), the numbers of the corners.
        demand: `cosine_squared` of the bound on angles: a triangle with a smaller angle is skinny, and becomes
            `for_skinny` triangles, and if its longest edge is longer than `long_edge` times the height above it, it is
            thin; `over_fewest`: triangles of the result over those that areas need at least; `max_area`, infinite if
            there is none; `most`: the largest weight. Its `bounds` are set here.
        bounds: (m,) on the area of each triangle.
        wanted: names of `PREDICTED`; threads: that compute; rows: the numbers of the triangles, None for all.

    Returns:
        By name, of each triangle: its area, what the bounds on angles and on areas need, the larger of both, rounded
        up, and whether it is thin.
    """
    points, triangles = np.ascontiguousarray(points, np.float64), np.ascontiguousarray(triangles, np.int32)
    bounds = None if bounds is None else np.ascontiguousarray(bounds, np.float64)
    demand.bounds = None if bounds is None else bounds.ctypes.data
    count = len(triangles) if rows is None else len(rows)
    found: dict[str, NDArray[Any]] = {name: np.empty(count, PREDICTED[name]) for name in wanted}
    outputs = (found[name].ctypes.data if name in found else None for name in PREDICTED)
    library().dmr_predict(
        points.ctypes.data, triangles.ctypes.data, None if rows is None else rows.ctypes.data, count, demand, threads,
        *outputs,
    )  # fmt: skip
    return found


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


def blocks_of(
    points: NDArray[np.float64],
    triangles: NDArray[np.int32],
    weights: NDArray[np.int64],
    blocks: int,
    shift: float,
    threads: int,
    rows: NDArray[np.intp] | None = None,
) -> NDArray[np.int32]:
    """Divides triangles into k-d blocks of about equal weight: along the longer extent, ties broken by place.

    Args:
        points: (n, 2); triangles: (m, 3), the numbers of the corners, whose means are divided.
        weights: (k,) above 0; blocks: how many, 1 to k.
        shift: of the first division of each part, in weights of a block, between -0.5 and 0.5.
        threads: that compute; rows: (k,) the numbers of the triangles; None for all.

    Returns:
        (k,) the block of each.

    Raises:
        MemoryError: there is too little memory.
    """
    points, triangles = np.ascontiguousarray(points, np.float64), np.ascontiguousarray(triangles, np.int32)
    weights, found = np.ascontiguousarray(weights, np.int64), np.empty(len(weights), np.int32)
    lacks_memory = library().dmr_blocks(
        points.ctypes.data, triangles.ctypes.data, None if rows is None else rows.ctypes.data, weights.ctypes.data,
        len(weights), blocks, shift, threads, found.ctypes.data,
    )  # fmt: skip
    if lacks_memory:
        raise MemoryError
    return found


def block_weights(block: NDArray[np.int32], weights: NDArray[np.int64], blocks: int, threads: int) -> NDArray[np.int64]:
    """Returns (blocks,) the sum of the weights in each block; `threads` compute."""
    sums = np.zeros(blocks, np.int64)
    library().dmr_block_weights(
        block.ctypes.data, weights.ctypes.data, len(block), blocks, threads, sums.ctypes.data
    )  # fmt: skip
    return sums


def beside_cuts(
    neighbours: NDArray[np.int32],
    segments: NDArray[np.int32],
    block: NDArray[np.int32],
    seeds: NDArray[np.bool_],
    threads: int,
) -> NDArray[np.bool_]:
    """Returns (m,) which of the triangles that are seeds have an edge to another block or patch that is no segment.

    Args:
        neighbours, segments: (m, 3) the triangle across each edge, and the segment on it, -1 where there is none.
        block, seeds: (m,); threads: that compute.
    """
    neighbours, segments = np.ascontiguousarray(neighbours), np.ascontiguousarray(segments)
    seeds, found = np.ascontiguousarray(seeds), np.empty(len(seeds), np.bool_)
    library().dmr_beside_cuts(
        neighbours.ctypes.data, segments.ctypes.data, block.ctypes.data, len(seeds), threads, seeds.ctypes.data,
        found.ctypes.data,
    )  # fmt: skip
    return found
