"""The report of the device when it stops: the progress, the outcomes, and the history of its rounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dmr.memory import DeviceArray
from dmr.refinement.results import Round
from dmr.refinement.rounds.work import Work
from dmr.refinement.state.outcomes import TALLIED, Tally
from dmr.refinement.state.progress import Entry, HistoryColumn, Stop
from dmr.refinement.steps.cavities import Cavities


@dataclass(frozen=True)
class DeviceReport:
    """The result of one run of the device's rounds.

    Attributes:
        stop: why it ended; numbers: the progress; tally: the outcomes; history: (rounds, len(HistoryColumn)) int64.
    """

    stop: Stop
    numbers: dict[Entry, int]
    tally: Tally
    history: NDArray[np.int64]

    @classmethod
    def read(cls, numbers: dict[Entry, int], statistics: DeviceArray) -> DeviceReport:
        """Reads the outcomes and the history of a run from the device; `numbers` is its progress at the end."""
        downloaded = statistics[: TALLIED + numbers[Entry.ROUNDS] * len(HistoryColumn)].download()
        history = downloaded[TALLIED:].reshape(-1, len(HistoryColumn))
        return cls(Stop(numbers[Entry.STOP]), numbers, Tally.of(downloaded[:TALLIED]), history)

    def last_cavities(self, cavities: Cavities) -> Cavities:
        """Returns those of the `cavities` that the last pass has grown, without capacity for its winners."""
        return replace(cavities, count=self.numbers[Entry.LEFT], segments=self.numbers[Entry.LEFT_SEGMENTS])

    def enter(self, work: Work) -> None:
        """Adds the run to the sizes of the mesh and to the statistics, except for its rounds."""
        state, bad, statistics, numbers = work.state, work.bad, work.statistics, self.numbers
        work.epochs.resume(numbers[Entry.EPOCH])
        statistics.enter(self.tally)
        statistics.inserted += numbers[Entry.VERTICES] - state.vertices
        statistics.segments += numbers[Entry.SUBSEGMENTS] - state.subsegments_count
        state.vertices, state.slots = numbers[Entry.VERTICES], numbers[Entry.SLOTS]
        state.subsegments_count = numbers[Entry.SUBSEGMENTS]
        bad.count, bad.buffer = numbers[Entry.BAD_LISTED], numbers[Entry.BUFFER]
        bad.large_waiting = bool(numbers[Entry.LARGE_WAITING])

    def rounds(self, vertices: int, now: float) -> list[Round]:
        """Returns the rounds; `vertices` is the number before them, and the last one ended at `now` (seconds)."""
        rows = self.history.tolist()
        last_end = rows[-1][HistoryColumn.NANOSECONDS] if rows else 0
        grown, before, lost, rounds = 0, vertices, 0, []
        for row in rows:
            rounds.append(
                Round(
                    attempted=row[HistoryColumn.GROWN] - grown,
                    inserted=row[HistoryColumn.VERTICES_AFTER] - before,
                    lost=row[HistoryColumn.LOST_CONFLICTS] - lost,
                    bad=row[HistoryColumn.BAD_AFTER],
                    triangles=row[HistoryColumn.TRIANGLES_AFTER],
                    seconds=now - 1e-9 * (last_end - row[HistoryColumn.NANOSECONDS]),
                )
            )
            grown, before = row[HistoryColumn.GROWN], row[HistoryColumn.VERTICES_AFTER]
            lost = row[HistoryColumn.LOST_CONFLICTS]
        return rounds
