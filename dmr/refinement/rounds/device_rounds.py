"""Rounds driven by the device, without the host: the steps of `host_rounds` in one sequence of kernels that restarts
itself.

The sequence is recorded once: on a GPU as a CUDA graph that launches itself (a tail launch), on a CPU as a list of
launches that the native library repeats without Python. Section 6.4 of the thesis discusses other uses of kernels
launched from the device. Small rounds need no launches per step: one team runs as many of them as there are, in the
first kernel of the sequence (`cuda_src/refine/rounds/single_block_rounds.cu`). On a GPU, several teams with barriers
between them run larger ones in the second kernel (`cuda_src/refine/rounds/persistent_rounds.cu`). When the host is
needed - more memory, cavities too large for an ordinary record, the end - the sequence stops and gives the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dmr.errors import OutOfMemoryError
from dmr.memory import DeviceArray, DeviceCount, Loop, pack
from dmr.refinement.results import Round
from dmr.refinement.rounds.cavities import (
    RECORD_CAPACITY,
    TALLIED,
    Cavities,
    Needs,
    Tally,
    close,
    grow,
    inheritance,
    prepare,
    retriangulate,
)
from dmr.refinement.rounds.selection import Choice, select, survey_sums
from dmr.refinement.state.device_mesh import FEW_TRIANGLES, MOST_TRIANGLES
from dmr.refinement.state.epochs import LAST
from dmr.refinement.state.progress import UNBOUNDED, Capacity, Entry, HistoryColumn, RoundInput, Stop
from dmr.refinement.state.work import Work
from dmr.refinement.state.worklist import appended_sums
from dmr.refinement.strategies.marking import Deterministic

HISTORY_ROUNDS = 1024  # most rounds in one run of the loop

# Limits of the rounds that one team runs; beyond them many teams are faster. A CPU thread processes one cavity after
# the other, so limits are lower if there are other threads to take part.
SINGLE_BLOCK_ON_GPU = {"candidates": 64, "listed": 1024, "subsegments": 2**14}
SINGLE_BLOCK_ON_ONE_THREAD = {"candidates": 1024, "listed": 2**13, "subsegments": 2**18}
SINGLE_BLOCK_ON_THREADS = {"candidates": 128, "listed": 1024, "subsegments": 2**14}

# Limits of a pass with large records. Few triangles wait for such records, however long the list is: one team reads it
# in less time than it takes to launch a kernel per step.
PASS_ON_GPU = {"candidates": 256, "listed": 2**13, "subsegments": 2**17}
PASS_ON_CPU = {"listed": 2**16, "subsegments": 2**20}  # candidates as in small rounds

# Limits of the rounds that several teams run with barriers; beyond them a kernel per step is faster. A CPU would have
# to start its threads for them.
PERSISTENT_ON_GPU = {"listed": 2**17, "candidates": 32, "few_listed": 1024}
PERSISTENT_ON_CPU: dict[str, int] | None = None

MOST_STEPS = 16  # most launches of small and middle rounds before the whole loop is recorded


@dataclass(frozen=True)
class Ended:
    """The result of one run of the loop.

    Attributes:
        stop: why it ended; numbers: the progress; counted: the outcomes; history: (rounds, len(Line)) int64.
    """

    stop: Stop
    numbers: dict[Entry, int]
    counted: Tally
    history: NDArray[np.int64]

    @classmethod
    def read(cls, numbers: dict[Entry, int], statistics: DeviceArray) -> Ended:
        """Reads the outcomes and the history of a run from the device; `numbers` is its progress at the end."""
        found = statistics[: TALLIED + numbers[Entry.ROUNDS] * len(HistoryColumn)].download()
        history = found[TALLIED:].reshape(-1, len(HistoryColumn))
        return cls(Stop(numbers[Entry.STOP]), numbers, Tally.of(found[:TALLIED]), history)

    def owners(self, cavities: Cavities) -> Cavities:
        """Returns the records of the last round among these."""
        return cavities.counted(self.numbers[Entry.CANDIDATES], self.numbers[Entry.SEGMENTS])

    def enter(self, work: Work) -> None:
        """Adds the run to the mesh's sizes and to the statistics, except for its rounds."""
        state, bad, statistics, numbers = work.state, work.bad, work.statistics, self.numbers
        work.epochs.resume(numbers[Entry.EPOCH])
        statistics.enter(self.counted)
        statistics.inserted += numbers[Entry.VERTICES] - state.vertices
        statistics.segments += numbers[Entry.SUBSEGMENTS] - state.subsegments_count
        state.vertices, state.slots = numbers[Entry.VERTICES], numbers[Entry.SLOTS]
        state.subsegments_count = numbers[Entry.SUBSEGMENTS]
        bad.count, bad.buffer = numbers[Entry.BAD_LISTED], numbers[Entry.BUFFER]

    def rounds(self, vertices: int, now: float) -> list[Round]:
        """Returns the rounds; `vertices` is the number before them, and the last one ended at `now` (seconds)."""
        found, (grown, inserted, lost) = [], (0, vertices, 0)
        lines = self.history.tolist()
        for line in lines:
            found.append(
                Round(
                    attempted=line[HistoryColumn.GROWN] - grown,
                    inserted=line[HistoryColumn.VERTICES_AFTER] - inserted,
                    lost=line[HistoryColumn.LOST_CONFLICTS] - lost,
                    bad=line[HistoryColumn.BAD_AFTER],
                    triangles=line[HistoryColumn.TRIANGLES_AFTER],
                    seconds=now - 1e-9 * (lines[-1][HistoryColumn.NANOSECONDS] - line[HistoryColumn.NANOSECONDS]),
                )
            )
            grown, inserted, lost = (
                line[HistoryColumn.GROWN],
                line[HistoryColumn.VERTICES_AFTER],
                line[HistoryColumn.LOST_CONFLICTS],
            )
        return found


class DeviceRounds:
    """The loop of one refinement; it is recorded again when an array that it uses has been replaced.

    Attributes:
        lacks_memory: no memory to record the loop: why a run ended with `Stop.GO_ON` after its initial small rounds.
    """

    def __init__(self, work: Work) -> None:
        state = work.state
        self._state, self._space, self._bad, self._progress = state, work.space, work.bad, work.progress
        self._limits, self._small_mesh, self._expected = work.limits, work.small_mesh, work.expected
        self._quality, self._balance = work.quality, work.balance
        self._marking, self._competition = Deterministic(), work.competition
        device = state.device
        # One array, which the host reads in one transfer.
        self._statistics = device.empty(TALLIED + HISTORY_ROUNDS * len(HistoryColumn), np.int64)
        self._counts, self._history = self._statistics[:TALLIED], self._statistics[TALLIED:]
        self.lacks_memory: OutOfMemoryError | None = None
        self._candidate_capacity = 0
        self._recorded: Loop | None = None
        self._recorded_for: tuple[object, ...] = ()
        if state.slots <= FEW_TRIANGLES:  # allocate most arrays before the rounds
            try:
                self._reserve(state.slots // 2)
                self._records(HISTORY_ROUNDS, UNBOUNDED)
            except OutOfMemoryError:
                self._candidate_capacity = 0  # `run` requests what it needs

    def run(self, epoch: int, most_rounds: int, most_vertices: int) -> Ended:
        """Runs rounds until one stops the loop.

        Args:
            stamp: the epoch of the last step.
            most_rounds: rounds after which to stop; most_vertices: vertices of the mesh beyond which to return to the
                host.
        """
        self._reserve(self._bad.count)
        self._write_progress(epoch, self._competition.choice)
        return Ended.read(self._run_rounds(min(most_rounds, HISTORY_ROUNDS), most_vertices), self._statistics)

    def cavities(self, ended: Ended) -> Cavities:
        """Returns the cavities of a round without capacity for its winners: grown, conflicts resolved, not applied."""
        return ended.owners(self._cavities())

    def pass_with(self, epoch: int, cavities: Cavities, most_vertices: int) -> Ended:
        """Runs one pass by one team for the triangles that wait for large records, limited to the capacity of
        `cavities`.

        Its `stop` is `Stop.GO_ON` if they are too many for one team.

        Args:
            stamp, most_vertices: as for `run`; cavities: the records.
        """
        self._reserve(self._bad.count)
        capacity = replace(self._capacity(1, most_vertices), candidates=cavities.records, most=cavities.records)
        self._write_progress(epoch, Choice.LARGE_ONES)
        limits = {**self._single_block, **(PASS_ON_GPU if self._state.device.threads == 0 else PASS_ON_CPU)}
        self._single_block_rounds(capacity, cavities, self._space.array("fresh", capacity.bad, np.int32), limits)
        return Ended.read(self._progress.read(), self._statistics)

    def more_candidates(self) -> None:
        """Doubles the capacity for candidates in the next run."""
        self._candidate_capacity *= 2

    def _write_progress(self, epoch: int, choice: Choice) -> None:
        """Writes the initial progress of the rounds."""
        state, bad = self._state, self._bad
        self._progress.write(
            {
                Entry.VERTICES: state.vertices,
                Entry.SLOTS: state.slots,
                Entry.SUBSEGMENTS: state.subsegments_count,
                Entry.BAD_LISTED: bad.count,
                Entry.BUFFER: bad.buffer,
                Entry.EPOCH: epoch,
                Entry.CHOICE: choice,
            }
        )
        self._counts.fill(0)

    # ---- Capacity, and recording -------------------------------------------------------------------------------------

    def _reserve(self, bad: int) -> None:
        """Reserves capacity for rounds that begin with `bad` bad triangles."""
        self._candidate_capacity = max(self._candidate_capacity, 4096, bad // 3, self._expected // 24)
        self._bad.reserve(max(3 * bad + 2**14, self._expected // 2))

    def _run_rounds(self, most_rounds: int, most_vertices: int) -> dict[Entry, int]:
        """Runs the rounds; waits for their progress."""
        records = self._records(most_rounds, most_vertices)
        if self._recorded is None or self._recorded_for != self._what_is_recorded(most_rounds, most_vertices):
            ended = self._ended_without_many(records)
            if ended is not None:
                return ended
            try:
                self._recorded = self._record(most_rounds, most_vertices)
            except OutOfMemoryError as error:  # rounds have run by now: the caller takes over their results
                self.lacks_memory = error
                return self._progress.read()
            self._recorded_for = self._what_is_recorded(most_rounds, most_vertices)
        self._recorded.run()
        return self._progress.read()

    def _ended_without_many(self, records: tuple[Capacity, Cavities, DeviceArray]) -> dict[Entry, int] | None:
        """Launches the rounds that need no launch per step. Returns their progress if no other rounds are left, as far
        as it pays to wait for that.

        A GPU runs the first of them while the host records the loop.
        """
        middle = self._persistent
        self._single_block_rounds(*records)
        self._persistent_rounds(*records)
        if middle is not None:
            self._single_block_rounds(*records)  # the rounds left by middle rounds, without a return to the host
        small = self._state.slots <= self._small_mesh or (middle is not None and self._bad.count <= middle["listed"])
        for turn in range(MOST_STEPS if small else 0):
            if turn > 0:
                self._persistent_rounds(*records)
                self._single_block_rounds(*records)
            progress = self._progress.read()
            if progress[Entry.STOP] != Stop.GO_ON:
                return progress
            if middle is None or progress[Entry.BAD_LISTED] > middle["listed"]:
                return None
        return None

    def _record(self, most_rounds: int, most_vertices: int) -> Loop:
        device = self._state.device
        # Every kernel and array must be ready before the round is recorded.
        kernels = (type(self._balance), self._state.carries)
        if kernels not in device.rehearsed:
            with device.rehearsal():
                self._round(most_rounds, most_vertices)
            device.rehearsed.add(kernels)
        survey_sums(self._space)
        appended_sums(self._space)
        stop = self._progress.array[Entry.STOP : Entry.STOP + 1]
        return device.loop(lambda: self._round(most_rounds, most_vertices), stop)

    def _what_is_recorded(self, most_rounds: int, most_vertices: int) -> tuple[object, ...]:
        """Returns a value that changes when an array is replaced or a recorded number changes."""
        state = self._state
        buffers = tuple((buffer.pointer, buffer.size) for buffer in self._bad.buffers)
        numbers = (most_rounds, most_vertices, self._candidate_capacity, self._space.version)
        return *numbers, state.addresses, state.capacity, buffers

    def _records(self, most_rounds: int, most_vertices: int) -> tuple[Capacity, Cavities, DeviceArray]:
        """Returns what a round works with: the capacities, the cavities, and an array for the new triangles."""
        capacity = self._capacity(most_rounds, most_vertices)
        return capacity, self._cavities(), self._space.array("fresh", capacity.bad, np.int32)

    def _number(self, entry: Entry, bound: int) -> DeviceCount:
        return self._progress.number(entry, bound)

    def _cavities(self) -> Cavities:
        """Returns the records, which stay the same unless one of their arrays is replaced."""
        capacity, space = self._candidate_capacity, self._space
        kept: Cavities | None = space.made_of.get("cavities")
        if kept is not None and kept.records == capacity:
            return kept
        roots = space.array("roots", capacity, np.int32)
        count = self._number(Entry.CANDIDATES, capacity)
        made = prepare(space, roots, count, self._number(Entry.SEGMENTS, capacity), RECORD_CAPACITY)
        space.made_of["cavities"] = made
        return made

    def _capacity(self, most_rounds: int, most_vertices: int) -> Capacity:
        vertices, slots, subsegments = self._state.capacity
        return Capacity(
            candidates=self._candidate_capacity,
            most=self._limits.most or UNBOUNDED,
            vertices=min(most_vertices, vertices),
            slots=min(MOST_TRIANGLES, slots),
            subsegments=subsegments,
            bad=self._bad.capacity,
            rounds=most_rounds,
        )

    # ---- One round, with the steps of the host loop ------------------------------------------------------------------

    def _round(self, most_rounds: int, most_vertices: int) -> None:
        state, space, bad, number = self._state, self._space, self._bad, self._number
        capacity, cavities, fresh = self._records(most_rounds, most_vertices)
        self._single_block_rounds(capacity, cavities, fresh)
        self._persistent_rounds(capacity, cavities, fresh)
        round_input = RoundInput(
            vertices=number(Entry.VERTICES, capacity.vertices),
            slots=number(Entry.SLOTS, capacity.slots),
            subsegments=number(Entry.SURVEYED_SUBSEGMENTS, capacity.subsegments),
            listed=number(Entry.SURVEYED_LISTED, capacity.bad),
            buffer=number(Entry.BUFFER, 1),
        )
        choice = number(Entry.CHOICE, max(Choice))
        shared = (round_input, choice, self._small_mesh, capacity, self._progress, cavities.roots)
        select(state, space, bad, *shared)
        epoch = number(Entry.EPOCH, LAST)
        grow(state, cavities, self._limits, epoch=epoch)
        self._marking.resolve(state, cavities, epoch)
        launch, progress = state.device.launch, self._progress.array
        launch("fit_winners", 1, cavities.needs, cavities.count, capacity.view, progress)
        needs = Needs(
            vertices=number(Entry.NEW_VERTICES, capacity.vertices),
            slots=number(Entry.NEW_SLOTS, capacity.slots),
            fresh=number(Entry.FRESH, capacity.bad),
            segments=number(Entry.NEW_SEGMENTS, cavities.records),
        )
        applied = cavities.counted(number(Entry.APPLIED, cavities.records), cavities.segments)
        check = self._balance.checks_at_once(self._quality)
        retriangulate(state, space, applied, needs, round_input, epoch, fresh, self._limits, check=check)
        self._balance.check(self._quality, applied, needs, fresh)
        listed, buffer = number(Entry.NEXT_LISTED, capacity.bad), number(Entry.NEXT_BUFFER, 1)
        appended = bad.append(fresh, needs.fresh, listed, buffer)
        close(state, applied, self._counts)
        launch("end_round", 1, appended, self._counts, capacity.view, self._history, progress)

    def _single_block_rounds(
        self, capacity: Capacity, cavities: Cavities, fresh: DeviceArray, limits: dict[str, int] | None = None
    ) -> None:
        """Launches the single-team kernel, which runs as many rounds as it can."""
        small = pack("SingleBlock", **(limits or self._single_block))
        state, inherited = self._state, inheritance(self._state, self._space, capacity.bad)
        state.device.launch(
            "single_block_rounds", 1, state.view, self._limits.view, cavities.view, capacity.view, small,
            self._small_mesh, *self._bad.buffers, cavities.roots, fresh, inherited, self._bad.flags(capacity.bad),
            self._counts, self._history, self._progress.array,
        )  # fmt: skip

    def _persistent_rounds(self, capacity: Capacity, cavities: Cavities, fresh: DeviceArray) -> None:
        """Launches the kernel of several teams with barriers, which runs as many rounds as pay, if it is in use."""
        if self._persistent is None:
            return
        state, device, inherited = self._state, self._state.device, inheritance(self._state, self._space, capacity.bad)
        requested, surveyed = survey_sums(self._space)
        device.launch(
            "persistent_rounds", device.most_pieces, state.view, self._limits.view, cavities.view, capacity.view,
            pack("Persistent", **self._persistent), self._small_mesh, *self._bad.buffers, cavities.roots, fresh,
            inherited, self._bad.flags(capacity.bad), requested, surveyed, cavities.needs, appended_sums(self._space),
            self._counts, self._history, self._progress.array,
        )  # fmt: skip

    @property
    def _persistent(self) -> dict[str, int] | None:
        return PERSISTENT_ON_GPU if self._state.device.threads == 0 else PERSISTENT_ON_CPU

    @property
    def _single_block(self) -> dict[str, int]:
        threads = self._state.device.threads
        return (
            SINGLE_BLOCK_ON_GPU
            if threads == 0
            else SINGLE_BLOCK_ON_ONE_THREAD
            if threads == 1
            else SINGLE_BLOCK_ON_THREADS
        )
