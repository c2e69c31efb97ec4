"""Repetition of rounds until one changes nothing, by the device alone or with a check by the host after each round.

The thesis copies `changed` to the host after each round (Algorithm 1). Here a round is recorded once, as a sequence
that restarts itself, if the device supports it: a path of 100,000 nodes takes 100,000 rounds, each of them shorter than
a check by the host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from time import perf_counter

import numpy as np

from dmr.memory import Device, DeviceArray
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.schemes.outcome import Outcome

STRIPES = 4096  # STRIPES of cuda_src/portable/words.cuh
TEAM_SIZE = 256  # TEAM_SIZE of cuda_src/portable/words.cuh


class Entry(IntEnum):
    """`RoundEntry` of `cuda_src/graph/schemes/rounds.cuh`."""

    CHANGED = 0
    ROUNDS = 1
    STOP = 2
    DEFERRED = 3


class Cursor(IntEnum):
    """`RoundCursor` of `cuda_src/graph/schemes/rounds.cuh`."""

    TAKEN = 0
    TICKETS = 1


@dataclass(frozen=True)
class RoundState:
    """Arrays that the kernels of a round write.

    Attributes:
        progress: int32, by `Entry`; cursors: int64, by `Cursor`.
        relaxed: (STRIPES,) int64, whose sum is the number of edges examined.
    """

    progress: DeviceArray
    cursors: DeviceArray
    relaxed: DeviceArray

    @classmethod
    def on(cls, device: Device) -> RoundState:
        """Allocates a zero state."""
        return cls(
            device.zeros(len(Entry), np.int32), device.zeros(len(Cursor), np.int64), device.zeros(STRIPES, np.int64)
        )

    def end_round(self) -> None:
        """Launches the last kernel of a round."""
        self.progress.device.launch("end_relaxation", 1, self.progress, self.cursors)

    @property
    def stop(self) -> DeviceArray:
        """(1,) int32: 1 if no further round follows."""
        return self.progress[Entry.STOP : Entry.STOP + 1]

    def outcome(self, distances: DeviceDistances, repeated: Repeated, figures: dict[str, int] | None = None) -> Outcome:
        """Returns the outcome of the rounds; waits for the device."""
        rounds = int(self.progress.download()[Entry.ROUNDS])
        edges = int(self.relaxed.download().sum())
        return Outcome(distances, rounds, edges, rounds * repeated.launches, repeated.seconds, figures or {})


@dataclass(frozen=True)
class Repeated:
    """Cost of a repetition.

    Attributes:
        seconds: time of all rounds, without their recording; launches: kernels per round.
    """

    seconds: float
    launches: int


def repeat(device: Device, stop: DeviceArray, one_round: Callable[[], None]) -> Repeated:
    """Makes the device repeat the launches of `one_round`.

    Args:
        device: the device.
        stop: (1,) int32, which a kernel of the round sets if no further round follows.
        one_round: launches the kernels of a round, and does nothing else.
    """
    launches = 0

    def counted_round() -> None:
        nonlocal launches
        before = sum(device.launches.values())
        one_round()
        launches = sum(device.launches.values()) - before

    with device.rehearsal():
        one_round()
    loop = device.loop(counted_round, stop)
    device.synchronize()
    begun = perf_counter()
    loop.run()
    device.synchronize()
    return Repeated(perf_counter() - begun, launches)


def repeat_from_host(device: Device, stop: DeviceArray, one_round: Callable[[], None]) -> Repeated:
    """Repeats rounds with a check by the host after each, for kernels that cannot be recorded.

    Kernels that launch kernels are an example: a CUDA graph launched from the device must not contain them.
    """
    with device.rehearsal():
        one_round()
    device.synchronize()
    before, begun = sum(device.launches.values()), perf_counter()
    one_round()
    launches = sum(device.launches.values()) - before
    while not stop.download()[0]:
        one_round()
    return Repeated(perf_counter() - begun, launches)
