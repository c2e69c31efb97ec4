"""Cooperative launches: kernels whose threads all run at once, so that they can synchronise."""

from __future__ import annotations

import ctypes
import struct
from itertools import accumulate
from pathlib import Path

from dmr.memory.cuda.drivercalls import call
from dmr.memory.signatures import Signature


class CooperativeKernel:
    """A COOPERATIVE_KERNEL or COOPERATIVE_TEAM_KERNEL on one device.

    Attributes:
        blocks: the number of its blocks that run at once.
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
        # The arguments of a launch: a Launch of 24 bytes (the range from 0 to a Count), then the parameters.
        self._values = struct.Struct("<qQq" + signature.slots.format.removeprefix("<"))
        self._offsets = (0, *accumulate(signature.sizes[:-1], initial=24))
        self._places = ctypes.c_void_p * len(self._offsets)
        self._shape = tuple(map(ctypes.c_uint, (1, 1, block, 1, 1, 0)))  # grid, block and shared memory sizes

    def launch(self, bound: int, range_end: tuple[int, ...], values: list[int | float], stream: int) -> None:
        """Runs the kernel from index 0 to `range_end`, of which the host knows only the upper bound `bound`."""
        slots = ctypes.create_string_buffer(self._values.pack(0, *range_end, *values))
        start = ctypes.addressof(slots)
        places = self._places(*(start + offset for offset in self._offsets))
        blocks = min(self.blocks, bound if self._signature.team else -(-bound // self._block))
        call(
            "cuLaunchCooperativeKernel",
            self._function, ctypes.c_uint(blocks), *self._shape, ctypes.c_void_p(stream), places,
        )  # fmt: skip
