"""The list of bad triangles, in the order in which they were found."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, Number, bound_of
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.workspace import Workspace

MOST_LISTED = 2**31 - 1  # entries, which kernels count in 32 bits; there are never more triangles


def appended_sums(space: Workspace) -> DeviceArray:
    """Returns the array for the number of appended triangles, by piece of the new triangles."""
    return space.array("appended", space.device.most_pieces, np.int32)


class BadTriangles:
    """Slots of triangles to be refined, each once, in a double buffer.

    A slot is appended when a bad triangle is made in it, unless it is listed already (a bit of its quality word says
    so). Triangles that have become good stay in the list until candidates are taken from it; then the rest is copied to
    the other buffer. The order follows from sums over pieces, so it is the same on every device.

    Attributes:
        buffers: the two buffers; buffer: the index of the one in use; count: length of the list.
        large_waiting: whether some of the triangles, or subsegments, wait for a cavity record of more capacity.
    """

    def __init__(self, state: DeviceMesh, space: Workspace) -> None:
        self._state = state
        self._space = space
        self.buffers = (state.device.empty(0, np.int32), state.device.empty(0, np.int32))
        self.buffer = 0
        self.count = 0
        self.large_waiting = False

    def clear(self) -> None:
        """Empties the list; the quality words of its triangles are not changed."""
        self.buffer, self.count, self.large_waiting = 0, 0, False

    @property
    def capacity(self) -> int:
        """Capacity of either buffer, in entries."""
        return min(buffer.size for buffer in self.buffers)

    def reserve(self, count: int) -> None:
        """Makes room for `count` entries in both buffers."""
        if count <= self.capacity:
            return
        kept = self.buffers[self.buffer].grown(min(count, MOST_LISTED))
        spare = self.buffers[1 - self.buffer]
        if spare.size < kept.size:
            spare = self._state.device.zeros(kept.size, np.int32)  # all of it is copied when this buffer grows
        self.buffers = (kept, spare) if self.buffer == 0 else (spare, kept)

    def flags(self, count: Number) -> DeviceArray:
        """Returns one byte for each of `count` entries."""
        return self._space.array("list_flags", bound_of(count), np.uint8)

    def extend(self, fresh: DeviceArray, count: int) -> None:
        """Lists those of the `count` slots that are bad and not listed yet; waits for their number."""
        self.reserve(self.count + count)
        appended = self.append(fresh, count, self.count, self.buffer)
        self.count += int(appended[: self._state.device.pieces(count)].download().sum())

    def append(self, fresh: DeviceArray, count: Number, end: Number, buffer: Number) -> DeviceArray:
        """Lists those of the `count` slots that are bad and not listed yet, after the first `end` entries of a buffer,
        which has room for all of them.

        Returns:
            The number appended, by piece of the `count` slots.
        """
        device, flags = self._state.device, self.flags(count)
        pieces, appended = device.pieces(count), appended_sums(self._space)
        device.launch("survey_fresh", pieces, self._state.view, fresh, count, flags, appended)
        device.launch("append_fresh", pieces, fresh, count, flags, appended, *self.buffers, buffer, end)
        return appended
