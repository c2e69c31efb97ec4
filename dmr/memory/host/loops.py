"""Sequences of launches, recorded once and repeated by the native library without Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from dmr.memory.arguments import DeviceCount, Number
from dmr.memory.arrays import Loop
from dmr.memory.host.compiler import library, timed_kernel
from dmr.memory.signatures import Signature


class Place(int):
    """The address of a number, instead of the number: it is read when a kernel needs it."""


class _Lookup(ctypes.Structure):
    """`Lookup` of cuda_src/portable/host.cpp."""

    _fields_ = (("slot", ctypes.c_int64), ("place", ctypes.c_void_p))


class _Step(ctypes.Structure):
    """`Step` of cuda_src/portable/host.cpp."""

    _fields_ = (
        ("timed", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("place", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("lookups", ctypes.c_void_p),
        ("lookups_count", ctypes.c_int64),
        ("grid", ctypes.c_int64),
    )


class Recording:
    """Launches in order, and the objects that must live as long as they can be repeated."""

    def __init__(self) -> None:
        self.steps: list[_Step] = []
        self.kept: list[Any] = []

    def add(self, signature: Signature, count: Number, values: Sequence[float]) -> None:
        """Adds a launch; values that are a `Place` are read again each time."""
        arguments = (ctypes.c_uint64 * len(values)).from_buffer_copy(signature.slots.pack(*values))
        places = [_Lookup(slot, value) for slot, value in enumerate(values) if isinstance(value, Place)]
        lookups = (_Lookup * len(places))(*places)
        self.kept += (arguments, lookups)
        self.steps.append(
            _Step(
                timed=timed_kernel(signature.name),
                count=count if isinstance(count, int) else 0,
                place=None if isinstance(count, int) else place_of(count),
                arguments=ctypes.addressof(arguments),
                lookups=ctypes.addressof(lookups),
                lookups_count=len(places),
                grid=signature.grid,
            )
        )


def place_of(number: DeviceCount) -> Place:
    """Returns the address of a number that is only in memory."""
    return Place(number.place.pointer)


class HostLoop(Loop):
    """Repeats a recording in the native library; all kernels have ended when it returns."""

    def __init__(self, recording: Recording, stop: int, threads: int, smallest_piece: float) -> None:
        self._steps = (_Step * len(recording.steps))(*recording.steps)
        self._kept = recording.kept
        self._how = (stop, threads, smallest_piece)

    def run(self) -> None:
        """Runs the loop to its end."""
        library().host_repeat(self._steps, len(self._steps), *self._how)
