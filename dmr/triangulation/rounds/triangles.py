"""Exports the triangles of a plane to arrays on a device (cuda_src/triangulate/parts.cu)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.memory import DeferredContent, DeviceArray, flagged_indices, scan
from dmr.mesh.adjacency import find_neighbours
from dmr.mesh.types import Int
from dmr.triangulation.rounds.order import Order


# `Plane` passes on the same three tables, of either kind; here they are downloaded.
@dataclass(frozen=True, eq=False)
class DeviceTriangles:
    """`Triangles` on a device: tables are downloaded when they are first accessed.

    Attributes:
        order: the vertices, along a curve.
        corner_table, neighbour_table: (3 t,) int32; label_table: (t,) int32.
    """

    order: Order
    corner_table: DeviceArray
    neighbour_table: DeviceArray
    label_table: DeviceArray

    @property
    def count(self) -> int:
        """The number of triangles."""
        return self.label_table.size

    @cached_property
    def corners(self) -> Int:
        """(t, 3) int32, downloaded."""
        return self.corner_table.content().reshape(-1, 3)

    def corners_in(self, room: Int | None) -> Int:
        """Returns `corners`, downloaded into the given (t or more, 3) table unless they would waste half of it."""
        if room is None or not len(room) // 2 <= self.count <= len(room):
            return self.corners
        corners = room[: self.count]
        self.corner_table.download(out=corners.reshape(-1))
        object.__setattr__(self, "corners", corners)
        return corners

    @cached_property
    def neighbours(self) -> Int:
        """(t, 3) int32, downloaded."""
        return self.neighbour_table.content().reshape(-1, 3)

    def finding_neighbours(self) -> Callable[[], Int]:
        """Returns a function that returns `neighbours`, downloaded at its first call; few users of a mesh need them."""
        corners, count = self.corners, self.order.given.size
        table = DeferredContent(self.neighbour_table)

        def neighbours() -> Int:
            found = table.read()
            return find_neighbours(corners, count) if found is None else found.reshape(-1, 3)

        return neighbours

    @cached_property
    def labels(self) -> Int:
        """(t,) int32, downloaded."""
        return self.label_table.content()

    def within(self, kept: NDArray[np.bool_], sides: Int) -> tuple[DeviceTriangles, Int]:
        """Returns what `Triangles.within` describes."""
        device, count = self.corner_table.device, self.count
        with device.lock, device.current:
            flags = device.empty(count, np.int32)
            device.launch("flag_kept", count, self.label_table, device.array(kept.view(np.uint8)), flags)
            listed, left = flagged_indices(flags)
            if left == count:
                return self, sides
            before = scan(flags)
            made = DeviceTriangles(self.order, *(device.empty(width * left, np.int32) for width in (3, 3, 1)))
            device.launch(
                "keep_triangles", left, listed, flags, before, self.corner_table, self.neighbour_table,
                self.label_table, made.corner_table, made.neighbour_table, made.label_table,
            )  # fmt: skip
            given = device.array(sides)
            device.launch("renumber_sides", given.size, before, given)
            return made, given.download()
