"""Points on a device by the cell that holds them (`cuda_src/placement/cells.cuh`)."""

from __future__ import annotations

import math

import numpy as np

from dmr.memory import Device, Packed, constant, pack

SOURCE = "placement/cells.cuh"


def most_blocks(low: tuple[float, float], high: tuple[float, float], size: float) -> int:
    """Returns the number of blocks in a rectangle that can have points of a size."""
    side = math.ldexp(1.0, math.frexp(size)[1] + 1 + constant("BLOCK_BITS", SOURCE))  # a cell has two to four sizes
    columns, rows = ((end - start) // side + 2 for start, end in zip(low, high, strict=True))
    return int(columns * rows)


class Cells:
    """A hash table of blocks of cells.

    Attributes:
        view: the kernel argument.
        slots: the number of slots for blocks.
    """

    def __init__(
        self, device: Device, low: tuple[float, float], capacity: int, blocks: int, *, counted: bool = False
    ) -> None:
        """Makes an empty table.

        Args:
            device: where it is.
            low: the least coordinates of all points.
            capacity: the most points; blocks: the most blocks, at most one per point.
            counted: whether blocks are counted.
        """
        least = constant("SLOTS_PER_BLOCK", SOURCE) * min(blocks, capacity)
        self.slots = max(constant("FEWEST_SLOTS", SOURCE), 1 << (least - 1).bit_length())
        keys = device.zeros(self.slots, np.uint64)
        heads = device.zeros(constant("BLOCK_CELLS", SOURCE) * self.slots, np.int32)
        used, count = device.zeros(constant("LEVELS", SOURCE), np.uint8), device.zeros(1, np.int32)
        following = device.empty(capacity, np.int32)
        self._held, self._count = (keys, heads, following, used, count), count
        self.view: Packed = pack(
            "Cells", keys=keys, heads=heads, next=following, used=used, blocks=count if counted else None,
            mask=self.slots - 1, low_x=low[0], low_y=low[1],
        )  # fmt: skip

    @property
    def blocks(self) -> int:
        """The number of blocks, if they are counted."""
        return int(self._count.download()[0])

    def has_slots_for(self, blocks: int) -> bool:
        """Whether there are enough slots for a number of blocks."""
        return self.slots >= constant("SLOTS_PER_BLOCK", SOURCE) * blocks
