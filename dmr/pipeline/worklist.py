"""The list of bad triangles, in the order in which they were found."""

from __future__ import annotations

import numpy as np

from dmr.memory import Counter, DeviceArray, Number, bound_of, scan, total
from dmr.pipeline.device_mesh import DeviceMesh
from dmr.pipeline.workspace import Workspace


class BadTriangles:
    """Slots of triangles that are to be refined, each once.

    A slot is appended when a bad triangle is made in it, unless it is listed already (a bit of its quality word says
    so). What has become good since stays in the list until the next `prune`; kernels that go through it look at the
    quality word anyway. The order follows from scans, so it is the same on every device.

    Attributes:
        slots: the list; count: how long it is; spare: an array that can take its place.
    """

    def __init__(self, state: DeviceMesh, space: Workspace) -> None:
        self._state = state
        self._space = space
        self.slots = state.device.empty(0, np.int32)
        self.spare = state.device.empty(0, np.int32)
        self.count = 0

    def reserve(self, count: int) -> None:
        """Makes room for so many entries, in the list and in the spare array."""
        self.slots = self.slots.grown(count)
        if self.spare.size < self.slots.size:
            self.spare = self._state.device.empty(self.slots.size, np.int32)

    def append(self, fresh: DeviceArray, count: int) -> None:
        """Lists those of the `count` slots that are bad and not listed yet."""
        self.slots = self.slots.grown(self.count + count)
        self.count += total(self.append_on_device(fresh, count, self.count), count)

    def prune(self) -> None:
        """Takes out what is not to be refined any more."""
        device, flags = self._state.device, self._space.array("list_flags", self.count, np.int32)
        device.launch("flag_listed", self.count, self.slots, self._state.quality, flags)
        offsets = scan(flags, self.count, out=self._space.array("list_offsets", self.count + 1, np.int32))
        kept = total(offsets, self.count)
        if kept == self.count:
            return
        if self.spare.size < kept:
            self.spare = device.empty(self.slots.size, np.int32)
        device.launch("scatter_flagged", self.count, self.slots, flags, offsets, self.spare)
        self.slots, self.spare, self.count = self.spare, self.slots, kept

    def prune_on_device(self, count: Counter) -> DeviceArray:
        """Copies what is still to be refined of the first `count` entries to the spare array.

        Returns:
            The offsets: at place `count` how many there are.
        """
        device, flags = self._state.device, self._space.array("list_flags", count.bound, np.int32)
        device.launch("flag_listed", count, self.slots, self._state.quality, flags)
        offsets = scan(flags, count, out=self._space.array("list_offsets", count.bound + 1, np.int32))
        device.launch("scatter_flagged", count, self.slots, flags, offsets, self.spare)
        return offsets

    def append_on_device(self, fresh: DeviceArray, count: Number, end: Number) -> DeviceArray:
        """As `append`, where the list ends at `end` and has room.

        Returns:
            The offsets: at place `count` how many were appended.
        """
        bound = bound_of(count)
        device, flags = self._state.device, self._space.array("list_flags", bound, np.int32)
        device.launch("flag_unlisted", count, fresh, self._state.quality, flags)
        offsets = scan(flags, count, out=self._space.array("list_offsets", bound + 1, np.int32))
        device.launch("append_flagged", count, fresh, flags, offsets, end, self.slots)
        return offsets
