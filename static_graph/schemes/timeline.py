"""When each block of a scheme's kernels ran, and where (thesis, figure 6.5)."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device, Packed, pack


class Line(IntEnum):
    """`TimelineEntry` of `cuda_src/graph/timeline.cuh`."""

    ROUND = 0
    PROCESSOR = 1
    BEGUN = 2
    ENDED = 3


class Timeline:
    """Room for lines that blocks write as they end: in the order of their ends, of all rounds until it is full.

    On a GPU a block has 128 nodes, and its processor is a multiprocessor; on a CPU a block is a piece of the nodes of
    whatever size, and its processor is a thread.
    """

    def __init__(self, device: Device, room: int) -> None:
        """Makes room for so many lines (of 32 bytes)."""
        self._lines = device.zeros(room * len(Line), np.int64)
        self._used = device.zeros(1, np.int64)
        self._room = room

    def packed(self) -> Packed:
        """The timeline as kernels take it."""
        return pack("Timeline", lines=self._lines, room=self._room, used=self._used)

    @property
    def blocks(self) -> int:
        """How many blocks have ended; those beyond the room are not recorded."""
        return int(self._used.download()[0])

    def lines(self) -> NDArray[np.int64]:
        """(recorded blocks, 4), by `Line`: the round from 0, the processor, and when the block began and ended, in
        nanoseconds of a clock of the device.
        """
        recorded = min(self.blocks, self._room)
        return self._lines[: recorded * len(Line)].download().reshape(-1, len(Line))


def packed_timeline(timeline: Timeline | None) -> Packed:
    """A timeline as kernels take it; one that records nothing for None."""
    return pack("Timeline", lines=None, room=0, used=None) if timeline is None else timeline.packed()
