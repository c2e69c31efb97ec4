"""Epochs of the steps, in the eight bits that a key in an owner word has for them (cuda_src/mesh/owner.cuh)."""

from __future__ import annotations

from typing import Protocol

from dmr.memory import Device, DeviceArray, constant

LAST = constant("LAST_EPOCH")  # that fits a key; 0 is not the epoch of any step


class Owned(Protocol):
    """Triangles on a device that steps claim; `slots` of the records are in use."""

    device: Device
    triangles: DeviceArray
    slots: int


class Epochs:
    """Assigns each step its epoch. A key of a later step is larger, so owner words need clearing only once in
    255 steps, when the epochs start again.
    """

    def __init__(self) -> None:
        self._epoch = 0

    @property
    def last(self) -> int:
        """The epoch of the last step; 0 before the first."""
        return self._epoch

    def resume(self, last: int) -> None:
        """Continues after steps that the device numbered by itself."""
        self._epoch = last

    def next(self, state: Owned) -> int:
        """Returns the epoch of the next step."""
        if self._epoch == LAST:
            self.start_again(state)
        self._epoch += 1
        return self._epoch

    def start_again(self, state: Owned) -> None:
        """Clears all owners; the next epoch is the first."""
        state.device.launch("clear_owners", state.slots, state.triangles)
        self._epoch = 0
