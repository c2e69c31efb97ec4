"""Sequences of launches, recorded once and repeated by the native library without Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

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
        steps: the values of each `Step` (cuda_src/portable/recorded.cuh).
    """

    def __init__(self) -> None:
        self.steps: list[tuple[int, ...]] = []
        self.kept: list[Any] = []

    def add(self, signature: Signature, count: Number, values: Sequence[float]) -> None:
        """Adds a launch; values that are a `Place` are read again each time."""
        arguments = (ctypes.c_uint64 * len(values)).from_buffer_copy(signature.slots.pack(*values))
        places = [(slot, value) for slot, value in enumerate(values) if isinstance(value, Place)]
        lookups = np.array(places, record("Lookup"))
        self.kept += (arguments, lookups)
        step = {
            "timed": timed_kernel(signature.name),
            "count": count if isinstance(count, int) else 0,
            "place": 0 if isinstance(count, int) else place_of(count),
            "arguments": ctypes.addressof(arguments),
            "lookups": lookups.ctypes.data,
            "lookups_count": len(lookups),
            "grid": signature.grid,
        }
        self.steps.append(tuple(step[field] for field in record("Step").names or ()))


def place_of(number: DeviceCount) -> Place:
    """Returns the address of a number that is only in memory."""
    return Place(number.place.pointer)


class HostLoop(Loop):
    """Repeats a recording in the native library; all kernels have ended when it returns."""

    def __init__(self, recording: Recording, stop: int, threads: int, smallest_piece: float) -> None:
        self._steps = np.array(recording.steps, record("Step"))
        self._kept = recording.kept
        self._how = (stop, threads, smallest_piece)

    def run(self, meanwhile: Callable[[], None] | None = None) -> None:
        """Runs the loop to its end."""
        if meanwhile is not None:
            meanwhile()
        library().host_repeat(self._steps.ctypes.data, len(self._steps), *self._how)
