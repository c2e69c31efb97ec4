"""The triangulation of a graph by the native library (`serial/library.cpp`)."""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_void_p

import numpy as np
from numpy.typing import NDArray

from dmr.common.native import address_of
from dmr.errors import InternalError, InvalidMeshError
from dmr.mesh.coordinates import LARGEST, SMALLEST, SMALLEST_EXTENT, check_coordinates
from dmr.mesh.naming import named
from dmr.mesh.types import Float, Int, Pslg
from dmr.triangulation.bindings import library
from dmr.triangulation.host_triangles import HostTriangles
from dmr.triangulation.plane import Plane

MOST_VERTICES = 2**28 - 2  # half-edges are face << 2 | edge in 32 bits, and the plane has two faces per vertex

EXACT_RANGE, ANY_RANGE = np.array([SMALLEST, LARGEST, SMALLEST_EXTENT]), np.array([0.0, np.inf, 0.0])  # `Range`

LEAST_PER_THREAD = 2**10  # vertices and segments: 36 each take one thread 0.3 ms, 16 threads 2.4 ms

DONE, COLLINEAR, TANGLED, NO_MEMORY, BROKEN, INTERRUPTED, OUT_OF_RANGE = range(7)  # enum Status of serial/result.hpp

VERTEX_ON_SEGMENT, OVERLAP, CROSSING, DEGENERATE = range(4)  # enum Conflict of serial/segments/segments.hpp


def triangulate_plane(pslg: Pslg, *, convex_hull: bool = False, threads: int = 1, in_range: bool = False) -> Plane:
    """Triangulates the convex hull of a PSLG, and inserts its segments.

    Args:
        pslg: vertices, segments, and points to be located.
        convex_hull: parts end at the convex hull, as if its edges were segments; nothing inside it is `OUTSIDE`.
        threads: how many share the work at most; where crossings nearly coincide, one inserts the segments.
        in_range: whether the predicates are known to be exact for the coordinates.

    Raises:
        InvalidMeshError: coordinates out of range, more than `MOST_VERTICES` vertices, all of them on one line, or
            rounded crossings that cannot be resolved.
        NativeLibraryError: the native library is missing.
        MemoryError: there is too little memory.
    """
    if len(pslg.vertices) > MOST_VERTICES:
        raise InvalidMeshError(f"{len(pslg.vertices)} vertices are more than can be triangulated ({MOST_VERTICES})")
    native = library()
    used_threads = useful_threads(threads, len(pslg.vertices) + len(pslg.segments))
    vertices = np.ascontiguousarray(pslg.vertices)
    segments = np.ascontiguousarray(pslg.segments)
    markers = np.ascontiguousarray(pslg.segment_markers, dtype=np.int32)
    exact = ANY_RANGE if in_range else EXACT_RANGE
    status, handle = c_int32(), c_void_p()
    try:
        native.dmr_triangulation(
            address_of(vertices),
            len(vertices),
            address_of(exact),
            address_of(segments),
            address_of(markers),
            len(segments),
            convex_hull,
            used_threads,
            status,
            handle,
        )
        if status.value == OUT_OF_RANGE:
            check_coordinates(vertices)  # raises an error that names the vertex
        _check(native, handle, status.value)
        return _copy(native, handle, pslg, used_threads)
    finally:
        native.dmr_triangulation_free(handle)


def useful_threads(threads: int, elements: int) -> int:
    """Returns how many of `threads` share that many vertices and segments; more take longer to wake than they save."""
    return max(1, min(threads, elements // LEAST_PER_THREAD))


def _check(native: ctypes.CDLL, handle: c_void_p, status: int) -> None:
    if status == COLLINEAR:
        raise InvalidMeshError("all vertices lie on one line (or in one place): they span no triangle")
    if status == TANGLED:
        pair = np.empty(2, np.int32)
        native.dmr_triangulation_tangled(handle, address_of(pair))
        raise InvalidMeshError(
            f"runs so close to {named('segment', pair[1])} that their crossings cannot be rounded: move or join them",
            "segment",
            int(pair[0]),
        )
    if status == NO_MEMORY:
        raise MemoryError
    if status != DONE or not handle:
        raise InternalError("the triangulation failed: please report this input")


def _copy(native: ctypes.CDLL, handle: c_void_p, pslg: Pslg, threads: int) -> Plane:
    counts = np.empty(6, np.int32)
    native.dmr_triangulation_counts(handle, address_of(counts))
    triangles, edges, fresh, conflicts, outermost, equal = counts.tolist()
    corners, neighbours = np.empty((triangles, 3), np.int32), np.empty((triangles, 3), np.int32)
    labels, table, places = np.empty(triangles, np.int32), np.empty((edges, 7), np.int32), np.empty((fresh, 2))
    found, same_as = np.empty((conflicts, 4), np.int32), np.empty(len(pslg.vertices) * equal, np.int32)
    hull, label_range = np.empty(outermost, np.int32), np.empty(2, np.int32)
    along = np.empty(0 if fresh else len(pslg.vertices), np.int32)
    filled: tuple[NDArray[np.generic], ...] = (
        corners, neighbours, labels, table, places, found, same_as, hull, label_range, along,
    )  # fmt: skip
    # Nothing is written to empty arrays, of which numpy gives the address slowly.
    addresses = [address_of(array) if array.size else None for array in filled]
    if native.dmr_triangulation_arrays(handle, *addresses) == NO_MEMORY:
        raise MemoryError
    return Plane(
        tables=HostTriangles(corners, neighbours, labels, int(label_range[0]), threads),
        parts=int(label_range[1]) + 1,
        edges=table[:, :2],
        edge_segments=table[:, 2],
        left=table[:, 3],
        right=table[:, 4],
        left_side=table[:, 5],
        right_side=table[:, 6],
        new_vertices=places,
        conflicts=found,
        same_as=same_as if equal else None,
        hull=hull,
        along=None if fresh else along,
        hole_labels=_locate(native, handle, labels, pslg.holes),
        region_labels=_locate(native, handle, labels, pslg.regions[:, :2]),
    )


def _locate(native: ctypes.CDLL, handle: c_void_p, labels: Int, points: Float) -> Int:
    found = np.empty(len(points), np.int32)
    if not len(points):
        return found
    points = np.ascontiguousarray(points)
    native.dmr_triangulation_locate(handle, address_of(labels), address_of(points), len(points), address_of(found))
    return found
