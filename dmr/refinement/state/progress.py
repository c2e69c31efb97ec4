"""Progress of the rounds: counters in the device's memory, which kernels read and write.

With either driver, kernels compute the numbers of a round (`cuda_src/refine/rounds/progress.cuh`). The host, when it
drives, reads them before it continues; the device's kernels read them in place.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np

from dmr.common.cached import cached_property
from dmr.memory import Device, DeviceCount, Number, Packed, pack

UNBOUNDED = 2**31 - 1


class Entry(IntEnum):
    """Indices into the progress array (`ProgressEntry` of cuda_src/refine/rounds/progress.cuh)."""

    VERTICES = 0
    SLOTS = 1
    SUBSEGMENTS = 2
    BAD_LISTED = 3
    BUFFER = 4
    EPOCH = 5
    ROUNDS = 6
    STOP = 7
    BEGINS = 8
    SURVEYED_SUBSEGMENTS = 9
    SURVEYED_LISTED = 10
    NEXT_LISTED = 11
    NEXT_BUFFER = 12
    CANDIDATES = 13
    SEGMENTS = 14
    APPLIED = 15
    FRESH = 16
    NEW_VERTICES = 17
    NEW_SLOTS = 18
    NEW_SEGMENTS = 19
    CHOICE = 20
    OVERFLOWS = 21


_ENTRIES = tuple(Entry)


class Stop(IntEnum):
    """The reason why rounds ended (`StopReason`)."""

    GO_ON = 0
    NO_CANDIDATE = 1
    CANDIDATE_CAPACITY = 2
    WINNER_CAPACITY = 3
    LARGE_CAVITIES = 4
    ENOUGH_ROUNDS = 5
    EPOCHS_USED = 6


class HistoryColumn(IntEnum):
    """Columns of the history (`HistoryEntry`): totals after a round."""

    GROWN = 0
    VERTICES_AFTER = 1
    LOST_CONFLICTS = 2
    BAD_AFTER = 3
    TRIANGLES_AFTER = 4
    NANOSECONDS = 5


class RoundProgress:
    """The progress array of one refinement.

    Attributes:
        array: (len(Entry),) int32 on the device.
    """

    def __init__(self, device: Device) -> None:
        self.array = device.zeros(len(Entry), np.int32)

    def number(self, entry: Entry, bound: int) -> DeviceCount:
        """Returns one entry, as kernels read it when they run; it never exceeds `bound`."""
        return DeviceCount(self.array[entry : entry + 1], bound)

    def write(self, numbers: dict[Entry, int]) -> None:
        """Sets all entries; those that are not named become 0."""
        values = np.zeros(len(Entry), np.int32)
        for entry, number in numbers.items():
            values[entry] = number
        self.array.upload(values)

    def read(self) -> dict[Entry, int]:
        """Returns all entries; waits for the work launched before."""
        return dict(zip(_ENTRIES, self.array.download().tolist(), strict=True))


@dataclass(frozen=True)
class RoundInput:
    """The input of a round: the sizes of the mesh, and the list of bad triangles.

    Attributes:
        vertices, slots, subsegments: sizes of the mesh; listed: entries of the list; side: which buffer holds it.
    """

    vertices: Number
    slots: Number
    subsegments: Number
    listed: Number
    buffer: Number


@dataclass(frozen=True)
class Capacity:
    """Capacities of a round (`Capacity` of cuda_src/refine/rounds/progress.cuh).

    Attributes:
        candidates: number of records; most: the most candidates that a round takes, the first ones; vertices, slots,
            subsegments, bad: capacities of the mesh's arrays and of the list of bad triangles; rounds: the number of
            rounds after which to stop.
    """

    candidates: int = UNBOUNDED
    most: int = UNBOUNDED
    vertices: int = UNBOUNDED
    slots: int = UNBOUNDED
    subsegments: int = UNBOUNDED
    bad: int = UNBOUNDED
    rounds: int = UNBOUNDED

    @cached_property
    def view(self) -> Packed:
        """The kernel argument."""
        return pack("Capacity", **{field.name: getattr(self, field.name) for field in fields(self)})
