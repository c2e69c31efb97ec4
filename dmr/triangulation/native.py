"""ctypes interface of the native triangulation library (`serial/library.cpp`)."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int32, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.common.native import declare, interruptible, load_library
from dmr.errors import InternalError, InvalidMeshError
from dmr.mesh.naming import named
from dmr.mesh.types import Float, Int, Pslg

INTERFACE = 2  # of `serial/library.cpp`, which has it too: increment both when a function's arguments change

LIBRARY = Path(__file__).with_name("_triangulation.so")

MOST_VERTICES = 2**28 - 2  # half-edges are face << 2 | edge in 32 bits, and the plane has two faces per vertex

DONE, COLLINEAR, TANGLED, NO_MEMORY, BROKEN = range(5)  # enum Status of serial/library.cpp

VERTEX_ON_SEGMENT, OVERLAP, CROSSING, DEGENERATE = range(4)  # enum Conflict of serial/segments.hpp

OUTSIDE = 0  # the label of the unbounded part of the plane, up to the convex hull
ON_SEGMENT, BEYOND_HULL = -1, -2  # labels of places that are in no part


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane around a PSLG, triangulated within the convex hull and divided into parts by the segments.

    Attributes:
        triangles: (t, 3) int32 corners, counter-clockwise; duplicate points are represented by the first.
        neighbours: (t, 3) int32 the triangles across the edges, numbered as in `Mesh`; -1 beyond the hull.
        labels: (t,) int32 the part that contains each; `OUTSIDE` if no segment separates it from infinity.
        edges: (e, 2) int32 the edges that are pieces of segments, sorted by segment and along each of them, and
            directed like them; `edge_segments`: (e,) the segment of each.
        left, right: (e,) int32 the parts on their two sides; `BEYOND_HULL` on the outer side of the hull.
        left_side, right_side: (e,) int32 the half-edges there, as triangle << 2 | edge; -1 beyond the hull.
        new_vertices: (c, 2) float64, where segments cross; numbered after the PSLG's.
        conflicts: (f, 4) int32: kind, two segments, a vertex (enum Conflict of serial/segments.hpp).
        same_as: (n,) int32 the first vertex with the same coordinates.
        hull: (h,) int32 the vertices of the convex hull, unordered.
        hole_labels, region_labels: the parts that contain these points, `ON_SEGMENT` or `BEYOND_HULL`.
    """

    triangles: Int
    neighbours: Int
    labels: Int
    edges: Int
    edge_segments: Int
    left: Int
    right: Int
    left_side: Int
    right_side: Int
    new_vertices: Float
    conflicts: Int
    same_as: Int
    hull: Int
    hole_labels: Int
    region_labels: Int


def triangulate_plane(pslg: Pslg, *, convex_hull: bool = False, threads: int = 1) -> Plane:
    """Triangulates the convex hull of a PSLG whose coordinates are within range, and inserts its segments.

    Args:
        pslg: vertices, segments, and points to be located.
        convex_hull: parts end at the convex hull, as if its edges were segments; nothing inside it is `OUTSIDE`.
        threads: how many insert the points, and number the triangles; one inserts the segments.

    Raises:
        InvalidMeshError: more than `MOST_VERTICES` vertices, all of them on one line, or rounded crossings that cannot
            be resolved.
        NativeLibraryError: the native library is missing.
        MemoryError: there is too little memory.
    """
    if len(pslg.vertices) > MOST_VERTICES:
        raise InvalidMeshError(f"{len(pslg.vertices)} vertices are more than can be triangulated ({MOST_VERTICES})")
    native = library()
    vertices = np.ascontiguousarray(pslg.vertices)
    segments = np.ascontiguousarray(pslg.segments)
    markers = np.ascontiguousarray(pslg.segment_markers, dtype=np.int32)
    status, handle = c_int32(), c_void_p()
    try:
        native.dmr_triangulation(
            vertices.ctypes.data,
            len(vertices),
            segments.ctypes.data,
            markers.ctypes.data,
            len(segments),
            convex_hull,
            threads,
            status,
            handle,
        )
        _check(native, handle, status.value)
        return _copy(native, handle, pslg)
    finally:
        native.dmr_triangulation_free(handle)


def _check(native: ctypes.CDLL, handle: c_void_p, status: int) -> None:
    if status == COLLINEAR:
        raise InvalidMeshError("all vertices lie on one line (or in one place): they span no triangle")
    if status == TANGLED:
        pair = np.empty(2, np.int32)
        native.dmr_triangulation_tangled(handle, pair.ctypes.data)
        raise InvalidMeshError(
            f"runs so close to {named('segment', pair[1])} that their crossings cannot be rounded: move or join them",
            "segment",
            int(pair[0]),
        )
    if status == NO_MEMORY:
        raise MemoryError
    if status != DONE or not handle:
        raise InternalError("the triangulation failed: please report this input")


def _copy(native: ctypes.CDLL, handle: c_void_p, pslg: Pslg) -> Plane:
    counts = np.empty(5, np.int32)
    native.dmr_triangulation_counts(handle, counts.ctypes.data)
    triangles, edges, fresh, conflicts, outermost = (int(count) for count in counts)
    corners, neighbours = np.empty((triangles, 3), np.int32), np.empty((triangles, 3), np.int32)
    labels, table, places = np.empty(triangles, np.int32), np.empty((edges, 7), np.int32), np.empty((fresh, 2))
    found, same_as = np.empty((conflicts, 4), np.int32), np.empty(len(pslg.vertices), np.int32)
    hull = np.empty(outermost, np.int32)
    filled: tuple[NDArray[np.generic], ...] = (corners, neighbours, labels, table, places, found, same_as, hull)
    if native.dmr_triangulation_arrays(handle, *(array.ctypes.data for array in filled)) == NO_MEMORY:
        raise MemoryError
    return Plane(
        triangles=corners,
        neighbours=neighbours,
        labels=labels,
        edges=table[:, :2],
        edge_segments=table[:, 2],
        left=table[:, 3],
        right=table[:, 4],
        left_side=table[:, 5],
        right_side=table[:, 6],
        new_vertices=places,
        conflicts=found,
        same_as=same_as,
        hull=hull,
        hole_labels=_locate(native, handle, labels, pslg.holes),
        region_labels=_locate(native, handle, labels, pslg.regions[:, :2]),
    )


def _locate(native: ctypes.CDLL, handle: c_void_p, labels: Int, points: Float) -> Int:
    points = np.ascontiguousarray(points)
    found = np.empty(len(points), np.int32)
    native.dmr_triangulation_locate(handle, labels.ctypes.data, points.ctypes.data, len(points), found.ctypes.data)
    return found


@cache
def library() -> ctypes.CDLL:
    """Loads the library and declares its functions; raises NativeLibraryError as `load_library`."""
    loaded = load_library(LIBRARY, ("dmr_triangulation_interface", INTERFACE))
    interruptible(
        loaded, "dmr_triangulation", None,
        c_void_p, c_int32, c_void_p, c_void_p, c_int32, c_int32, c_int32, POINTER(c_int32), POINTER(c_void_p),
    )  # fmt: skip
    interruptible(loaded, "dmr_triangulation_arrays", c_int32, *[c_void_p] * 9)
    interruptible(
        loaded, "dmr_boundary_sweep", None, c_void_p, c_int32, c_void_p, c_void_p, c_int32, c_void_p
    )  # fmt: skip
    for name, pointers in (
        ("dmr_triangulation_free", 1),
        ("dmr_triangulation_counts", 2),
        ("dmr_triangulation_tangled", 2),
    ):
        declare(loaded, name, None, *[c_void_p] * pointers)
    declare(loaded, "dmr_triangulation_locate", None, c_void_p, c_void_p, c_void_p, c_int32, c_void_p)
    return loaded
