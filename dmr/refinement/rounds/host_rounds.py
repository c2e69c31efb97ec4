"""Rounds driven by the host: it launches one step after the other, and waits for the few numbers that it needs.

Supports any marking, balance and size function. When the device drives the rounds (device_rounds), the host finishes
those that lacked capacity or ordinary records.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dmr.errors import OutOfMemoryError
from dmr.memory import DeviceArray, bound_of
from dmr.refinement.rounds.cavities import (
    RECORD_CAPACITY,
    TALLIED,
    Cavities,
    Needs,
    Outcome,
    Tally,
    close,
    count_needs,
    grow,
    prepare,
    retriangulate,
)
from dmr.refinement.rounds.device_rounds import Ended
from dmr.refinement.rounds.selection import Choice, select
from dmr.refinement.state.epochs import LAST
from dmr.refinement.state.progress import UNBOUNDED, Capacity, Entry, RoundInput, Stop
from dmr.refinement.state.work import NOTHING_LEFT, Work

LARGE_BUDGET = 2**16  # boundary entries per pass with large records; few such cavities fit side by side

# Large cavities are costly to grow, and most overlap. So a pass with large records takes this number of competitors for
# each point inserted by the last pass with records of that size, and at least FEWEST_LARGE.
COMPETITORS = 8
FEWEST_LARGE = 16


class HostRounds:
    """Drives one refinement's rounds from the host.

    Attributes:
        work: the data and settings of the rounds; large_waiting: whether cavities wait for larger records.
        one_team: `DeviceRounds.pass_with`, for passes with large records; None if the host drives every step.
    """

    def __init__(self, work: Work) -> None:
        self.work = work
        self.large_waiting = False
        # By size of large records: number of cavities in the last pass with them, points that it inserted, and the
        # number that was too many for one team.
        self._last: dict[int, int] = {}
        self._won: dict[int, int] = {}
        self._too_many: dict[int, int] = {}
        self.one_team: Callable[[int, Cavities, int], Ended] | None = None
        self._overflowed = False  # whether cavities of the last pass did not fit their records

    def go_on(self) -> str | None:
        """Runs one round; returns why there is no further one, or None."""
        statistics = self.work.statistics
        before = statistics.attempted
        stopped = self._pass(RECORD_CAPACITY, large=False) or self._large_passes()
        if statistics.attempted == before:
            return NOTHING_LEFT
        statistics.rounds += 1
        self.work.close_round()
        return stopped

    def insert_owners(self, cavities: Cavities) -> str | None:
        """Finishes a round whose cavities are grown and whose conflicts are resolved, but which lacked capacity.

        Returns:
            Why the run must stop, or None.
        """
        self.work.statistics.rounds += 1
        before = self.work.statistics.inserted
        stopped = self._insert_owners(cavities)
        self.work.competition.update(bound_of(cavities.count), self.work.statistics.inserted - before)
        stopped = stopped or self._large_passes()
        self.work.close_round()
        return stopped

    def insert_large(self) -> str | None:
        """Adds passes with large records to the last round, in which cavities overflowed their records.

        Returns:
            Why the run must stop, or None.
        """
        self.work.statistics.reopen_round()
        self.large_waiting = True
        stopped = self._large_passes()
        self.work.close_round()
        return stopped

    def round_is_left(self) -> bool:
        """Whether another round would find something to do."""
        return self._candidates(UNBOUNDED, self._choice)[1] > 0 or self.work.bad.count > 0

    # ---- Passes --------------------------------------------------------------------------------------------------

    def _pass(self, capacity: int, *, large: bool) -> str | None:
        """Runs one pass: candidates, cavities, marking, retriangulation. With `large`, only the few cavities that need
        large records take part."""
        work, marking = self.work, self.work.marking
        most = work.limits.most or (self._most_large(capacity) if large else UNBOUNDED)
        refused = False
        if (
            large
            and self.one_team is not None
            and self._last.get(capacity, 0) < self._too_many.get(capacity, UNBOUNDED)
        ):
            ended, stopped = self._pass_by_one_team(capacity, most)
            refused = ended == Stop.GO_ON
            if not refused:
                return stopped
        with work.clock.phase("select"):
            roots, count, segments = self._candidates(most, Choice.LARGE_ONES if large else self._choice)
        if count == 0:
            self._overflowed = False
            self.large_waiting = self.large_waiting and not large
            return None
        inserted = work.statistics.inserted
        with work.clock.phase("grow"):
            cavities = prepare(work.space, roots, count, segments, capacity)
            epoch = work.epochs.next(work.state) if marking.claims else 0
            grow(work.state, cavities, work.limits, epoch=epoch)
        stopped = None
        steps = marking.steps(work.state, work.space, cavities, work.epochs, work.limits)
        for epoch in work.clock.timed("mark", steps):
            stopped = self._insert_winners(cavities, epoch)
            if stopped:
                break
        self._close(cavities)
        won = work.statistics.inserted - inserted
        if large:
            self._won[capacity], self._last[capacity] = won, count
            if refused:
                self._too_many[capacity] = count
        else:
            work.competition.update(count, won)
        return stopped

    def _pass_by_one_team(self, capacity: int, most: int) -> tuple[Stop, str | None]:
        """Runs a pass with large records by one team, or does nothing if the cavities are too many for it.

        Returns:
            Why the team stopped (`Stop.GO_ON` if it cannot run the pass), and why the run must stop, or None.
        """
        work, space = self.work, self.work.space
        assert self.one_team is not None
        attempted, inserted, stopped = work.statistics.attempted, work.statistics.inserted, None
        with work.clock.phase("rounds"):
            number = work.progress.number
            counts = number(Entry.CANDIDATES, most), number(Entry.SEGMENTS, most)
            cavities = prepare(space, space.array("roots", most, np.int32), *counts, capacity)
            if work.epochs.last == LAST:
                work.epochs.start_again(work.state)
            try:
                ended = self.one_team(work.epochs.last, cavities, work.state.vertices + work.points_left)
            except OutOfMemoryError:  # it allocates ahead; the steps of a pass need less
                self.one_team = None
                return Stop.GO_ON, None
        ended.enter(work)
        if ended.stop == Stop.GO_ON:
            return ended.stop, None
        self._overflowed = ended.counted.outcomes[Outcome.OVERFLOWED] > 0
        self.large_waiting = ended.stop != Stop.NO_CANDIDATE
        if ended.stop == Stop.WINNER_CAPACITY:
            stopped = self._insert_owners(ended.owners(cavities))
        self._won[capacity] = work.statistics.inserted - inserted
        self._last[capacity] = work.statistics.attempted - attempted
        return ended.stop, stopped

    def _insert_owners(self, cavities: Cavities) -> str | None:
        """Makes room for the winners among cavities whose conflicts are resolved, and inserts their points."""
        count_needs(cavities)
        stopped = self._insert_winners(cavities, self.work.epochs.last)
        self._close(cavities)
        return stopped

    @property
    def _choice(self) -> Choice:
        """The rule for which bad triangles compete for ordinary records."""
        choice = self.work.marking.choice
        return self.work.competition.choice if choice == Choice.UNBEATEN else choice

    def _most_large(self, capacity: int) -> int:
        """Returns how many cavities with large records of this size compete."""
        most = max(1, LARGE_BUDGET // capacity)
        won = self._won.get(capacity)
        return most if won is None else min(most, max(FEWEST_LARGE, COMPETITORS * won))

    def _large_passes(self) -> str | None:
        """Runs passes for the cavities that wait for large records, with larger and larger ones."""
        capacity, stopped = RECORD_CAPACITY, None
        while stopped is None and self.large_waiting:
            capacity *= 4
            stopped = self._pass(capacity, large=True)
            if not self._overflowed:
                break
        return stopped

    # ---- The steps of a pass -------------------------------------------------------------------------------------

    def _candidates(self, most: int, choice: Choice) -> tuple[DeviceArray, int, int]:
        """Returns the roots of this pass, their number, and how many of them are subsegments.

        Segments come first: while one waits to be split, no triangle competes.
        """
        work, state, bad = self.work, self.work.state, self.work.bad
        bad.reserve(bad.count)
        roots = work.space.array("roots", max(bad.count, state.subsegments_count), np.int32)
        work.progress.write({Entry.BEGINS: 1})
        capacity = Capacity(most=most)
        select(state, work.space, bad, self._round_input(), choice, work.small_mesh, capacity, work.progress, roots)
        found = work.progress.read()
        bad.count, bad.buffer = found[Entry.NEXT_LISTED], found[Entry.NEXT_BUFFER]
        return roots, found[Entry.CANDIDATES], found[Entry.SEGMENTS]

    def _insert_winners(self, cavities: Cavities, epoch: int) -> str | None:
        """Retriangulates, checks the new triangles and lists the bad ones; returns why the run must stop, or None."""
        stopped: str | None = None
        work, state, statistics = self.work, self.work.state, self.work.statistics
        with work.clock.phase("retriangulate"):
            needs = self._needs(cavities)
            if bound_of(needs.vertices) > work.points_left:
                self._cut(cavities, work.points_left)
                needs = self._needs(cavities)
                stopped = "budget"
            vertices, slots, fresh_count, segments = (bound_of(number) for number in vars(needs).values())
            state.reserve(state.vertices + vertices, state.slots + slots, state.subsegments_count + segments)
            fresh = work.space.array("fresh", fresh_count, np.int32)
            check = work.balance.checks_at_once(work.quality)
            shared = (state, work.space, cavities, needs, self._round_input(), epoch, fresh, work.limits)
            retriangulate(*shared, check=check)
            state.vertices += vertices
            state.slots += slots
            state.subsegments_count += segments
        with work.clock.phase("check"):
            work.balance.check(work.quality, cavities, needs, fresh)
        with work.clock.phase("list"):
            work.bad.extend(fresh, fresh_count)
        statistics.inserted += vertices
        statistics.segments += segments
        return stopped

    def _round_input(self) -> RoundInput:
        state, bad = self.work.state, self.work.bad
        return RoundInput(state.vertices, state.slots, state.subsegments_count, bad.count, bad.buffer)

    def _needs(self, cavities: Cavities) -> Needs:
        """Returns what the winners need; waits for the device."""
        progress = self.work.progress
        progress.write({Entry.BEGINS: 1})
        launch = self.work.state.device.launch
        launch("fit_winners", 1, cavities.needs, cavities.count, Capacity().view, progress.array)
        found = progress.read()
        new = (Entry.NEW_VERTICES, Entry.NEW_SLOTS, Entry.FRESH, Entry.NEW_SEGMENTS)
        return Needs(*(found[entry] for entry in new))

    def _cut(self, cavities: Cavities, remaining: int) -> None:
        """Keeps only the `remaining` winners of highest priority."""
        count = bound_of(cavities.count)
        won = cavities.won[:count].download() == 1
        keys = np.sort(cavities.keys[:count].download()[won])
        lowest = int(keys[-remaining]) if remaining else 2**64 - 1
        self.work.state.device.launch("cut_winners", count, cavities.view, lowest)
        count_needs(cavities)

    def _close(self, cavities: Cavities) -> None:
        """Gives up what cannot be resolved, sets aside cavities that need a large record, and counts the outcomes."""
        with self.work.clock.phase("count"):
            counts = self.work.state.device.zeros(TALLIED, np.int64)
            close(self.work.state, cavities, counts)
            counted = Tally.of(counts.download())
            self._overflowed = counted.outcomes[Outcome.OVERFLOWED] > 0
            self.large_waiting = self.large_waiting or self._overflowed
            self.work.statistics.enter(counted)
