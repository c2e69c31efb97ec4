"""What passes between the device's rounds and the host: the books, and what a round needs the host for."""

from __future__ import annotations

from dmr.errors import OutOfMemoryError
from dmr.pipeline.device_rounds import DeviceRounds, Ended
from dmr.pipeline.host_rounds import HostRounds
from dmr.pipeline.progress import Entry, Stop
from dmr.pipeline.selecting import Choice
from dmr.pipeline.work import NOTHING_LEFT, Work


class Handover:
    """The device as the driver of one refinement's rounds, and the host as its help.

    Attributes:
        lacks_memory: why the device cannot go on: no memory for what it needs ahead, or to record its rounds.
    """

    def __init__(self, work: Work, by_host: HostRounds) -> None:
        self._work, self._by_host = work, by_host
        self._rounds = DeviceRounds(work)
        by_host.one_team = self._rounds.pass_with
        self.lacks_memory: OutOfMemoryError | None = None

    def go_on(self, most_rounds: int) -> str | None:
        """Rounds until the device says stop, and what it needs the host for.

        Returns:
            Why there is no further round, if there is none.
        """
        work = self._work
        with work.clock.phase("rounds"):
            try:
                ended = self._rounds.run(work.stamps.last, most_rounds, work.state.vertices + work.points_left)
            except OutOfMemoryError as error:  # it asks for room ahead, before the first round
                self.lacks_memory = error
                return None
            now = work.ledger.seconds
        with work.clock.phase("download"):  # the books are a part of what is handed out
            self._take_over(ended, now)
        self.lacks_memory = self._rounds.lacks_memory
        return self._help(ended) if self.lacks_memory is None else None

    def _take_over(self, ended: Ended, now: float) -> None:
        """Enters in the books what the device did until `now`."""
        rounds = ended.rounds(self._work.state.vertices, now)
        ended.enter(self._work)
        self._work.ledger.enter_rounds(rounds)
        self._work.competition.choice = Choice(ended.numbers[Entry.CHOICE])

    def _help(self, ended: Ended) -> str | None:
        """Does what the device stopped for."""
        if ended.stop == Stop.NO_CANDIDATE:
            return NOTHING_LEFT
        if ended.stop == Stop.WINNER_ROOM:
            return self._by_host.insert_judged(self._rounds.cavities(ended))
        if ended.stop == Stop.LARGE_CAVITIES or (ended.stop == Stop.ENOUGH_ROUNDS and self._by_host.large_waiting):
            return self._by_host.insert_large()
        if ended.stop == Stop.CANDIDATE_ROOM:
            self._rounds.more_candidates()
        elif ended.stop == Stop.STAMPS_USED:
            self._work.stamps.start_again(self._work.state)
        return None  # after the other reasons there is nothing to do before the next round, or the end
