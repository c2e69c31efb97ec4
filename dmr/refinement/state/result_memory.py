"""Host memory of a refined mesh, made ready while a GPU refines it.

New pages take longer than the bus: of 64 MiB in fresh memory, a download takes twice the time of one to memory that has
its pages (docs/internals/triangulation.md). The size of the result is estimated; where the estimate is far off, the
memory is not used.
"""

from __future__ import annotations

import numpy as np

from dmr.common.threads import available_threads
from dmr.memory import Device, copy, touch
from dmr.mesh.types import Float, Int

LEAST_BYTES = 2**25  # of triangles; smaller tables are downloaded to page-locked memory
POINTS_PER_BAD = 1.5  # inserted for 30 degrees, per bad triangle, and a margin: 1.27 to 1.41 with random points
LEAST_SHARE = 0.5  # of the memory that a result fills; otherwise it would hold too much


class ResultMemory:
    """The vertices of the input and their markers, followed by room for those of new ones, and room for triangles."""

    def __init__(self, given: Float, markers: Int | None, device: Device) -> None:
        """Takes the vertices of the input, (n, 2) float64, their (n,) markers, and the device of the refinement."""
        self._given, self._given_markers = given, markers
        self._needed = is_downloaded(device)
        self._threads = device.threads or available_threads()
        self._vertices: Float | None = None
        self._markers: Int | None = None
        self._triangles: Int | None = None

    def prepare(self, triangles: int, bad: int, most_points: int) -> None:
        """Gets the memory, at the first call, unless the result is small or in main memory already.

        Args:
            triangles, bad: those of the mesh now, and the bad ones among them; most_points: that may be inserted.
        """
        if not self._needed:
            return
        self._needed = False
        points = min(int(POINTS_PER_BAD * bad), most_points)
        rows = triangles + 2 * points
        if 12 * rows < LEAST_BYTES:
            return
        self._triangles = np.empty((rows, 3), np.int32)
        touch(self._triangles, self._threads)
        self._vertices = np.empty((len(self._given) + points, 2))
        copy(self._vertices[: len(self._given)], self._given, self._threads)
        touch(self._vertices[len(self._given) :], self._threads)
        if self._given_markers is not None:
            self._markers = self._marked(len(self._given) + points)

    def vertices(self, count: int) -> Float:
        """Returns (count, 2) float64: the vertices of the input, and undefined ones."""
        if self._vertices is not None and _fits(self._vertices, count):
            return self._vertices[:count]
        vertices = np.empty((count, 2))
        copy(vertices[: len(self._given)], self._given, self._threads)
        return vertices

    def markers(self, count: int) -> Int:
        """Returns (count,) int32: the markers of the input's vertices, followed by zeros."""
        if self._markers is not None and _fits(self._markers, count):
            return self._markers[:count]
        return self._marked(count)

    def _marked(self, count: int) -> Int:
        assert self._given_markers is not None
        markers = np.empty(count, np.int32)
        copy(markers[: len(self._given)], np.ascontiguousarray(self._given_markers), self._threads)
        markers[len(self._given) :] = 0
        return markers

    def triangles(self, count: int) -> Int | None:
        """Returns (count, 3) int32 of undefined content, or None if nothing suitable is ready."""
        if self._triangles is None or not _fits(self._triangles, count):
            return None
        return self._triangles[:count]


def is_downloaded(device: Device) -> bool:
    """Whether results are copied from a device to main memory."""
    return not device.threads


def _fits(memory: Float | Int, count: int) -> bool:
    return LEAST_SHARE * len(memory) <= count <= len(memory)
