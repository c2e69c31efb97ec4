"""Cooperative launches: kernels whose threads all run at once, so that they can wait for each other.

PyCUDA has no call for them. The driver's own is reached through ctypes, in the context that PyCUDA made current.
"""

from __future__ import annotations

import ctypes
import struct
from functools import cache
from pathlib import Path
from typing import Any

from dmr.errors import InternalError
from dmr.memory.signatures import Signature


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _call(name: str, *arguments: Any) -> None:
    """Calls the driver.

    Raises:
        InternalError: it refuses; with its own words.
    """
    code = getattr(_driver(), name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(code, ctypes.byref(text))
        raise InternalError(f"{name} failed: {text.value.decode() if text.value else code}")


class CooperativeKernel:
    """A GRID_KERNEL on one device.

    Attributes:
        blocks: how many blocks of it run at once.
    """

    def __init__(self, signature: Signature, cubin: Path, block: int, multiprocessors: int) -> None:
        self._signature = signature
        self._block = block
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        _call("cuModuleLoad", ctypes.byref(self._module), str(cubin).encode())
        _call("cuModuleGetFunction", ctypes.byref(self._function), self._module, signature.name.encode())
        resident = ctypes.c_int()
        _call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            ctypes.byref(resident), self._function, ctypes.c_int(block), ctypes.c_size_t(0),
        )  # fmt: skip
        self.blocks = resident.value * multiprocessors

    def launch(self, count: int, values: list[int | float], stream: int) -> None:
        """Runs the kernel over the indices 0 to count - 1."""
        slots = ctypes.create_string_buffer(struct.pack("<qq", 0, count) + self._signature.slots.pack(*values))
        start = ctypes.addressof(slots)
        places = (ctypes.c_void_p * (len(values) + 2))(*(start + 8 * k for k in range(len(values) + 2)))
        blocks = min(self.blocks, -(-count // self._block))
        _call(
            "cuLaunchCooperativeKernel",
            self._function, *map(ctypes.c_uint, (blocks, 1, 1, self._block, 1, 1, 0)), ctypes.c_void_p(stream), places,
        )  # fmt: skip
