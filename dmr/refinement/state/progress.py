"""Progress of the rounds: counters in the device's memory, which kernels read and write.

With either driver, kernels compute the numbers of a round (`cuda_src/refine/rounds/progress.cuh`). The host, when it
drives, reads them before it continues; the device's kernels read them in place.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from dmr.common.cached import cached_property
from dmr.memory import Device, DeviceCount, Enumeration, Number, Packed, pack

UNBOUNDED = 2**31 - 1


class Entry(Enumeration, enum="ProgressEntry", count="PROGRESS_ENTRIES"):
    """Indices into the progress array."""


class Stop(Enumeration, enum="StopReason"):
    """The reason why rounds ended."""


class HistoryColumn(Enumeration, enum="HistoryEntry", count="HISTORY_ENTRIES"):
    """Columns of the history: totals after a round."""


_ENTRIES = tuple(Entry)


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
        vertices, slots, subsegments: sizes of the mesh; listed: entries of the list; buffer: which of its two
            holds it.
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
        candidates: number of records; most: the most candidates that a round takes; vertices, slots,
            subsegments, bad: capacities of the mesh's arrays and of the list of bad triangles.
    """

    candidates: int
    most: int
    vertices: int
    slots: int
    subsegments: int
    bad: int

    @classmethod
    def unbounded(cls, **bounds: int) -> Capacity:
        """Returns a capacity with these bounds and no others."""
        return cls(**{field.name: bounds.get(field.name, UNBOUNDED) for field in fields(cls)})

    @cached_property
    def view(self) -> Packed:
        """The kernel argument."""
        return pack("Capacity", **{field.name: getattr(self, field.name) for field in fields(self)})
