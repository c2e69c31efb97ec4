"""The list of bad triangles, in the order in which they were found."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, Number, bound_of
from dmr.pipeline.device_mesh import DeviceMesh
from dmr.pipeline.workspace import Workspace

MOST_LISTED = 2**31 - 1  # entries, which kernels count in 32 bits; there are never more triangles


def appended_sums(space: Workspace) -> DeviceArray:
    """Where it is entered, by piece of the new triangles, how many of them are appended."""
    return space.array("appended", space.device.most_pieces, np.int32)


class BadTriangles:
    """Slots of triangles that are to be refined, each once.

    A slot is appended when a bad triangle is made in it, unless it is listed already (a bit of its quality word says
    so). What has become good since stays in the list until candidates are taken from it; then what stays is copied to
    the other side. The order follows from sums over pieces, so it is the same on every device.

    Attributes:
        sides: the two sides of the list; side: the one that has it; count: how long it is.
    """

    def __init__(self, state: DeviceMesh, space: Workspace) -> None:
        self._state = state
        self._space = space
        self.sides = (state.device.empty(0, np.int32), state.device.empty(0, np.int32))
        self.side = 0
        self.count = 0

    @property
    def room(self) -> int:
        """How many entries either side can hold."""
        return min(side.size for side in self.sides)

    def reserve(self, count: int) -> None:
        """Makes room for so many entries, on both sides."""
        if count <= self.room:
            return
        kept = self.sides[self.side].grown(min(count, MOST_LISTED))
        spare = self.sides[1 - self.side]
        if spare.size < kept.size:
            spare = self._state.device.zeros(kept.size, np.int32)  # copied whole when it is the one that grows
        self.sides = (kept, spare) if self.side == 0 else (spare, kept)

    def flags(self, count: Number) -> DeviceArray:
        """A byte for each of so many entries."""
        return self._space.array("list_flags", bound_of(count), np.uint8)

    def extend(self, fresh: DeviceArray, count: int) -> None:
        """Lists those of the `count` slots that are bad and not listed yet; waits for how many there are."""
        self.reserve(self.count + count)
        appended = self.append(fresh, count, self.count, self.side)
        self.count += int(appended[: self._state.device.pieces(count)].download().sum())

    def append(self, fresh: DeviceArray, count: Number, end: Number, side: Number) -> DeviceArray:
        """Lists those of the `count` slots that are bad and not listed yet: behind the first `end` entries of a side,
        which has room for all of them.

        Returns:
            How many were appended, by piece of the `count` slots.
        """
        device, flags = self._state.device, self.flags(count)
        pieces, appended = device.pieces(count), appended_sums(self._space)
        device.launch("survey_fresh", pieces, self._state.view, fresh, count, flags, appended)
        device.launch("append_fresh", pieces, fresh, count, flags, appended, *self.sides, side, end)
        return appended
