"""Sequences of launches, recorded once and repeated by the native library without Python."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dmr.common.native import address_of
from dmr.memory.arguments import DeviceCount, Number
from dmr.memory.arrays import Loop
from dmr.memory.declarations import record
from dmr.memory.host.compiler import library, timed_kernel
from dmr.memory.signatures import Signature


class Place(int):
    """The address of a number, instead of the number: it is read when a kernel needs it."""


class Recording:
    """Launches in order, and the objects that must live as long as they can be repeated.

    Attributes:
        steps: the bytes of each `Step` (cuda_src/portable/recorded.cuh).
    """

    def __init__(self) -> None:
        self.steps: list[bytes] = []
        self.kept: list[Any] = []

    def add(self, signature: Signature, count: Number, values: Sequence[float]) -> None:
        """Adds a launch; values that are a `Place` are read again each time."""
        arguments = signature.slots.pack(*values)
        places = [number for pair in enumerate(values) if type(pair[1]) is Place for number in pair]  # as `Lookup` has
        known, place = (count, 0) if isinstance(count, int) else (0, place_of(count))
        self.steps.append(
            STEP.pack(
                timed_kernel(signature.name), known, place,
                self._address_of(arguments), self._address_of(struct.pack(f"={len(places)}q", *places)),
                len(places) // 2, signature.grid,
            )
        )  # fmt: skip

    def _address_of(self, content: bytes) -> int:
        """Returns the address of a copy that can be written, and lives as long as the recording."""
        if not content:
            return 0
        buffer = bytearray(content)
        self.kept.append(buffer)
        return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


STEP = struct.Struct("=7q")  # the fields of `Step`: addresses and numbers


def place_of(number: DeviceCount) -> Place:
    """Returns the address of a number that is only in memory."""
    return Place(number.place.pointer)


class HostLoop(Loop):
    """Repeats a recording in the native library; all kernels have ended when it returns."""

    def __init__(self, recording: Recording, stop: int, threads: int, smallest_piece: float) -> None:
        self._steps = np.frombuffer(bytearray().join(recording.steps), record("Step"))
        self._kept = recording.kept
        self._how = (stop, threads, smallest_piece)

    def run(self, meanwhile: Callable[[], None] | None = None) -> None:
        """Runs the loop to its end."""
        if meanwhile is not None:
            meanwhile()
        library().host_repeat(address_of(self._steps), len(self._steps), *self._how)
