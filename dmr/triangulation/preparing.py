"""Host memory of a mesh, made ready while a GPU triangulates it."""

from __future__ import annotations

import numpy as np

from dmr.common.cached import cached_property
from dmr.memory import copy, touch
from dmr.mesh.types import Float, Int

LEAST_BYTES = 2**25  # smaller results are downloaded to page-locked memory


class Prepared:
    """The vertices of a mesh, and room for its triangles.

    Attributes:
        room: (2 n, 3) int32, of undefined content, for n vertices: a triangulation has fewer triangles. None if it is
            not needed, or `run` was not called.
    """

    def __init__(self, given: Float, threads: int, *, downloads: bool) -> None:
        """Takes the vertices, the number of threads, and whether the triangles will be downloaded."""
        self._given, self._threads, self._downloads = given, threads, downloads
        self.room: Int | None = None

    @cached_property
    def vertices(self) -> Float:
        """(n, 2) float64: a copy of the given ones."""
        vertices = np.empty((len(self._given), 2))
        copy(vertices, self._given, self._threads)
        return vertices

    def run(self) -> None:
        """Makes both."""
        if len(self.vertices) * 24 > LEAST_BYTES and self._downloads:
            self.room = np.empty((2 * len(self.vertices), 3), np.int32)
            touch(self.room, self._threads)
