"""The steps of a pass as the device repeats them: recorded once, with numbers that only the device knows."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from dmr.memory import DeviceArray, DeviceCount
from dmr.refinement.rounds.round_steps import RoundSteps
from dmr.refinement.rounds.work import Work
from dmr.refinement.state.progress import Capacity, Entry, RoundInput
from dmr.refinement.state.worklist import appended_sums
from dmr.refinement.steps.cavities import Cavities, Winners, close
from dmr.refinement.steps.retriangulation import FreshTriangles, Insertion, Needs, sum_needs
from dmr.refinement.steps.selection import Candidates, Selection
from dmr.triangulation.rounds.epochs import LAST


@dataclass(frozen=True)
class RoundArrays:
    """Capacities and arrays of rounds on the device.

    Attributes:
        capacity: the capacities of the arrays, at which a round stops for the host.
        cavities: the records; fresh: (capacity.bad,) int32, for the slots of new triangles.
        counts: (TALLIED,) int64, the outcomes so far; history: (HISTORY_ROUNDS, len(HistoryColumn)) int64.
    """

    capacity: Capacity
    cavities: Cavities
    fresh: DeviceArray
    counts: DeviceArray
    history: DeviceArray


class RecordedSteps(RoundSteps):
    """Launches for a recording: no transfer, and no allocation that a rehearsal has not made before."""

    def __init__(self, work: Work, arrays: RoundArrays) -> None:
        super().__init__(work)
        self._arrays = arrays

    def close(self, cavities: Cavities) -> None:
        """Implements `Steps.close`; nothing is closed if the round does not fit the capacity."""
        close(self.work.state, self._applied(cavities), self._arrays.counts)

    def end_round(self) -> None:
        """Adds the round to the history, and stops the loop if the host is needed."""
        arrays, progress = self._arrays, self.work.progress.array
        appended = appended_sums(self.work.space)
        self.work.state.device.launch("end_round", 1, appended, arrays.counts, arrays.history, progress)

    def _phase(self, name: str) -> AbstractContextManager[None]:
        return nullcontext()

    def _before_selection(self, selection: Selection) -> tuple[RoundInput, Capacity, DeviceArray]:
        return self._sizes(), self._arrays.capacity, self._arrays.cavities.records.roots

    def _candidates(self, roots: DeviceArray, selection: Selection) -> Candidates:
        cavities = self._arrays.cavities
        return Candidates(roots, cavities.count, cavities.segments, selection.record_capacity)

    def _records(self, candidates: Candidates) -> Cavities:
        return self._arrays.cavities

    def _next_epoch(self) -> DeviceCount:
        return self._number(Entry.EPOCH, LAST)

    def _fit(self, winners: Winners) -> Insertion:
        """Inserts no winner if they do not all fit the capacity."""
        arrays, cavities = self._arrays, winners.cavities
        sum_needs(cavities, arrays.capacity, self.work.progress)
        needs = Needs(
            vertices=self._number(Entry.NEW_VERTICES, arrays.capacity.vertices),
            slots=self._number(Entry.NEW_SLOTS, arrays.capacity.slots),
            fresh=self._number(Entry.FRESH, arrays.capacity.bad),
            segments=self._number(Entry.NEW_SEGMENTS, cavities.records.size),
        )
        applied = replace(winners, cavities=self._applied(cavities))
        return Insertion(applied, needs, self._sizes(), arrays.fresh)

    def _count_inserted(self, insertion: Insertion) -> None:
        """Does nothing: `end_round` adds them on the device."""

    def _list(self, fresh: FreshTriangles) -> None:
        listed, buffer = self._number(Entry.NEXT_LISTED, self._arrays.capacity.bad), self._number(Entry.NEXT_BUFFER, 1)
        self.work.bad.append(fresh.slots, fresh.count, listed, buffer)

    def _sizes(self) -> RoundInput:
        """Returns the sizes of the mesh, and of the list of bad triangles, at the start of the round."""
        capacity = self._arrays.capacity
        return RoundInput(
            vertices=self._number(Entry.VERTICES, capacity.vertices),
            slots=self._number(Entry.SLOTS, capacity.slots),
            subsegments=self._number(Entry.SURVEYED_SUBSEGMENTS, capacity.subsegments),
            listed=self._number(Entry.SURVEYED_LISTED, capacity.bad),
            buffer=self._number(Entry.BUFFER, 1),
        )

    def _applied(self, cavities: Cavities) -> Cavities:
        """Returns the cavities if their winners fit the capacity, or none of them."""
        return replace(cavities, count=self._number(Entry.APPLIED, cavities.records.size))

    def _number(self, entry: Entry, bound: int) -> DeviceCount:
        return self.work.progress.number(entry, bound)
