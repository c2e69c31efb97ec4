"""The steps of a pass that the host drives: it launches one after another, and waits for the numbers it needs."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np

from dmr.memory import DeviceArray, bound_of
from dmr.refinement.rounds.round_steps import RoundSteps
from dmr.refinement.state.outcomes import TALLIED, Outcome, Tally
from dmr.refinement.state.progress import Capacity, Entry, RoundInput
from dmr.refinement.steps.cavities import Cavities, Winners, close, count_needs, prepare
from dmr.refinement.steps.retriangulation import FreshTriangles, Insertion, Needs, sum_needs
from dmr.refinement.steps.selection import Candidates, Selection

UNLIMITED = Capacity.unbounded()


class HostSteps(RoundSteps):
    """Supports any marking, balance and bound, and makes room for as much as a pass needs."""

    def close(self, cavities: Cavities) -> None:
        """Implements `Steps.close`."""
        work = self.work
        with self._phase("count"):
            counts = work.state.device.zeros(TALLIED, np.int64)
            close(work.state, cavities, counts)
            tally = Tally.of(counts.download())
            work.bad.large_waiting = work.bad.large_waiting or tally.outcomes[Outcome.OVERFLOWED] > 0
            work.statistics.enter(tally)

    def finish_pass(self, cavities: Cavities) -> None:
        """Inserts the winners of a pass of the device, which lacked capacity for them after the last epoch's step."""
        count_needs(cavities)
        self.check(self.retriangulate(Winners(cavities, self.work.epochs.last)))
        self.close(cavities)

    def exceed_budget(self, cavities: Cavities) -> bool:
        """Whether the winners among cavities of the device exceed the limit on points."""
        count_needs(cavities)
        return bound_of(self._needs(cavities).vertices) > self.work.points_left

    def _phase(self, name: str) -> AbstractContextManager[None]:
        return self.work.clock.phase(name)

    def _before_selection(self, selection: Selection) -> tuple[RoundInput, Capacity, DeviceArray]:
        work = self.work
        work.bad.reserve(work.bad.count)
        roots = work.space.array("roots", max(work.bad.count, work.state.subsegments_count), np.int32)
        work.progress.write({Entry.BEGINS: 1})
        return self._sizes(), Capacity.unbounded(most=selection.most), roots

    def _candidates(self, roots: DeviceArray, selection: Selection) -> Candidates | None:
        bad, numbers = self.work.bad, self.work.progress.read()
        bad.count, bad.buffer = numbers[Entry.NEXT_LISTED], numbers[Entry.NEXT_BUFFER]
        count, segments = numbers[Entry.CANDIDATES], numbers[Entry.SEGMENTS]
        return Candidates(roots, count, segments, selection.record_capacity) if count else None

    def _records(self, candidates: Candidates) -> Cavities:
        return prepare(self.work.space, candidates)

    def _next_epoch(self) -> int:
        return self.work.epochs.next(self.work.state)

    def _fit(self, winners: Winners) -> Insertion:
        """Cuts the winners to the limit on points, and makes room for what they need."""
        work, state = self.work, self.work.state
        needs = self._needs(winners.cavities)
        if bound_of(needs.vertices) > work.points_left:
            work.budget.cut(winners.cavities, work.points_left)
            needs = self._needs(winners.cavities)
        vertices, slots = state.vertices + bound_of(needs.vertices), state.slots + bound_of(needs.slots)
        state.enlarge(vertices, slots, state.subsegments_count + bound_of(needs.segments))
        fresh = work.space.array("fresh", bound_of(needs.fresh), np.int32)
        return Insertion(winners, needs, self._sizes(), fresh)

    def _count_inserted(self, insertion: Insertion) -> None:
        state, statistics, needs = self.work.state, self.work.statistics, insertion.needs
        state.vertices += bound_of(needs.vertices)
        state.slots += bound_of(needs.slots)
        state.subsegments_count += bound_of(needs.segments)
        statistics.inserted += bound_of(needs.vertices)
        statistics.segments += bound_of(needs.segments)

    def _list(self, fresh: FreshTriangles) -> None:
        self.work.bad.extend(fresh.slots, bound_of(fresh.count))

    def _sizes(self) -> RoundInput:
        """Returns the present sizes of the mesh, and of the list of bad triangles."""
        state, bad = self.work.state, self.work.bad
        return RoundInput(state.vertices, state.slots, state.subsegments_count, bad.count, bad.buffer)

    def _needs(self, cavities: Cavities) -> Needs:
        """Returns what the winners need; waits for the device."""
        progress = self.work.progress
        progress.write({Entry.BEGINS: 1})
        sum_needs(cavities, UNLIMITED, progress)
        numbers = progress.read()
        return Needs(
            vertices=numbers[Entry.NEW_VERTICES],
            slots=numbers[Entry.NEW_SLOTS],
            fresh=numbers[Entry.FRESH],
            segments=numbers[Entry.NEW_SEGMENTS],
        )
