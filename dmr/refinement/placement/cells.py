"""Points on a device by the cell that holds them (`cuda_src/placement/cells.cuh`)."""

from __future__ import annotations

import numpy as np

from dmr.memory import Device, Packed, constant, pack

SLOTS_PER_POINT = constant("SLOTS_PER_POINT", "placement/cells.cuh")
FEWEST_SLOTS = constant("FEWEST_SLOTS", "placement/cells.cuh")


class Cells:
    """A hash table of cells.

    Attributes:
        view: the kernel argument.
    """

    def __init__(self, device: Device, low: tuple[float, float], capacity: int) -> None:
        """Makes an empty table for up to `capacity` points, whose coordinates are at least `low`."""
        slots = max(FEWEST_SLOTS, 1 << (SLOTS_PER_POINT * capacity - 1).bit_length())
        keys, heads = device.zeros(slots, np.uint64), device.empty(slots, np.int32)
        heads.fill(255)
        used = device.zeros(constant("LEVELS", "placement/cells.cuh"), np.uint8)
        following = device.empty(capacity, np.int32)
        self._held = (keys, heads, following, used)
        self.view: Packed = pack(
            "Cells", keys=keys, heads=heads, next=following, used=used, mask=slots - 1, low_x=low[0], low_y=low[1]
        )
