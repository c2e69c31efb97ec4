"""What the rounds of a refinement go by: numbers in the device's memory, which kernels read and write.

Whoever drives the rounds, the numbers of a round are worked out by kernels there (`cuda_src/progress.cuh`). The host,
where it drives, reads them before it goes on; the device's kernels find them where they are.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np

from dmr.memory import Device, DeviceCount, Number, Packed, pack
from dmr.memory.cached import cached_property

UNBOUNDED = 2**31 - 1


class Entry(IntEnum):
    """What stands where (`ProgressEntry` of cuda_src/progress.cuh)."""

    VERTICES = 0
    SLOTS = 1
    SUBSEGMENTS = 2
    BAD_LISTED = 3
    SIDE = 4
    STAMP = 5
    ROUNDS = 6
    STOP = 7
    BEGINS = 8
    SURVEYED_SUBSEGMENTS = 9
    SURVEYED_LISTED = 10
    NEXT_LISTED = 11
    NEXT_SIDE = 12
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
    """Why rounds ended (`StopReason`)."""

    GO_ON = 0
    NO_CANDIDATE = 1
    CANDIDATE_ROOM = 2
    WINNER_ROOM = 3
    LARGE_CAVITIES = 4
    ENOUGH_ROUNDS = 5
    STAMPS_USED = 6


class Line(IntEnum):
    """A line of the history (`HistoryEntry`): totals after a round."""

    GROWN = 0
    VERTICES_AFTER = 1
    LOST_CONFLICTS = 2
    BAD_AFTER = 3
    TRIANGLES_AFTER = 4
    NANOSECONDS = 5


class RoundProgress:
    """The numbers of one refinement.

    Attributes:
        array: where they are: (len(Entry),) int32.
    """

    def __init__(self, device: Device) -> None:
        self.array = device.zeros(len(Entry), np.int32)

    def number(self, entry: Entry, bound: int) -> DeviceCount:
        """One of them, as kernels find it when they get to it; it never exceeds `bound`."""
        return DeviceCount(self.array[entry : entry + 1], bound)

    def write(self, numbers: dict[Entry, int]) -> None:
        """Sets all of them; those that are not named become 0."""
        values = np.zeros(len(Entry), np.int32)
        for entry, number in numbers.items():
            values[entry] = number
        self.array.upload(values)

    def read(self) -> dict[Entry, int]:
        """All of them; waits for the work that was launched before."""
        return dict(zip(_ENTRIES, self.array.download().tolist(), strict=True))


@dataclass(frozen=True)
class Standing:
    """Where a round begins: the sizes of the mesh, and the list of bad triangles.

    Attributes:
        vertices, slots, subsegments: of the mesh; listed: entries of the list; side: which of its sides has them.
    """

    vertices: Number
    slots: Number
    subsegments: Number
    listed: Number
    side: Number


@dataclass(frozen=True)
class Room:
    """What a round may take (`Room` of cuda_src/progress.cuh).

    Attributes:
        candidates: records that there are; most: how many candidates a round takes at most, the first ones; vertices,
            slots, subsegments, bad: what the arrays of the mesh and the list of bad triangles hold; rounds: after how
            many to stop.
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
        """As kernels take it."""
        return pack("Room", **{field.name: getattr(self, field.name) for field in fields(self)})
