"""The list of bad triangles, in the order in which they were found."""

from __future__ import annotations

import numpy as np

from dmr.memory import Device, DeviceArray, Number, bound_of, scan, total
from dmr.pipeline.device_mesh import DeviceMesh
from dmr.pipeline.workspace import Workspace

MOST_LISTED = 2**31 - 1  # entries, which kernels count in 32 bits; there are never more triangles


class BadTriangles:
    """Slots of triangles that are to be refined, each once.

    A slot is appended when a bad triangle is made in it, unless it is listed already (a bit of its quality word says
    so). What has become good since stays in the list until the next `prune`; kernels that go through it look at the
    quality word anyway. The order follows from scans, so it is the same on every device.

    Attributes:
        slots: the list; count: how long it is; spare: an array as large, for what is left of it.
    """

    def __init__(self, state: DeviceMesh, space: Workspace) -> None:
        self._state = state
        self._space = space
        self.slots = state.device.empty(0, np.int32)
        self.spare = state.device.empty(0, np.int32)
        self.count = 0

    def reserve(self, count: int) -> None:
        """Makes room for so many entries, in the list and in the spare array."""
        self.slots = self.slots.grown(min(count, MOST_LISTED))
        if self.spare.size < self.slots.size:
            self.spare = self._state.device.empty(self.slots.size, np.int32)

    def append(self, fresh: DeviceArray, count: int) -> None:
        """Lists those of the `count` slots that are bad and not listed yet."""
        self.slots = self.slots.grown(self.count + count)
        self.count += total(self.append_unread(fresh, count, self.count), count)

    def prune(self) -> None:
        """Takes out what is not to be refined any more."""
        self.reserve(self.count)
        kept = total(self.prune_unread(self.count), self.count)
        if kept < self.count:
            # Copied back, and not exchanged: a recorded loop keeps the addresses of both.
            self._state.device.launch("copy_int32", kept, self.spare, self.slots)
            self.count = kept

    def append_unread(self, fresh: DeviceArray, count: Number, end: Number) -> DeviceArray:
        """As `append`, to a list that ends at `end` and has room; how many were appended stays on the device.

        Returns:
            The offsets, which have that number at place `count`.
        """
        device, flags, offsets = self._scratch(count)
        device.launch("flag_unlisted", count, fresh, self._state.quality, flags)
        scan(flags, count, out=offsets)
        device.launch("append_flagged", count, fresh, flags, offsets, end, self.slots)
        return offsets

    def prune_unread(self, count: Number) -> DeviceArray:
        """Copies what is still to be refined of the first `count` entries to the spare array; as `append_unread`."""
        device, flags, offsets = self._scratch(count)
        device.launch("flag_listed", count, self.slots, self._state.quality, flags)
        scan(flags, count, out=offsets)
        device.launch("scatter_flagged", count, self.slots, flags, offsets, self.spare)
        return offsets

    def _scratch(self, count: Number) -> tuple[Device, DeviceArray, DeviceArray]:
        bound, array = bound_of(count), self._space.array
        return self._state.device, array("list_flags", bound, np.int32), array("list_offsets", bound + 1, np.int32)
