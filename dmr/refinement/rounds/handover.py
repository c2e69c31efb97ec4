"""Hands control and statistics between the device's rounds and the host."""

from __future__ import annotations

from dmr.errors import OutOfMemoryError
from dmr.refinement.loop import Driver
from dmr.refinement.rounds.device_report import DeviceReport
from dmr.refinement.rounds.device_rounds import DeviceRounds
from dmr.refinement.rounds.grouped_order import strict_rounds_left
from dmr.refinement.rounds.host_rounds import HostRounds
from dmr.refinement.rounds.time_limit import TimeLimit
from dmr.refinement.rounds.work import Work
from dmr.refinement.state.ending import Ending
from dmr.refinement.state.progress import Entry, Stop
from dmr.refinement.steps.selection import Choice


class Handover(Driver):
    """Lets the device drive the rounds of one stage; the host helps when it stops.

    Attributes:
        lacks_memory: whether there is no memory to allocate ahead, or to record the rounds: the host drives them.
    """

    def __init__(self, work: Work, device: DeviceRounds, host: HostRounds, time_limit: TimeLimit) -> None:
        self._work, self._device, self._host, self._time_limit = work, device, host, time_limit
        self.lacks_memory = False

    def run_round(self) -> Ending | None:
        """Implements `Driver.run_round`: runs rounds until the device stops, then does what it needs the host for."""
        if self.lacks_memory:
            return self._host.run_round()
        with self._time_limit.measured():
            ending = self._run_device(self._time_limit.rounds(strict_rounds_left(self._work)))
        if ending is Ending.COMPLETE and self._work.bad.large_waiting:  # only cavities with large records are left
            return self._host.run_round()
        return ending

    def _run_device(self, most_rounds: int) -> Ending | None:
        clock, statistics = self._work.clock, self._work.statistics
        with clock.phase("rounds"):
            try:
                report = self._device.run(most_rounds)
            except OutOfMemoryError as error:  # it allocates ahead, before the first round
                self._leave_to_host(error)
                return None
            now = statistics.seconds
        with clock.phase("download"):  # the statistics are part of the result
            rounds = report.rounds(self._work.state.vertices, now)
            report.enter(self._work)
            statistics.enter_rounds(rounds)
            self._work.competition.choice = Choice(report.numbers[Entry.CHOICE])
        if self._device.lacks_memory is not None:
            self._leave_to_host(self._device.lacks_memory)
            return None
        return self._help(report)

    def _leave_to_host(self, error: OutOfMemoryError) -> None:
        self.lacks_memory = True
        self._work.statistics.warn(f"the host drives the rounds, which needs less memory: {error}")

    def _help(self, report: DeviceReport) -> Ending | None:
        """Does what the device stopped for; returns why there is no further round, or None."""
        stop = report.stop
        if stop == Stop.NO_CANDIDATE:
            return Ending.COMPLETE
        cavities = self._device.last_cavities(report) if stop == Stop.WINNER_CAPACITY else None
        if level := report.numbers[Entry.LARGE_LEVEL]:  # within a round: the host runs the rest of its passes
            return self._host.continue_round(level, cavities)
        if cavities is not None:
            return self._host.finish_round(cavities)
        if stop == Stop.CANDIDATE_CAPACITY:
            self._device.more_candidates()
        elif stop == Stop.EPOCHS_USED:
            self._work.epochs.start_again(self._work.state)
        return None  # the other reasons need nothing before the next round, or the end
