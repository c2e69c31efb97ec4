"""Control state of the rounds of a fixed-point scheme (`cuda_src/graph/schemes/rounds.cuh`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dmr.memory import Device, DeviceArray, Enumeration, constant
from static_graph.engine.repetition import Repeated
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.schemes.outcome import Outcome

STRIPES = constant("STRIPES")  # entries of a striped counter
TEAM_SIZE = constant("TEAM_SIZE")


class Entry(Enumeration, enum="RoundEntry", count="ROUND_ENTRIES"):
    """Indices into the progress of rounds."""


class Cursor(Enumeration, enum="RoundCursor", count="ROUND_CURSORS"):
    """Indices into the cursors of rounds."""


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
