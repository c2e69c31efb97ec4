"""Passes for cavities that do not fit an ordinary record: with records of 4 times the capacity, 16 times, ..."""

from __future__ import annotations

from dmr.errors import OutOfMemoryError
from dmr.refinement.loop import run_pass
from dmr.refinement.rounds.device_rounds import DeviceRounds
from dmr.refinement.rounds.host_steps import HostSteps
from dmr.refinement.rounds.work import Work
from dmr.refinement.state.outcomes import Outcome
from dmr.refinement.state.progress import UNBOUNDED, Stop
from dmr.refinement.steps.cavities import RECORD_CAPACITY
from dmr.refinement.steps.selection import Choice, Selection
from dmr.triangulation.rounds.epochs import LAST

LARGE_BUDGET = 2**16  # boundary entries per pass with large records; few such cavities fit side by side

# Large cavities are costly to grow, and most overlap. So a pass with large records takes this number of competitors for
# each point inserted by the last pass with records of that size, and at least FEWEST_LARGE.
COMPETITORS = 8
FEWEST_LARGE = 16


class LargeRecords:
    """The passes with large records of one stage."""

    def __init__(self, work: Work, steps: HostSteps, device: DeviceRounds | None) -> None:
        """Prepares them.

        Args:
            work, steps: the data of the rounds, and the steps of the host.
            device: runs a pass by one team if it can; None if the host has to drive every step.
        """
        self._work, self._steps, self._device = work, steps, device
        # By capacity of the records, for the last pass with them: number of cavities, and points inserted; and the
        # number of cavities that was too many for one team.
        self._attempted: dict[int, int] = {}
        self._inserted: dict[int, int] = {}
        self._too_many: dict[int, int] = {}

    def run_passes(self) -> None:
        """Runs passes for the cavities that wait for large records, until none has overflowed its record."""
        work, capacity = self._work, RECORD_CAPACITY
        outcomes = work.statistics.outcomes
        while work.bad.large_waiting and not work.budget.exceeded:
            capacity *= 4
            overflowed = outcomes[Outcome.OVERFLOWED]
            self._run_pass(capacity)
            if outcomes[Outcome.OVERFLOWED] == overflowed:
                break

    def _run_pass(self, capacity: int) -> None:
        """Runs a pass by one team, or if the cavities are too many for it, step by step."""
        statistics, bad = self._work.statistics, self._work.bad
        most = self._work.limits.most or self._most(capacity)
        attempted, inserted = statistics.attempted, statistics.inserted
        tries_one_team = self._device is not None and self._fits_one_team(capacity)
        by_one_team = tries_one_team and self._pass_by_one_team(capacity, most)
        if not by_one_team:
            run_pass(self._steps, Selection(Choice.LARGE_ONES, capacity, most))
            if statistics.attempted == attempted:
                bad.large_waiting = False
                return
        self._attempted[capacity] = statistics.attempted - attempted
        self._inserted[capacity] = statistics.inserted - inserted
        if tries_one_team and not by_one_team:
            self._too_many[capacity] = self._attempted[capacity]

    def _pass_by_one_team(self, capacity: int, most: int) -> bool:
        """Runs a pass by one team; returns False if there are too many cavities for it, and it has done nothing."""
        work = self._work
        assert self._device is not None
        with work.clock.phase("rounds"):
            if work.epochs.last == LAST:
                work.epochs.start_again(work.state)
            try:
                report, cavities = self._device.run_large_pass(most, capacity)
            except OutOfMemoryError:  # it allocates ahead; the steps of a pass need less
                self._device = None
                return False
        report.enter(work)
        if report.stop == Stop.GO_ON:
            return False
        work.bad.large_waiting = report.stop != Stop.NO_CANDIDATE
        if report.stop == Stop.WINNER_CAPACITY:
            self._steps.finish_pass(report.last_cavities(cavities))
        return True

    def _fits_one_team(self, capacity: int) -> bool:
        """Whether the last pass with records of this capacity suggests that one team can run the next one."""
        return self._attempted.get(capacity, 0) < self._too_many.get(capacity, UNBOUNDED)

    def _most(self, capacity: int) -> int:
        """Returns how many cavities with records of this capacity compete."""
        most = max(1, LARGE_BUDGET // capacity)
        inserted = self._inserted.get(capacity)
        return most if inserted is None else min(most, max(FEWEST_LARGE, COMPETITORS * inserted))
