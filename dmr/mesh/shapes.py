"""Smallest angles and areas of triangles, areas of outlines, and bounding boxes, in float64 from the coordinates.

Triangles are measured in blocks that fit in the cache and on all cores: the kernel and numpy release the interpreter
lock while they work.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dmr.common.number_arrays import sum_in_order
from dmr.common.pooling import close, new_pool, submit
from dmr.common.threads import available_threads
from dmr.memory.host.device import HostArray, HostDevice
from dmr.mesh.arrays import Float, Int, MeshArrays, check_table

BLOCK = 1 << 15  # triangles per block: its dozen temporaries stay in a core's cache


def min_angles(mesh: MeshArrays) -> Float:
    """Compute the smallest angle of each triangle in degrees: (m,) float64."""
    check_table(mesh.triangles, len(mesh.vertices), "triangle")
    angles = np.empty(len(mesh.triangles))

    def work(start: int, stop: int) -> None:
        shape = shapes_of(mesh.vertices, mesh.triangles[start:stop])
        angles[start:stop] = shape.degrees(shape.at_smallest)

    in_blocks(work, len(angles))
    return angles


def triangle_areas(mesh: MeshArrays) -> Float:
    """Compute the area of each triangle, negative for clockwise triangles: (m,) float64."""
    check_table(mesh.triangles, len(mesh.vertices), "triangle")
    areas = np.empty(len(mesh.triangles))

    def work(start: int, stop: int) -> None:
        areas[start:stop] = shapes_of(mesh.vertices, mesh.triangles[start:stop]).twice_area / 2

    in_blocks(work, len(areas))
    return areas


def enclosed_area(points: Float, segments: Int) -> float:
    """Compute the area on the left of segments that enclose it: (s, 2) indices of points, at least one segment."""
    start, end = (points[segments[:, k]] - points[segments[0, 0]] for k in range(2))
    return 0.5 * sum_in_order(start[:, 0] * end[:, 1] - start[:, 1] * end[:, 0])


def bounding_box(vertices: Float) -> tuple[float, float, float, float]:
    """Compute the smallest x, smallest y, largest x and largest y; NaN if there are no vertices."""
    if not len(vertices):
        return (math.nan,) * 4
    x, y = vertices.T  # by columns: numpy takes ten times as long along rows
    return float(x.min()), float(y.min()), float(x.max()), float(y.max())


@dataclass(frozen=True)
class Shapes:
    """Twice the area of each triangle of a block, and the values that determine its angles and edges (`shapes.cu`)."""

    twice_area: Float
    at_smallest: Float
    at_largest: Float
    middle_squared: Float
    longest_squared: Float

    def degrees(self, dot: Float) -> Float:
        """Angles in degrees, from `at_smallest` or `at_largest`."""
        angles = np.abs(self.twice_area)
        np.arctan2(angles, dot, out=angles)
        return np.degrees(angles, out=angles)


def shapes_of(vertices: Float, triangles: Int, *, edges: bool = False) -> Shapes:
    """Compute the shapes of a block of triangles by a kernel on this thread; edge lengths only if `edges` is set."""
    device, count = HostDevice(threads=1), len(triangles)
    found = np.empty((5, count))
    corners = (HostArray(device, array.reshape(-1)) for array in (vertices, triangles))
    columns = [HostArray(device, column) for column in found]
    device.launch("measure_shapes", count, *corners, *(columns if edges else [*columns[:3], None, None]))
    return Shapes(*found)


def in_blocks(work: Callable[[int, int], None], count: int) -> None:
    """Call `work(start, stop)` over 0..count, several blocks concurrently; blocks start at multiples of `BLOCK`.

    Overflow gives infinities without a warning, because coordinates may have any finite value.
    """

    @np.errstate(all="ignore")
    def quietly(span: tuple[int, int]) -> None:
        work(*span)

    spans = [(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK)]
    threads = min(len(spans), available_threads(), 16)
    if threads < 2:
        for span in spans:
            quietly(span)
        return
    pool = new_pool(threads, "dmr-measure")
    try:
        for future in [submit(pool, quietly, span) for span in spans]:
            future.result()
    finally:
        close(pool)
