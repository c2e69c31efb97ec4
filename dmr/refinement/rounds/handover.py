"""Hands control and statistics between the device's rounds and the host."""

from __future__ import annotations

from dmr.errors import OutOfMemoryError
from dmr.refinement.rounds.device_rounds import DeviceRounds, Ended
from dmr.refinement.rounds.host_rounds import HostRounds
from dmr.refinement.rounds.selection import Choice
from dmr.refinement.state.progress import Entry, Stop
from dmr.refinement.state.work import NOTHING_LEFT, Work


class Handover:
    """Lets the device drive one refinement's rounds; the host helps when it stops.

    Attributes:
        lacks_memory: why the device cannot continue: no memory to allocate ahead, or to record its rounds.
    """

    def __init__(self, work: Work, by_host: HostRounds) -> None:
        self._work, self._by_host = work, by_host
        self._rounds = DeviceRounds(work)
        by_host.one_team = self._rounds.pass_with
        self.lacks_memory: OutOfMemoryError | None = None

    def go_on(self, most_rounds: int) -> str | None:
        """Runs rounds until the device stops, then does what it needs the host for.

        Returns:
            Why there is no further round, or None.
        """
        work = self._work
        with work.clock.phase("rounds"):
            try:
                ended = self._rounds.run(work.epochs.last, most_rounds, work.state.vertices + work.points_left)
            except OutOfMemoryError as error:  # it allocates ahead, before the first round
                self.lacks_memory = error
                return None
            now = work.statistics.seconds
        with work.clock.phase("download"):  # the statistics are part of the result
            self._take_over(ended, now)
        self.lacks_memory = self._rounds.lacks_memory
        return self._help(ended) if self.lacks_memory is None else None

    def _take_over(self, ended: Ended, now: float) -> None:
        """Adds the device's work until `now` to the mesh and the statistics."""
        rounds = ended.rounds(self._work.state.vertices, now)
        ended.enter(self._work)
        self._work.statistics.enter_rounds(rounds)
        self._work.competition.choice = Choice(ended.numbers[Entry.CHOICE])

    def _help(self, ended: Ended) -> str | None:
        """Does what the device stopped for; returns why there is no further round, or None."""
        if ended.stop == Stop.NO_CANDIDATE:
            return NOTHING_LEFT
        if ended.stop == Stop.WINNER_CAPACITY:
            return self._by_host.insert_owners(self._rounds.cavities(ended))
        if ended.stop == Stop.LARGE_CAVITIES or (ended.stop == Stop.ENOUGH_ROUNDS and self._by_host.large_waiting):
            return self._by_host.insert_large()
        if ended.stop == Stop.CANDIDATE_CAPACITY:
            self._rounds.more_candidates()
        elif ended.stop == Stop.EPOCHS_USED:
            self._work.epochs.start_again(self._work.state)
        return None  # the other reasons need nothing before the next round, or the end
