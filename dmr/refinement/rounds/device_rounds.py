"""Rounds driven by the device, without the host: the steps of `host_rounds` in one sequence of kernels that restarts
itself.

The sequence is recorded once: on a GPU as a CUDA graph that launches itself (a tail launch), on a CPU as a list of
launches that the native library repeats without Python. Section 6.4 of the thesis discusses other uses of kernels
launched from the device. Small rounds need no launches per step: one team runs as many of them as there are, in the
first kernel of the sequence (`cuda_src/refine/rounds/small_rounds.cu`). On a GPU, several teams with barriers between
them run larger ones in the second kernel (`cuda_src/refine/rounds/middle_rounds.cu`). When the host is needed - more
memory, cavities too large for an ordinary record, the end - the sequence stops and gives the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dmr.errors import OutOfMemoryError
from dmr.memory import DeviceArray, DeviceCount, Loop, pack
from dmr.refinement.results import Round
from dmr.refinement.rounds.cavities import (
    ROOM,
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
from dmr.refinement.state.round_input import UNBOUNDED, Entry, Line, Room, Standing, Stop
from dmr.refinement.state.work import Work
from dmr.refinement.state.worklist import appended_sums
from dmr.refinement.strategies.marking import Deterministic

HISTORY_ROUNDS = 1024  # most rounds in one run of the loop

# Limits of the rounds that one team runs; beyond them many teams are faster. A CPU thread processes one cavity after
# the other, so limits are lower if there are other threads to take part.
SMALL_ON_GPU = {"candidates": 64, "listed": 1024, "subsegments": 2**14}
SMALL_ON_ONE_THREAD = {"candidates": 1024, "listed": 2**13, "subsegments": 2**18}
SMALL_ON_THREADS = {"candidates": 128, "listed": 1024, "subsegments": 2**14}

# Limits of a pass with large records. Few triangles wait for such records, however long the list is: one team reads it
# in less time than it takes to launch a kernel per step.
PASS_ON_GPU = {"candidates": 256, "listed": 2**13, "subsegments": 2**17}
PASS_ON_CPU = {"listed": 2**16, "subsegments": 2**20}  # candidates as in small rounds

# Limits of the rounds that several teams run with barriers; beyond them a kernel per step is faster. A CPU would have
# to start its threads for them.
MIDDLE_ON_GPU = {"listed": 2**17, "candidates": 32, "few_listed": 1024}
MIDDLE_ON_CPU: dict[str, int] | None = None

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
    def read(cls, numbers: dict[Entry, int], books: DeviceArray) -> Ended:
        """Reads the outcomes and the history of a run from the device; `numbers` is its progress at the end."""
        found = books[: TALLIED + numbers[Entry.ROUNDS] * len(Line)].download()
        history = found[TALLIED:].reshape(-1, len(Line))
        return cls(Stop(numbers[Entry.STOP]), numbers, Tally.of(found[:TALLIED]), history)

    def judged(self, cavities: Cavities) -> Cavities:
        """Returns the records of the last round among these."""
        return cavities.counted(self.numbers[Entry.CANDIDATES], self.numbers[Entry.SEGMENTS])

    def enter(self, work: Work) -> None:
        """Adds the run to the mesh's sizes and to the statistics, except for its rounds."""
        state, bad, ledger, numbers = work.state, work.bad, work.ledger, self.numbers
        work.stamps.resume(numbers[Entry.STAMP])
        ledger.enter(self.counted)
        ledger.inserted += numbers[Entry.VERTICES] - state.vertices
        ledger.segments += numbers[Entry.SUBSEGMENTS] - state.subsegments_count
        state.vertices, state.slots = numbers[Entry.VERTICES], numbers[Entry.SLOTS]
        state.subsegments_count = numbers[Entry.SUBSEGMENTS]
        bad.count, bad.side = numbers[Entry.BAD_LISTED], numbers[Entry.SIDE]

    def rounds(self, vertices: int, now: float) -> list[Round]:
        """Returns the rounds; `vertices` is the number before them, and the last one ended at `now` (seconds)."""
        found, (grown, inserted, lost) = [], (0, vertices, 0)
        lines = self.history.tolist()
        for line in lines:
            found.append(
                Round(
                    attempted=line[Line.GROWN] - grown,
                    inserted=line[Line.VERTICES_AFTER] - inserted,
                    lost=line[Line.LOST_CONFLICTS] - lost,
                    bad=line[Line.BAD_AFTER],
                    triangles=line[Line.TRIANGLES_AFTER],
                    seconds=now - 1e-9 * (lines[-1][Line.NANOSECONDS] - line[Line.NANOSECONDS]),
                )
            )
            grown, inserted, lost = line[Line.GROWN], line[Line.VERTICES_AFTER], line[Line.LOST_CONFLICTS]
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
        self._books = device.empty(TALLIED + HISTORY_ROUNDS * len(Line), np.int64)
        self._counts, self._history = self._books[:TALLIED], self._books[TALLIED:]
        self.lacks_memory: OutOfMemoryError | None = None
        self._candidate_room = 0
        self._recorded: Loop | None = None
        self._recorded_for: tuple[object, ...] = ()
        if state.slots <= FEW_TRIANGLES:  # allocate most arrays before the rounds
            try:
                self._make_room(state.slots // 2)
                self._records(HISTORY_ROUNDS, UNBOUNDED)
            except OutOfMemoryError:
                self._candidate_room = 0  # `run` requests what it needs

    def run(self, stamp: int, most_rounds: int, most_vertices: int) -> Ended:
        """Runs rounds until one stops the loop.

        Args:
            stamp: the epoch (`stamp`) of the last step.
            most_rounds: rounds after which to stop; most_vertices: vertices of the mesh beyond which to return to the
                host.
        """
        self._make_room(self._bad.count)
        self._write_progress(stamp, self._competition.choice)
        return Ended.read(self._run_rounds(min(most_rounds, HISTORY_ROUNDS), most_vertices), self._books)

    def cavities(self, ended: Ended) -> Cavities:
        """Returns the cavities of a round without capacity for its winners: grown, conflicts resolved, not applied."""
        return ended.judged(self._cavities())

    def pass_with(self, stamp: int, cavities: Cavities, most_vertices: int) -> Ended:
        """Runs one pass by one team for the triangles that wait for large records, limited to the capacity of
        `cavities`.

        Its `stop` is `Stop.GO_ON` if they are too many for one team.

        Args:
            stamp, most_vertices: as for `run`; cavities: the records.
        """
        self._make_room(self._bad.count)
        room = replace(self._room(1, most_vertices), candidates=cavities.capacity, most=cavities.capacity)
        self._write_progress(stamp, Choice.LARGE_ONES)
        limits = {**self._small, **(PASS_ON_GPU if self._state.device.threads == 0 else PASS_ON_CPU)}
        self._small_rounds(room, cavities, self._space.array("fresh", room.bad, np.int32), limits)
        return Ended.read(self._progress.read(), self._books)

    def more_candidates(self) -> None:
        """Doubles the capacity for candidates in the next run."""
        self._candidate_room *= 2

    def _write_progress(self, stamp: int, choice: Choice) -> None:
        """Writes the initial progress of the rounds."""
        state, bad = self._state, self._bad
        self._progress.write(
            {
                Entry.VERTICES: state.vertices,
                Entry.SLOTS: state.slots,
                Entry.SUBSEGMENTS: state.subsegments_count,
                Entry.BAD_LISTED: bad.count,
                Entry.SIDE: bad.side,
                Entry.STAMP: stamp,
                Entry.CHOICE: choice,
            }
        )
        self._counts.fill(0)

    # ---- Capacity, and recording -------------------------------------------------------------------------------------

    def _make_room(self, bad: int) -> None:
        """Reserves capacity for rounds that begin with `bad` bad triangles."""
        self._candidate_room = max(self._candidate_room, 4096, bad // 3, self._expected // 24)
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

    def _ended_without_many(self, records: tuple[Room, Cavities, DeviceArray]) -> dict[Entry, int] | None:
        """Launches the rounds that need no launch per step. Returns their progress if no other rounds are left, as far
        as it pays to wait for that.

        A GPU runs the first of them while the host records the loop.
        """
        middle = self._middle
        self._small_rounds(*records)
        self._middle_rounds(*records)
        if middle is not None:
            self._small_rounds(*records)  # the rounds left by middle rounds, without a return to the host
        small = self._state.slots <= self._small_mesh or (middle is not None and self._bad.count <= middle["listed"])
        for turn in range(MOST_STEPS if small else 0):
            if turn > 0:
                self._middle_rounds(*records)
                self._small_rounds(*records)
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
        sides = tuple((side.pointer, side.size) for side in self._bad.sides)
        numbers = (most_rounds, most_vertices, self._candidate_room, self._space.version)
        return *numbers, state.addresses, state.room, sides

    def _records(self, most_rounds: int, most_vertices: int) -> tuple[Room, Cavities, DeviceArray]:
        """Returns what a round works with: the capacities, the cavities, and an array for the new triangles."""
        room = self._room(most_rounds, most_vertices)
        return room, self._cavities(), self._space.array("fresh", room.bad, np.int32)

    def _number(self, entry: Entry, bound: int) -> DeviceCount:
        return self._progress.number(entry, bound)

    def _cavities(self) -> Cavities:
        """Returns the records, which stay the same unless one of their arrays is replaced."""
        room, space = self._candidate_room, self._space
        kept: Cavities | None = space.made_of.get("cavities")
        if kept is not None and kept.capacity == room:
            return kept
        roots = space.array("roots", room, np.int32)
        count = self._number(Entry.CANDIDATES, room)
        made = prepare(space, roots, count, self._number(Entry.SEGMENTS, room), ROOM)
        space.made_of["cavities"] = made
        return made

    def _room(self, most_rounds: int, most_vertices: int) -> Room:
        vertices, slots, subsegments = self._state.room
        return Room(
            candidates=self._candidate_room,
            most=self._limits.most or UNBOUNDED,
            vertices=min(most_vertices, vertices),
            slots=min(MOST_TRIANGLES, slots),
            subsegments=subsegments,
            bad=self._bad.room,
            rounds=most_rounds,
        )

    # ---- One round, with the steps of the host loop ------------------------------------------------------------------

    def _round(self, most_rounds: int, most_vertices: int) -> None:
        state, space, bad, number = self._state, self._space, self._bad, self._number
        room, cavities, fresh = self._records(most_rounds, most_vertices)
        self._small_rounds(room, cavities, fresh)
        self._middle_rounds(room, cavities, fresh)
        standing = Standing(
            vertices=number(Entry.VERTICES, room.vertices),
            slots=number(Entry.SLOTS, room.slots),
            subsegments=number(Entry.SURVEYED_SUBSEGMENTS, room.subsegments),
            listed=number(Entry.SURVEYED_LISTED, room.bad),
            side=number(Entry.SIDE, 1),
        )
        choice = number(Entry.CHOICE, max(Choice))
        shared = (standing, choice, self._small_mesh, room, self._progress, cavities.roots)
        select(state, space, bad, *shared)
        stamp = number(Entry.STAMP, LAST)
        grow(state, cavities, self._limits, stamp=stamp)
        self._marking.settle(state, cavities, stamp)
        launch, progress = state.device.launch, self._progress.array
        launch("fit_winners", 1, cavities.needs, cavities.count, room.view, progress)
        needs = Needs(
            vertices=number(Entry.NEW_VERTICES, room.vertices),
            slots=number(Entry.NEW_SLOTS, room.slots),
            fresh=number(Entry.FRESH, room.bad),
            segments=number(Entry.NEW_SEGMENTS, cavities.capacity),
        )
        applied = cavities.counted(number(Entry.APPLIED, cavities.capacity), cavities.segments)
        check = self._balance.checks_at_once(self._quality)
        retriangulate(state, space, applied, needs, standing, stamp, fresh, self._limits, check=check)
        self._balance.check(self._quality, applied, needs, fresh)
        listed, side = number(Entry.NEXT_LISTED, room.bad), number(Entry.NEXT_SIDE, 1)
        appended = bad.append(fresh, needs.fresh, listed, side)
        close(state, applied, self._counts)
        launch("end_round", 1, appended, self._counts, room.view, self._history, progress)

    def _small_rounds(
        self, room: Room, cavities: Cavities, fresh: DeviceArray, limits: dict[str, int] | None = None
    ) -> None:
        """Launches the single-team kernel, which runs as many rounds as it can."""
        small = pack("Small", **(limits or self._small))
        state, inherited = self._state, inheritance(self._state, self._space, room.bad)
        state.device.launch(
            "small_rounds", 1, state.view, self._limits.view, cavities.view, room.view, small, self._small_mesh,
            *self._bad.sides, cavities.roots, fresh, inherited, self._bad.flags(room.bad), self._counts, self._history,
            self._progress.array,
        )  # fmt: skip

    def _middle_rounds(self, room: Room, cavities: Cavities, fresh: DeviceArray) -> None:
        """Launches the kernel of several teams with barriers, which runs as many rounds as pay, if it is in use."""
        if self._middle is None:
            return
        state, device, inherited = self._state, self._state.device, inheritance(self._state, self._space, room.bad)
        wished, surveyed = survey_sums(self._space)
        device.launch(
            "middle_rounds", device.most_pieces, state.view, self._limits.view, cavities.view, room.view,
            pack("Middle", **self._middle), self._small_mesh, *self._bad.sides, cavities.roots, fresh,
            inherited, self._bad.flags(room.bad), wished, surveyed, cavities.needs, appended_sums(self._space),
            self._counts, self._history, self._progress.array,
        )  # fmt: skip

    @property
    def _middle(self) -> dict[str, int] | None:
        return MIDDLE_ON_GPU if self._state.device.threads == 0 else MIDDLE_ON_CPU

    @property
    def _small(self) -> dict[str, int]:
        threads = self._state.device.threads
        return SMALL_ON_GPU if threads == 0 else SMALL_ON_ONE_THREAD if threads == 1 else SMALL_ON_THREADS
