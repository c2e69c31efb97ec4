"""Supervision between two rounds: limits, the progress callback, retries, and checks for stalls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dmr.errors import InternalError
from dmr.refinement.loop import Supervisor
from dmr.refinement.options import Progress
from dmr.refinement.rounds.grouped_order import strict_rounds_left
from dmr.refinement.rounds.retries import Retries
from dmr.refinement.rounds.stalls import StallCheck
from dmr.refinement.rounds.time_limit import TimeLimit
from dmr.refinement.rounds.work import Work
from dmr.refinement.state.ending import Ending


@dataclass(frozen=True, kw_only=True)
class Supervision(Supervisor):
    """Watches the rounds of one stage. All stages of a refinement share the checks.

    Attributes:
        work: the data and settings of the stage.
        time_limit: the limit on seconds; progress: the user's callback.
        retries: retries of what was given up; stalls: the check that rounds make progress.
    """

    work: Work
    time_limit: TimeLimit
    progress: Progress | None
    retries: Retries = field(default_factory=Retries)
    stalls: StallCheck = field(default_factory=StallCheck)

    def of(self, work: Work) -> Supervision:
        """Returns the supervision of another stage."""
        return replace(self, work=work)

    def before_round(self) -> Ending | None:
        """Implements `Supervisor.before_round`."""
        if self.time_limit.over:
            return Ending.TIME
        return Ending.STRICT_ROUNDS_OVER if strict_rounds_left(self.work) <= 0 else None

    def after_round(self, ending: Ending | None) -> Ending | None:
        """Implements `Supervisor.after_round`.

        Raises:
            InternalError: the rounds do not make progress, or leave bad triangles.
        """
        work, bad, rounds = self.work, self.work.bad, self.work.statistics.rounds
        self.stalls.check(work.statistics.history, work.state.slots, work.state.subsegments_count)
        if ending is Ending.COMPLETE:
            if self._retries():
                return None
            if bad.count:
                raise InternalError(f"after {rounds} rounds {bad.count} bad triangles are left unprocessed")
            return ending
        if self._stopped_by_callback():
            return ending or Ending.STOPPED
        return ending

    def _retries(self) -> bool:
        """Whether triangles that were given up are refined again; those of the first points are left for later."""
        if self.work.limits.first or not self.retries.are_due(self.work):
            return False
        self.stalls.start_again()
        return self.retries.begin(self.work)

    def _stopped_by_callback(self) -> bool:
        if self.progress is None:
            return False
        work = self.work
        with work.state.device.set_aside():
            return self.progress(work.statistics.rounds, work.bad.count, work.state.slots) is False
