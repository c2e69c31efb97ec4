"""Numbers of steps, in the eight bits that a cavity's key has for them."""

from __future__ import annotations

from dmr.pipeline.device_mesh import DeviceMesh

LAST = 255  # bits 63-56 of a key (cuda_src/cavity.cuh); 0 is no step


class Stamps:
    """Hands out the stamp of each step. A key of a later step is larger, so owner words need no clearing, but once in
    255 steps, when the numbers start again.
    """

    def __init__(self) -> None:
        self._stamp = 0

    @property
    def last(self) -> int:
        """The stamp of the last step; 0 before the first."""
        return self._stamp

    def resume(self, last: int) -> None:
        """Goes on after steps that the device numbered by itself."""
        self._stamp = last

    def next(self, state: DeviceMesh) -> int:
        """The stamp of the next step."""
        if self._stamp == LAST:
            self.start_again(state)
        self._stamp += 1
        return self._stamp

    def start_again(self, state: DeviceMesh) -> None:
        """Forgets all owners; the next stamp is the first."""
        state.device.launch("clear_owners", state.slots, state.triangles)
        self._stamp = 0
