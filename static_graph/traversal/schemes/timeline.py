"""Timeline of the blocks of a scheme's kernels: when and where each one ran (thesis, figure 6.5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device, Enumeration, Packed, pack


class BlockColumn(Enumeration, enum="TimelineEntry", count="TIMELINE_ENTRIES"):
    """Columns of a record."""


class Timeline:
    """Records that blocks of all rounds write when they end, in the order of their ends, until the capacity is used up.

    On a GPU a block has 128 nodes, and its processor is a multiprocessor. On a CPU a block is a piece of the nodes, of
    any size, and its processor is a thread.
    """

    def __init__(self, device: Device, capacity: int) -> None:
        """Allocates a capacity of `room` records (of 32 bytes)."""
        self._records = device.zeros(capacity * len(BlockColumn), np.int64)
        self._used = device.zeros(1, np.int64)
        self._capacity = capacity

    def packed(self) -> Packed:
        """Returns the timeline as a kernel argument."""
        return pack("Timeline", records=self._records, capacity=self._capacity, used=self._used)

    @property
    def blocks(self) -> int:
        """Number of blocks that have ended; blocks beyond the capacity are not recorded."""
        return int(self._used.download()[0])

    def lines(self) -> NDArray[np.int64]:
        """Returns the records, (recorded blocks, 4) int64, by `Line`: the round from 0, the processor, and the block's
        begin and end in nanoseconds of a device clock.
        """
        recorded = min(self.blocks, self._capacity)
        return self._records[: recorded * len(BlockColumn)].download().reshape(-1, len(BlockColumn))


def packed_timeline(timeline: Timeline | None) -> Packed:
    """Returns a timeline as a kernel argument; for None, one that records nothing."""
    return pack("Timeline", records=None, capacity=0, used=None) if timeline is None else timeline.packed()
