"""Rounds driven by the host. It supports any marking, balance and bound.

When the device drives the rounds, the host finishes those that lack capacity or ordinary records.
"""

from __future__ import annotations

from dmr.refinement.loop import Driver, run_pass
from dmr.refinement.rounds.host_steps import HostSteps
from dmr.refinement.rounds.large_records import LargeRecords
from dmr.refinement.rounds.work import Work
from dmr.refinement.state.ending import Ending
from dmr.refinement.state.progress import UNBOUNDED
from dmr.refinement.steps.cavities import RECORD_CAPACITY, Cavities
from dmr.refinement.steps.selection import Choice, Selection


class HostRounds(Driver):
    """Drives the rounds of one stage from the host.

    Attributes:
        work: the data and settings of the rounds.
    """

    def __init__(self, work: Work, steps: HostSteps, large: LargeRecords) -> None:
        self.work = work
        self._steps, self._large = steps, large

    def run_round(self) -> Ending | None:
        """Implements `Driver.run_round`: one pass with ordinary records, and passes with larger ones as needed."""
        work, statistics = self.work, self.work.statistics
        attempted, inserted = statistics.attempted, statistics.inserted
        run_pass(self._steps, ordinary_selection(work))
        if statistics.attempted > attempted:
            work.competition.update(statistics.attempted - attempted, statistics.inserted - inserted)
        self._large.run_passes()
        if statistics.attempted == attempted:
            return Ending.COMPLETE
        statistics.rounds += 1
        work.close_round()
        return work.budget.ending

    def finish_round(self, cavities: Cavities) -> Ending | None:
        """Finishes a round of the device that lacks capacity for the winners among its cavities."""
        work, statistics = self.work, self.work.statistics
        attempted, inserted = statistics.attempted, statistics.inserted
        if work.budget.discards and self._steps.exceed_budget(cavities):
            work.budget.exceeded = True
            return work.budget.ending
        statistics.rounds += 1
        self._steps.finish_pass(cavities)
        work.competition.update(statistics.attempted - attempted, statistics.inserted - inserted)
        self._large.run_passes()
        work.close_round()
        return work.budget.ending

    def continue_round(self, level: int, cavities: Cavities | None) -> Ending | None:
        """Continues the last round of the device by passes with large records.

        Args:
            level: the level of the records of the next pass.
            cavities: those of this pass, if the device has grown them, but lacked capacity for the winners.
        """
        self.work.statistics.reopen_round()
        self._large.run_passes(level, cavities)
        self.work.close_round()
        return self.work.budget.ending


def ordinary_selection(work: Work) -> Selection:
    """Returns which candidates get ordinary records."""
    choice = work.marking.choice
    if choice == Choice.UNBEATEN:
        choice = work.competition.choice
    return Selection(choice, RECORD_CAPACITY, most=work.limits.most or UNBOUNDED)


def is_round_left(work: Work) -> bool:
    """Whether another round would find something to do."""
    return HostSteps(work).select(ordinary_selection(work)) is not None or work.bad.count > 0
