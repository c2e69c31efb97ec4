"""Scratch arrays that live as long as a refinement, so that rounds reuse their allocations."""

from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike

from dmr.memory import Device, DeviceArray


class Workspace:
    """Arrays by name. An array is replaced by a larger one when needed; its content is then lost.

    Attributes:
        version: number of arrays made or replaced.
        made_of: cached objects made from arrays, by name; cleared when an array is replaced.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.version = 0
        self.made_of: dict[str, Any] = {}
        self._arrays: dict[str, DeviceArray] = {}

    def array(self, name: str, size: int, dtype: DTypeLike) -> DeviceArray:
        """Returns at least `size` elements of undefined content (as many as were ever requested under this name)."""
        held = self._arrays.get(name)
        if held is None or held.size < size:
            capacity = max(size, 1) if held is None else max(size, held.size + held.size // 2)
            if held is not None:  # release it before asking for more
                del self._arrays[name]
                self.made_of.clear()
                held = None
            held = self.device.empty(capacity, dtype)
            self._arrays[name] = held
            self.version += 1
        return held
