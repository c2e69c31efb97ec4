"""Cooperative launches: kernels whose threads all run at once, so that they can wait for each other."""

from __future__ import annotations

import ctypes
import struct
from itertools import accumulate
from pathlib import Path

from dmr.memory.cuda.drivercalls import call
from dmr.memory.signatures import Signature


class CooperativeKernel:
    """A GRID_KERNEL or GRID_TEAM_KERNEL on one device.

    Attributes:
        blocks: how many blocks of it run at once.
    """

    def __init__(self, signature: Signature, cubin: Path, block: int, multiprocessors: int) -> None:
        self._signature = signature
        self._block = block
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        call("cuModuleLoad", ctypes.byref(self._module), str(cubin).encode())
        call("cuModuleGetFunction", ctypes.byref(self._function), self._module, signature.name.encode())
        resident = ctypes.c_int()
        call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            ctypes.byref(resident), self._function, ctypes.c_int(block), ctypes.c_size_t(0),
        )  # fmt: skip
        self.blocks = resident.value * multiprocessors

    def launch(self, bound: int, range_end: tuple[int, ...], values: list[int | float], stream: int) -> None:
        """Runs the kernel from index 0 to `range_end`, of which no more than `bound` is known."""
        slots = ctypes.create_string_buffer(struct.pack("<qQq", 0, *range_end) + self._signature.slots.pack(*values))
        start = ctypes.addressof(slots)
        sizes = (parameter.size for parameter in self._signature.parameters[:-1])
        offsets = (0, 8, *accumulate(sizes, initial=24))  # begin, end (a Count of 16 bytes), the parameters
        places = (ctypes.c_void_p * len(offsets))(*(start + offset for offset in offsets))
        blocks = min(self.blocks, bound if self._signature.team else -(-bound // self._block))
        call(
            "cuLaunchCooperativeKernel",
            self._function, *map(ctypes.c_uint, (blocks, 1, 1, self._block, 1, 1, 0)), ctypes.c_void_p(stream), places,
        )  # fmt: skip
