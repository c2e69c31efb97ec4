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
        # What a launch takes: the range from 0 to a Count of 16 bytes, then the parameters.
        self._values = struct.Struct("<qQq" + signature.slots.format.removeprefix("<"))
        self._offsets = (0, 8, *accumulate((parameter.size for parameter in signature.parameters[:-1]), initial=24))
        self._places = ctypes.c_void_p * len(self._offsets)
        self._shape = tuple(map(ctypes.c_uint, (1, 1, block, 1, 1, 0)))  # of grids, blocks and shared memory

    def launch(self, bound: int, range_end: tuple[int, ...], values: list[int | float], stream: int) -> None:
        """Runs the kernel from index 0 to `range_end`, of which no more than `bound` is known."""
        slots = ctypes.create_string_buffer(self._values.pack(0, *range_end, *values))
        start = ctypes.addressof(slots)
        places = self._places(*(start + offset for offset in self._offsets))
        blocks = min(self.blocks, bound if self._signature.team else -(-bound // self._block))
        call(
            "cuLaunchCooperativeKernel",
            self._function, ctypes.c_uint(blocks), *self._shape, ctypes.c_void_p(stream), places,
        )  # fmt: skip
