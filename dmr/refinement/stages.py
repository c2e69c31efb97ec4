"""The stages of a refinement: the first points of a nearly empty interior, then all bounds.

Each stage runs rounds until nothing is bad or encroached by its own limits, first in the strict order of bad triangles,
and if it takes very many rounds, in the grouped one.
"""

from __future__ import annotations

from dmr.refinement.loop import Driver, run_rounds
from dmr.refinement.options import Progress
from dmr.refinement.rounds.device_rounds import DeviceRounds
from dmr.refinement.rounds.grouped_order import grouped
from dmr.refinement.rounds.handover import Handover
from dmr.refinement.rounds.host_rounds import HostRounds
from dmr.refinement.rounds.host_steps import HostSteps
from dmr.refinement.rounds.large_records import LargeRecords
from dmr.refinement.rounds.supervision import Supervision
from dmr.refinement.rounds.time_limit import TimeLimit
from dmr.refinement.rounds.work import Work
from dmr.refinement.setup.admission import SplitState
from dmr.refinement.state.ending import Ending
from dmr.refinement.steps.large_competition import LargeCompetition
from dmr.refinement.steps.thresholds import Thresholds

FEW_TO_CHECK = 2**11  # triangles: a CPU checks them before it prepares rounds, which takes as long


class Stages:
    """Runs the stages of one refinement, and keeps what they share."""

    def __init__(self, work: Work, *, time_limit: TimeLimit, progress: Progress | None, device_rounds: bool) -> None:
        """Prepares them.

        Args:
            work: the last stage, with all bounds.
            time_limit, progress: the limit on seconds, and the user's callback.
            device_rounds: whether the device can run rounds by itself. With a callback the host drives, and the device
                runs only passes with large records.
        """
        self._final, self._device_rounds = work, device_rounds
        self._supervision = Supervision(work=work, time_limit=time_limit, progress=progress)

    def run(self, first: list[Thresholds]) -> Ending:
        """Runs stages with the `first` limits, then the last one; returns why the rounds ended."""
        ending = Ending.COMPLETE
        for limits in first:
            if ending is Ending.COMPLETE:
                ending = self._run_stage(self._final.with_limits(limits, sized=False))
        if ending is Ending.COMPLETE:
            return self._refine_exactly(self._run_stage(self._final))
        self._final.check_all()  # by all bounds, for the report on what is unrefined
        return ending

    def _run_stage(self, work: Work) -> Ending:
        is_placed, is_small = work.state.given is not None, work.state.slots <= FEW_TO_CHECK
        if work.state.device.threads and (is_placed or is_small):
            work.check_all()  # after points were placed by size, often nothing is left to do
            if self._has_ended(work):
                if self._device_rounds and self._supervision.progress is None:
                    work.statistics.enter_rounds([])  # the device would have run none
                return Ending.COMPLETE
            return self._run_orders(work, self._driver(work))
        driver = self._driver(work)  # allocates ahead, so that the check has no array to enlarge
        work.check_all()
        return self._run_orders(work, driver)

    def _has_ended(self, work: Work) -> bool:
        """Whether the first check of a CPU has found nothing to do; a GPU needs as long to tell as for a round."""
        if work.bad.count or work.statistics.attempted or self._supervision.time_limit.over:
            return False
        states = work.state.split_states[: work.state.subsegments_count].content()
        return not (states == SplitState.TO_BE_SPLIT).any()

    def _refine_exactly(self, ending: Ending) -> Ending:
        """Asks the user's functions for the bounds of new triangles, and refines what exceeds them, until none do."""
        known = self._final.quality.known
        while known is not None and ending is Ending.COMPLETE:
            if not self._final.check_exactly(known):
                break
            ending = self._run_orders(self._final, self._driver(self._final))
        return ending

    def _run_orders(self, work: Work, driver: Driver) -> Ending:
        """Runs rounds in the strict order, and if it takes very many, in the grouped one."""
        ending = self._run_rounds(work, driver)
        if ending is Ending.STRICT_ROUNDS_OVER:
            work = grouped(work)
            ending = self._run_rounds(work, self._driver(work))
        return ending

    def _run_rounds(self, work: Work, driver: Driver) -> Ending:
        ending = run_rounds(driver, self._supervision.of(work))
        if isinstance(driver, Handover) and driver.lacks_memory:
            self._device_rounds = False
        return ending

    def _driver(self, work: Work) -> Driver:
        steps = HostSteps(work)
        competition = LargeCompetition(work.limits.most)
        device = DeviceRounds(work, competition) if self._device_rounds else None
        large = device if device is not None and device.runs_large_passes else None
        host = HostRounds(work, steps, LargeRecords(work, steps, competition, large))
        if device is None or self._supervision.progress is not None:
            return host
        return Handover(work, device, host, self._supervision.time_limit)
