"""The triangles of a triangulated plane in main memory (`rounds.triangles` has those on a device)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.common.native import address_of
from dmr.mesh.types import Int
from dmr.triangulation.bindings import library


@dataclass(frozen=True, eq=False)
class HostTriangles:
    """`Triangles` in main memory.

    Attributes:
        least_label: the least of the labels; each between it and the largest occurs.
        threads: how many CPU threads share the work on them at most.
    """

    corners: Int
    neighbours: Int
    labels: Int
    least_label: int
    threads: int

    def corners_in(self, room: Int | None) -> Int:
        """Returns `corners`; `room` is not used."""
        return self.corners

    def finding_neighbours(self) -> Callable[[], Int]:
        """Returns a function that returns `neighbours`."""
        neighbours = self.neighbours
        return lambda: neighbours

    def within(self, kept: NDArray[np.bool_], sides: Int) -> tuple[HostTriangles, Int]:
        """Returns what `Triangles.within` describes."""
        if kept[self.least_label :].all():
            return self, sides
        native = library()
        count, of_kept = len(self.labels), np.ascontiguousarray(kept)
        numbers = np.empty(count, np.int32)
        left = native.dmr_number_kept(
            address_of(self.labels), count, address_of(of_kept), self.threads, address_of(numbers)
        )
        if left < 0:
            raise MemoryError
        corners, neighbours, labels = (np.empty(shape, np.int32) for shape in ((left, 3), (left, 3), left))
        given, made = (self.corners, self.neighbours, self.labels, numbers), (corners, neighbours, labels)
        if native.dmr_keep_triangles(
            *(address_of(array) for array in given), count, self.threads, *(address_of(array) for array in made)
        ):
            raise MemoryError
        least = self.least_label + int(kept[self.least_label :].argmax())
        return HostTriangles(corners, neighbours, labels, least, self.threads), numbers[sides >> 2] << 2 | sides & 3
