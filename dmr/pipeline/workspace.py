"""Scratch arrays that live as long as a refinement, so that a round allocates nothing it had before."""

from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike

from dmr.memory import Device, DeviceArray


class Workspace:
    """Arrays by name. An array is replaced by a larger one when it must be; its content is then lost.

    Attributes:
        version: how often an array was made or replaced.
        made_of: what was made of some arrays, by name, to be found again; forgotten when an array is replaced.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.version = 0
        self.made_of: dict[str, Any] = {}
        self._arrays: dict[str, DeviceArray] = {}

    def array(self, name: str, size: int, dtype: DTypeLike) -> DeviceArray:
        """At least `size` elements of undefined content (as many as were ever asked for under this name)."""
        held = self._arrays.get(name)
        if held is None or held.size < size:
            room = max(size, 1) if held is None else max(size, held.size + held.size // 2)
            if held is not None:  # let go of it before asking for more
                del self._arrays[name]
                self.made_of.clear()
                held = None
            held = self.device.empty(room, dtype)
            self._arrays[name] = held
            self.version += 1
        return held
