"""The list of bad triangles, in the order in which they were found."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, scan, total
from dmr.pipeline.device_mesh import DeviceMesh
from dmr.pipeline.workspace import Workspace


class BadTriangles:
    """Slots of triangles that are to be refined, each once.

    A slot is appended when a bad triangle is made in it, unless it is listed already (a bit of its quality word says
    so). What has become good since stays in the list until the next `prune`; kernels that go through it look at the
    quality word anyway. The order follows from scans, so it is the same on every device.

    Attributes:
        slots: the list; count: how long it is.
    """

    def __init__(self, state: DeviceMesh, space: Workspace) -> None:
        self._state = state
        self._space = space
        self.slots = state.device.empty(0, np.int32)
        self._spare = state.device.empty(0, np.int32)
        self.count = 0

    def append(self, fresh: DeviceArray, count: int) -> None:
        """Lists those of the `count` slots that are bad and not listed yet."""
        device, flags = self._state.device, self._space.array("list_flags", count, np.int32)
        device.launch("flag_unlisted", count, fresh, self._state.quality, flags)
        offsets = scan(flags, count, out=self._space.array("list_offsets", count + 1, np.int32))
        found = total(offsets, count)
        self.slots = self.slots.grown(self.count + found)
        device.launch("scatter_flagged", count, fresh, flags, offsets, self.slots[self.count :])
        self.count += found

    def prune(self) -> None:
        """Takes out what is not to be refined any more."""
        device, flags = self._state.device, self._space.array("list_flags", self.count, np.int32)
        device.launch("flag_listed", self.count, self.slots, self._state.quality, flags)
        offsets = scan(flags, self.count, out=self._space.array("list_offsets", self.count + 1, np.int32))
        kept = total(offsets, self.count)
        if kept == self.count:
            return
        if self._spare.size < kept:
            self._spare = device.empty(self.slots.size, np.int32)
        device.launch("scatter_flagged", self.count, self.slots, flags, offsets, self._spare)
        self.slots, self._spare, self.count = self._spare, self.slots, kept
