"""Rounds driven by the device, without the host: a sequence of kernels that restarts itself.

The sequence is recorded once: on a GPU as a CUDA graph that launches itself (a tail launch), on a CPU as a list of
launches that the native library repeats without Python. Section 6.4 of the thesis discusses other uses of kernels
launched from the device. It begins with the kernels that run passes with large records, if any cavity has overflowed
its record, and whole rounds (`team_rounds`); the steps of `loop.run_pass` follow for what is too large for those. If
that happens to passes with large records again and again, their steps are part of the sequence, too. When the host is
needed - more memory, a larger record, the end - the sequence stops and gives the reason.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dmr.errors import OutOfMemoryError
from dmr.memory import Loop
from dmr.refinement.loop import run_pass
from dmr.refinement.rounds.device_report import DeviceReport
from dmr.refinement.rounds.recorded_steps import RecordedSteps, RoundArrays
from dmr.refinement.rounds.team_rounds import TeamRounds
from dmr.refinement.rounds.work import Work
from dmr.refinement.state.device_mesh import FEW_TRIANGLES, MOST_TRIANGLES
from dmr.refinement.state.outcomes import TALLIED
from dmr.refinement.state.progress import UNBOUNDED, Capacity, Entry, HistoryColumn, Stop
from dmr.refinement.state.worklist import appended_sums
from dmr.refinement.steps.cavities import RECORD_CAPACITY, Cavities, prepare
from dmr.refinement.steps.large_competition import LARGE_MOST, LargeCompetition, large_capacity
from dmr.refinement.steps.selection import Candidates, Choice, Selection, survey_sums

HISTORY_ROUNDS = 1024  # most rounds in one run of the loop
MOST_GENEROUS = 2**16  # candidates; of more bad triangles, a smaller share gets records
MOST_TEAM_TURNS = 16  # most launches of kernels that run whole rounds before the loop is recorded

# Levels of large records in the sequence. A kernel that has nothing to do costs a GPU more, and few passes need more.
LARGE_LEVELS_ON_GPU, LARGE_LEVELS_ON_CPU = 3, len(LARGE_MOST)
# Passes of a level that are left to the host before the sequence has their steps, or the kernels of all levels: fewer
# returns take less time than these launches in each round (coasts on an H100).
MOST_LEFT = 16


class DeviceRounds:
    """The loop of one stage; it is recorded again when an array that it uses has been replaced.

    Attributes:
        lacks_memory: no memory to record the loop: why a run ended with `Stop.GO_ON` after the rounds by teams.
    """

    def __init__(self, work: Work, large: LargeCompetition) -> None:
        self._work, self._teams, self._large = work, TeamRounds(work), large
        self._large_levels = 0  # in the sequence
        self._large_steps = 0  # the lowest of them, whose passes are there step by step, too
        self._left = 0  # passes of the next level, too large for one launch, that were left to the host
        self._left_above = 0  # passes of levels that the sequence does not have
        # One array, which the host reads in one transfer.
        self._statistics = work.state.device.empty(TALLIED + HISTORY_ROUNDS * len(HistoryColumn), np.int64)
        self._counts, self._history = self._statistics[:TALLIED], self._statistics[TALLIED:]
        self.lacks_memory: OutOfMemoryError | None = None
        self._candidate_capacity = 0
        self._recorded: Loop | None = None
        self._recorded_for: tuple[object, ...] = ()
        if work.state.slots <= FEW_TRIANGLES:  # allocate most arrays before the rounds
            try:
                self._reserve(work.state.slots // 2)
                self._arrays(self._capacity(UNBOUNDED))
            except OutOfMemoryError:
                self._candidate_capacity = 0  # `run` requests what it needs

    @property
    def runs_large_passes(self) -> bool:
        """Whether the device can run a pass with large records by itself."""
        return self._teams.available

    def run(self, most_rounds: int) -> DeviceReport:
        """Runs at most `most_rounds` rounds, until one stops the loop.

        Raises:
            OutOfMemoryError: there is no memory to allocate ahead; nothing has run.
        """
        self._reserve(self._work.bad.count)
        most = min(most_rounds, HISTORY_ROUNDS)
        self._write_progress(
            {
                Entry.MOST_ROUNDS: most,
                Entry.CHOICE: self._work.competition.choice,
                Entry.LARGE_WAITING: int(self._work.bad.large_waiting),
                **self._large.entries(self._large_levels, self._large_steps),
            }
        )
        report = DeviceReport.read(self._run_rounds(), self._statistics)
        self._large.resume(report.numbers)
        if report.stop in (Stop.LARGE_CAVITIES, Stop.LARGE_PASS) and self.runs_large_passes:
            self._extend(report.numbers[Entry.LARGE_LEVEL])
        return report

    def _extend(self, level: int) -> None:
        """Extends the sequence, which has stopped before a pass with records of a level."""
        if level > self._large_levels:
            self._left_above += self._large_levels > 0
            many = self._work.state.device.threads > 0 or self._left_above >= MOST_LEFT
            self._large_levels = LARGE_LEVELS_ON_CPU if many else LARGE_LEVELS_ON_GPU
        elif level == self._large_steps + 1:
            self._left += 1
            if self._left == MOST_LEFT:
                self._large_steps, self._left = level, 0

    def last_cavities(self, report: DeviceReport) -> Cavities:
        """Returns the cavities of a pass that lacks capacity for its winners: conflicts are resolved, not applied."""
        level = report.numbers[Entry.LARGE_LEVEL]
        return report.last_cavities(self._large_cavities(level) if level else self._cavities())

    def run_large_pass(self, level: int) -> tuple[DeviceReport, Cavities]:
        """Runs one pass in one launch for the candidates that wait for large records.

        Returns:
            The report, whose `stop` is `Stop.LARGE_PASS` if it is too large for that; and the records.

        Raises:
            OutOfMemoryError: there is no memory to allocate ahead; nothing has run.
        """
        self._reserve(self._work.bad.count)
        arrays = self._large_arrays(level)
        arrays = replace(arrays, capacity=replace(arrays.capacity, most=self._large.most(level)))
        one_pass = {Entry.ROUNDS: 1, Entry.MOST_ROUNDS: 1, Entry.LARGE_LEVELS: 1, Entry.LARGE_LEVEL: 1}
        self._write_progress({Entry.LARGE_WAITING: 1, **one_pass})
        self._teams.large_pass(1, arrays)
        return DeviceReport.read(self._work.progress.read(), self._statistics), arrays.cavities

    def more_candidates(self) -> None:
        """Doubles the capacity for candidates in the next run."""
        self._candidate_capacity *= 2

    def _write_progress(self, entries: dict[Entry, int]) -> None:
        """Writes the initial progress of a run: what the mesh and the list hold, and the given entries."""
        state, bad = self._work.state, self._work.bad
        self._work.progress.write(
            {
                Entry.VERTICES: state.vertices,
                Entry.SLOTS: state.slots,
                Entry.SUBSEGMENTS: state.subsegments_count,
                Entry.BAD_LISTED: bad.count,
                Entry.BUFFER: bad.buffer,
                Entry.EPOCH: self._work.epochs.last,
                **entries,
            }
        )
        self._counts.fill(0)

    # ---- Running and recording ---------------------------------------------------------------------------------------

    def _run_rounds(self) -> dict[Entry, int]:
        """Runs the rounds; waits for their progress."""
        capacity = self._capacity(self._most_vertices)
        arrays = self._arrays(capacity)
        if self._recorded is None or self._recorded_for != self._recording_key(capacity):
            numbers = self._ended_by_teams(arrays)
            if numbers is not None:
                return numbers
            try:
                self._recorded = self._record(capacity)
            except OutOfMemoryError as error:  # rounds have run by now: the caller takes over their results
                self.lacks_memory = error
                return self._work.progress.read()
            self._recorded_for = self._recording_key(capacity)
        self._recorded.run(meanwhile=self._work.prepare_result)
        return self._work.progress.read()

    def _ended_by_teams(self, arrays: RoundArrays) -> dict[Entry, int] | None:
        """Launches the rounds that need no launch per step. Returns their progress if no other rounds are left, as far
        as it pays to wait for that.

        A GPU runs the first of them while the host records the loop. On a CPU they have ended when they are launched.
        """
        teams, work, several = self._teams, self._work, self._teams.several_teams
        if not teams.available:
            return None
        teams.by_one_team(arrays)
        teams.by_several_teams(arrays)
        if several is not None:
            teams.by_one_team(arrays)  # what several teams leave, without a return to the host
        few = work.state.slots <= work.small_mesh or (several is not None and work.bad.count <= several["listed"])
        waits = few or work.state.device.threads > 0
        for turn in range(MOST_TEAM_TURNS if waits else 0):
            if turn > 0:
                self._large_passes()
                teams.by_several_teams(arrays)
                teams.by_one_team(arrays)
            numbers = work.progress.read()
            if numbers[Entry.STOP] != Stop.GO_ON:
                return numbers
            if several is None or numbers[Entry.BAD_LISTED] > several["listed"]:
                return None
        return None

    def _record(self, capacity: Capacity) -> Loop:
        work, device = self._work, self._work.state.device
        # A GPU's kernels must be ready before the round is recorded.
        rehearsed = ("refinement", work.state.carries, self._teams.available)
        if device.threads == 0 and rehearsed not in device.rehearsed:
            with device.rehearsal():
                self._launch_round(capacity)
            device.rehearsed.add(rehearsed)
        survey_sums(work.space)
        appended_sums(work.space)
        stop = work.progress.array[Entry.STOP : Entry.STOP + 1]
        return device.loop(lambda: self._launch_round(capacity), stop)

    def _launch_round(self, capacity: Capacity) -> None:
        """Launches one round: the body of the loop."""
        arrays = self._arrays(capacity)
        if self._teams.available:
            self._large_passes(by_steps=self._large_steps)
            self._teams.by_one_team(arrays)
            self._teams.by_several_teams(arrays)
        else:
            self._work.state.device.launch("enter_round", 1, self._work.progress.array)
        choice = self._work.progress.number(Entry.CHOICE, max(Choice))
        self._launch_pass(arrays, Selection(choice, RECORD_CAPACITY))

    def _launch_pass(self, arrays: RoundArrays, selection: Selection) -> None:
        """Launches the steps of a pass."""
        steps = RecordedSteps(self._work, arrays)
        run_pass(steps, selection)
        steps.end_round()

    def _large_passes(self, by_steps: int = 0) -> None:
        """Launches the passes with large records, of which the one that is due runs, and those that follow it.

        Args:
            by_steps: the levels, from the lowest on, of which the steps are launched, too.
        """
        for level in range(1, self._large_levels + 1):
            arrays = self._large_arrays(level)
            self._teams.large_pass(level, arrays)
            if level <= by_steps:
                self._launch_pass(arrays, Selection(Choice.LARGE_ONES, large_capacity(level)))

    def _recording_key(self, capacity: Capacity) -> tuple[object, ...]:
        """Returns a value that changes when an array is replaced or a recorded number changes."""
        work = self._work
        buffers = tuple((buffer.pointer, buffer.size) for buffer in work.bad.buffers)
        return capacity, self._large_levels, self._large_steps, work.space.version, work.state.addresses, buffers

    # ---- Capacities and arrays ---------------------------------------------------------------------------------------

    def _reserve(self, bad: int) -> None:
        """Reserves capacity for rounds that begin with `bad` bad triangles."""
        expected = self._work.expected
        # Of the bad triangles of an outline, 34% compete at first. With an area bound, 5% of all triangles do at most.
        needed = max(4096, bad // 3, min(2 * bad // 5, MOST_GENEROUS), expected // 20)
        if needed > self._candidate_capacity:  # by half at least: the loop is recorded again
            self._candidate_capacity = max(needed, self._candidate_capacity + self._candidate_capacity // 2)
        self._work.bad.reserve(max(3 * bad + 2**14, expected // 2))

    @property
    def _most_vertices(self) -> int:
        """The number of vertices of the mesh beyond which the device returns to the host."""
        return self._work.state.vertices + self._work.points_left

    def _capacity(self, most_vertices: int) -> Capacity:
        vertices, slots, subsegments = self._work.state.capacity
        return Capacity(
            candidates=self._candidate_capacity,
            most=self._work.limits.most or UNBOUNDED,
            vertices=min(most_vertices, vertices),
            slots=min(MOST_TRIANGLES, slots),
            subsegments=subsegments,
            bad=self._work.bad.capacity,
        )

    def _large_arrays(self, level: int) -> RoundArrays:
        """Returns what passes with records of a level work with."""
        cavities = self._large_cavities(level)
        size = cavities.records.size
        return self._arrays(replace(self._capacity(self._most_vertices), candidates=size, most=size), cavities)

    def _arrays(self, capacity: Capacity, cavities: Cavities | None = None) -> RoundArrays:
        """Returns what rounds work with; `cavities` are ordinary records unless they are given."""
        cavities = cavities or self._cavities()
        fresh = self._work.space.array("fresh", capacity.bad, np.int32)
        return RoundArrays(capacity, cavities, fresh, self._counts, self._history)

    def _cavities(self) -> Cavities:
        """Returns ordinary records."""
        return self._kept_cavities("cavities", self._candidate_capacity, RECORD_CAPACITY)

    def _large_cavities(self, level: int) -> Cavities:
        """Returns the records of a level, in the same arrays as the ordinary ones."""
        return self._kept_cavities(f"cavities {level}", self._large.first_most(level), large_capacity(level))

    def _kept_cavities(self, name: str, size: int, capacity: int) -> Cavities:
        """Returns `size` records, which stay the same unless one of their arrays is replaced."""
        space, number = self._work.space, self._work.progress.number
        kept: Cavities | None = space.made_of.get(name)
        if kept is not None and kept.records.size == size:
            return kept
        roots = space.array("roots", size, np.int32)
        counts = number(Entry.CANDIDATES, size), number(Entry.SEGMENTS, size)
        made = prepare(space, Candidates(roots, *counts, capacity))
        space.made_of[name] = made
        return made
