"""Passes for cavities that do not fit an ordinary record: with records of 4 times the capacity, 16 times, ...

The device runs most of them by itself. The host runs those that are too large for one launch, and all of them if it
drives the rounds.
"""

from __future__ import annotations

from dmr.errors import OutOfMemoryError
from dmr.refinement.loop import run_pass
from dmr.refinement.rounds.device_rounds import DeviceRounds
from dmr.refinement.rounds.host_steps import HostSteps
from dmr.refinement.rounds.work import Work
from dmr.refinement.state.outcomes import Outcome
from dmr.refinement.state.progress import Stop
from dmr.refinement.steps.cavities import Cavities
from dmr.refinement.steps.large_competition import LargeCompetition, large_capacity
from dmr.refinement.steps.selection import Choice, Selection
from dmr.triangulation.rounds.epochs import LAST


class LargeRecords:
    """The passes with large records of one stage that the host runs."""

    def __init__(
        self, work: Work, steps: HostSteps, competition: LargeCompetition, device: DeviceRounds | None
    ) -> None:
        """Prepares them.

        Args:
            work, steps: the data of the rounds, and the steps of the host.
            competition: how many cavities a pass takes.
            device: runs a pass in one launch if it can; None if the host has to drive every step.
        """
        self._work, self._steps, self._competition, self._device = work, steps, competition, device

    def run_passes(self, level: int = 1, cavities: Cavities | None = None) -> None:
        """Runs passes for the cavities that wait for large records, until none has overflowed its record.

        Args:
            level: that of the first pass.
            cavities: those of the first pass, if the device has grown them, but lacked capacity for the winners.
        """
        work, outcomes = self._work, self._work.statistics.outcomes
        while work.bad.large_waiting and not work.budget.exceeded:
            overflowed = outcomes[Outcome.OVERFLOWED]
            self._run_pass(level, cavities)
            if outcomes[Outcome.OVERFLOWED] == overflowed:
                break
            level, cavities = level + 1, None

    def _run_pass(self, level: int, cavities: Cavities | None) -> None:
        """Runs a pass in one launch, or if the cavities or lists are too large for it, step by step."""
        statistics, bad = self._work.statistics, self._work.bad
        attempted, inserted = statistics.attempted, statistics.inserted
        refused = False
        if cavities is not None:
            self._steps.finish_pass(cavities)
        else:
            tries_one_launch = self._device is not None and self._competition.fits_one_launch(level)
            in_one_launch = tries_one_launch and self._pass_in_one_launch(level)
            if not in_one_launch:
                selection = Selection(Choice.LARGE_ONES, large_capacity(level), self._competition.most(level))
                run_pass(self._steps, selection)
                bad.large_waiting = statistics.attempted > attempted
            refused = tries_one_launch and not in_one_launch
        self._competition.enter(
            level, statistics.attempted - attempted, statistics.inserted - inserted, refused=refused
        )

    def _pass_in_one_launch(self, level: int) -> bool:
        """Runs a pass in one launch; returns False if it is too large for that, and nothing has been done."""
        work = self._work
        assert self._device is not None
        with work.clock.phase("rounds"):
            if work.epochs.last == LAST:
                work.epochs.start_again(work.state)
            try:
                report, cavities = self._device.run_large_pass(level)
            except OutOfMemoryError:  # it allocates ahead; the steps of a pass need less
                self._device = None
                return False
        report.enter(work)
        if report.stop == Stop.LARGE_PASS:
            return False
        if report.stop == Stop.WINNER_CAPACITY:
            self._steps.finish_pass(report.last_cavities(cavities))
        return True
