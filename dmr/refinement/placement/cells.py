"""Points on a device by the cell that holds them (`cuda_src/placement/cells.cuh`)."""

from __future__ import annotations

import numpy as np

from dmr.memory import Device, Packed, constant, pack

SLOTS_PER_POINT = 4  # at least: chains of occupied slots stay short


class Cells:
    """A hash table of cells.

    Attributes:
        capacity: number of points that it can hold.
    """

    def __init__(self, device: Device, low: tuple[float, float]) -> None:
        """Makes an empty table for points whose coordinates are at least `low`."""
        self._device, self._low = device, low
        self._levels = constant("LEVELS", "placement/cells.cuh")
        self.capacity = 0
        self.clear(1024)

    def clear(self, points: int) -> None:
        """Empties the table; it then has room for a number of points."""
        if points > self.capacity:
            self.capacity = max(points, 2 * self.capacity)
            slots = 1 << (SLOTS_PER_POINT * self.capacity - 1).bit_length()
            self._keys, self._heads = self._device.empty(slots, np.uint64), self._device.empty(slots, np.int32)
            self._next = self._device.empty(self.capacity, np.int32)
            self._used = self._device.empty(self._levels, np.uint8)
        self._slots = min(self._keys.size, 1 << max(10, (SLOTS_PER_POINT * points - 1).bit_length()))
        self._keys[: self._slots].fill(0)
        self._heads[: self._slots].fill(255)
        self._used.fill(0)

    @property
    def view(self) -> Packed:
        """The kernel argument."""
        return pack(
            "Cells", keys=self._keys, heads=self._heads, next=self._next, used=self._used, mask=self._slots - 1,
            low_x=self._low[0], low_y=self._low[1],
        )  # fmt: skip
