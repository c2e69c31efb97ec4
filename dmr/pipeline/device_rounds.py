"""Rounds that follow each other on the device, without the host: what `Run` does round by round, in one sequence of
kernels that starts itself again.

The sequence is recorded once: on a GPU, as a CUDA graph that launches itself (a tail launch). What else kernels are
good for that are launched from the device, the thesis discusses in section 6.4. All numbers of a round stay in an array
of the device, the progress: each kernel finds its range there. Where the host is needed - more room, cavities too large
for an ordinary record, the end - the sequence stops and says why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dmr.memory import DeviceCount, Loop, scan
from dmr.pipeline.balancing import Balance
from dmr.pipeline.cavities import (
    ROOM,
    Cavities,
    Needs,
    Outcome,
    Sizes,
    Tally,
    count_outcomes,
    grow,
    prepare,
    retriangulate,
    scan_needs,
    settle,
)
from dmr.pipeline.checking import QualityCheck
from dmr.pipeline.device_mesh import MOST_TRIANGLES, DeviceMesh
from dmr.pipeline.marking import Deterministic
from dmr.pipeline.selecting import flag_unbeaten, flag_wishes, keep_most_urgent
from dmr.pipeline.stamps import LAST
from dmr.pipeline.thresholds import Thresholds
from dmr.pipeline.worklist import BadTriangles
from dmr.pipeline.workspace import Workspace
from dmr.results import Round

HISTORY_ROUNDS = 1024  # rounds of one run of the loop at most


class Entry(IntEnum):
    """What stands where in the progress array (`ProgressEntry` of cuda_src/rounds.cu)."""

    VERTICES = 0
    SLOTS = 1
    SUBSEGMENTS = 2
    BAD_LISTED = 3
    STAMP = 4
    ROUNDS = 5
    STOP = 6
    PRUNABLE = 7
    SELECTABLE = 8
    WINDOW = 9
    SCATTERED_BAD = 10
    SCATTERED_SUBSEGMENTS = 11
    CANDIDATES = 12
    SEGMENTS = 13
    TO_CLEAR = 14
    APPLIED = 15
    FRESH = 16
    NEW_VERTICES = 17
    NEW_SLOTS = 18
    NEW_SEGMENTS = 19
    OVERFLOWS = 20


class Stop(IntEnum):
    """Why the loop ended (`StopReason` of cuda_src/rounds.cu)."""

    GO_ON = 0
    NO_CANDIDATE = 1
    CANDIDATE_ROOM = 2
    WINNER_ROOM = 3
    LARGE_CAVITIES = 4
    ENOUGH_ROUNDS = 5


class Line(IntEnum):
    """A line of the history (`HistoryEntry` of cuda_src/rounds.cu): totals of the loop after a round."""

    GROWN = 0
    VERTICES_AFTER = 1
    LOST_CONFLICTS = 2
    BAD_AFTER = 3
    TRIANGLES_AFTER = 4
    NANOSECONDS = 5


@dataclass(frozen=True)
class Ended:
    """What one run of the loop did.

    Attributes:
        stop: why it ended; numbers: the progress; counted: the outcomes; history: (rounds, len(Line)) int64.
    """

    stop: Stop
    numbers: dict[Entry, int]
    counted: Tally
    history: NDArray[np.int64]

    def rounds(self, vertices: int, now: float) -> list[Round]:
        """The rounds, where there were so many vertices before them, and the last one has ended `now` (seconds)."""
        found, (grown, inserted, lost) = [], (0, vertices, 0)
        for line in self.history:
            found.append(
                Round(
                    attempted=int(line[Line.GROWN]) - grown,
                    inserted=int(line[Line.VERTICES_AFTER]) - inserted,
                    lost=int(line[Line.LOST_CONFLICTS]) - lost,
                    bad=int(line[Line.BAD_AFTER]),
                    triangles=int(line[Line.TRIANGLES_AFTER]),
                    seconds=now - 1e-9 * float(self.history[-1][Line.NANOSECONDS] - line[Line.NANOSECONDS]),
                )
            )
            grown, inserted, lost = (int(line[k]) for k in (Line.GROWN, Line.VERTICES_AFTER, Line.LOST_CONFLICTS))
        return found


class DeviceRounds:
    """The loop for one refinement; recorded again when an array that it uses was replaced."""

    def __init__(
        self, state: DeviceMesh, space: Workspace, bad: BadTriangles, quality: QualityCheck, balance: Balance,
        limits: Thresholds, small_mesh: int,
    ) -> None:  # fmt: skip
        self._state, self._space, self._bad, self._quality, self._balance = state, space, bad, quality, balance
        self._limits, self._small_mesh = limits, small_mesh
        self._marking = Deterministic()
        device = state.device
        self._progress = device.zeros(len(Entry), np.int32)
        self._counts = device.zeros(len(Outcome) + 1, np.int64)
        self._history = device.empty(HISTORY_ROUNDS * len(Line), np.int64)
        self._most_urgent = device.zeros(1, np.int32)
        self._candidate_room = 0
        self._recorded: Loop | None = None
        self._recorded_for: tuple[object, ...] = ()

    def run(self, stamp: int, most_rounds: int, most_vertices: int) -> Ended:
        """Runs rounds until one says stop.

        Args:
            stamp: that of the last step.
            most_rounds: rounds after which to stop; most_vertices: of the mesh, beyond which the host decides.
        """
        state, bad = self._state, self._bad
        self._make_room()
        loop = self._loop(min(most_rounds, HISTORY_ROUNDS), most_vertices)
        start = np.zeros(len(Entry), np.int32)
        start[Entry.VERTICES], start[Entry.SLOTS] = state.vertices, state.slots
        start[Entry.SUBSEGMENTS], start[Entry.BAD_LISTED] = state.subsegments_count, bad.count
        start[Entry.STAMP] = stamp
        self._progress.upload(start)
        self._counts.fill(0)
        loop.run()
        numbers = self._progress.download()
        history = self._history[: int(numbers[Entry.ROUNDS]) * len(Line)].download().reshape(-1, len(Line))
        named = {entry: int(numbers[entry]) for entry in Entry}
        return Ended(Stop(named[Entry.STOP]), named, Tally.of(self._counts), history)

    def cavities(self, ended: Ended) -> Cavities:
        """The cavities of a round that lacked room for its winners: grown and judged, not applied."""
        return replace(self._cavities(), count=ended.numbers[Entry.CANDIDATES], segments=ended.numbers[Entry.SEGMENTS])

    def more_candidates(self) -> None:
        """Makes room for more candidates in the next run."""
        self._candidate_room *= 2

    # ---- Room, and recording -----------------------------------------------------------------------------------------

    def _make_room(self) -> None:
        bad = self._bad
        self._candidate_room = max(self._candidate_room, 4096, bad.count // 3)
        bad.reserve(3 * bad.count + 2**14)

    def _loop(self, most_rounds: int, most_vertices: int) -> Loop:
        state, bad = self._state, self._bad
        arrays = (*state.addresses, *state.room, bad.slots.pointer, bad.slots.size, bad.spare.pointer)
        key = (most_rounds, most_vertices, self._candidate_room, arrays, self._space.version)
        if self._recorded is None or self._recorded_for != key:
            self._rehearse(most_rounds, most_vertices)
            self._recorded = state.device.loop(
                lambda: self._round(most_rounds, most_vertices), self._progress[Entry.STOP : Entry.STOP + 1]
            )
            self._recorded_for = (*key[:-1], self._space.version)
        return self._recorded

    def _rehearse(self, most_rounds: int, most_vertices: int) -> None:
        """A round over nothing: its kernels are loaded and its arrays are there when it is recorded."""
        nothing = np.zeros(len(Entry), np.int32)
        nothing[Entry.STOP] = Stop.ENOUGH_ROUNDS
        self._progress.upload(nothing)
        self._round(most_rounds, most_vertices)

    def _number(self, entry: Entry, bound: int) -> DeviceCount:
        return DeviceCount(self._progress[entry : entry + 1], bound)

    def _cavities(self) -> Cavities:
        room = self._candidate_room
        roots = self._space.array("roots", room, np.int32)
        count = self._number(Entry.CANDIDATES, room)
        return prepare(self._space, roots, count, self._number(Entry.SEGMENTS, room), ROOM)

    # ---- One round, as the host would do it --------------------------------------------------------------------------

    def _round(self, most_rounds: int, most_vertices: int) -> None:
        cavities = self._select()
        stamp = self._number(Entry.STAMP, LAST)
        grow(self._state, cavities, self._limits)
        self._marking.mark(self._state, cavities, stamp)
        needs, sizes = self._fit(cavities, most_vertices)
        applied = replace(cavities, count=self._number(Entry.APPLIED, cavities.capacity))
        fresh = self._space.array("fresh", self._bad.slots.size, np.int32)
        retriangulate(self._state, self._space, applied, needs, sizes, stamp, fresh)
        self._balance.check(self._quality, applied, needs, fresh)
        listed = self._number(Entry.BAD_LISTED, self._bad.slots.size)
        list_offsets = self._bad.append_unread(fresh, needs.fresh, listed)
        settle(self._state, applied)
        count_outcomes(applied, self._counts)
        self._state.device.launch(
            "end_round", 1, list_offsets, self._counts, most_rounds, self._history, self._progress
        )

    def _select(self) -> Cavities:
        """The candidates: subsegments that are to be split, or else bad triangles that no neighbour beats."""
        state, space, bad, launch = self._state, self._space, self._bad, self._state.device.launch
        listed = bad.slots.size
        subsegments = self._number(Entry.SUBSEGMENTS, state.subsegments.size)
        wishes, wish_offsets = flag_wishes(state, space, subsegments)
        launch("count_wishes", 1, wish_offsets, self._progress)
        kept = bad.prune_unread(self._number(Entry.PRUNABLE, listed))
        launch("choose_kind", 1, kept, self._small_mesh, self._most_urgent, self._progress)
        selectable, window = self._number(Entry.SELECTABLE, listed), self._number(Entry.WINDOW, listed)
        launch("copy_int32", selectable, bad.spare, bad.slots)
        flags = flag_unbeaten(state, space, bad.slots, selectable)
        keep_most_urgent(state, bad.slots, window, flags, self._most_urgent)
        offsets = scan(flags, selectable, out=space.array("candidate_offsets", listed + 1, np.int32))
        cavities = self._cavities()
        launch("begin_round", 1, offsets, cavities.capacity, self._progress)
        chosen = self._number(Entry.SCATTERED_SUBSEGMENTS, state.subsegments.size)
        launch("scatter_indices", chosen, wishes, wish_offsets, cavities.roots)
        chosen = self._number(Entry.SCATTERED_BAD, listed)
        launch("scatter_flagged", chosen, bad.slots, flags, offsets, cavities.roots)
        launch("clear_owners", self._number(Entry.TO_CLEAR, state.triangles.size), state.triangles)
        return cavities

    def _fit(self, cavities: Cavities, most_vertices: int) -> tuple[Needs, Sizes]:
        """What the winners need, if there is room for it; else the rest of the round has nothing to do."""
        state, number = self._state, self._number
        offsets = scan_needs(self._space, cavities)
        vertices, slots, subsegments = state.room
        vertices, slots = min(most_vertices, vertices), min(MOST_TRIANGLES, slots)
        room = (vertices, slots, subsegments, self._bad.slots.size)
        state.device.launch("fit_winners", 1, *offsets, *room, self._progress)
        needs = Needs(
            *offsets,
            vertices=number(Entry.NEW_VERTICES, vertices),
            slots=number(Entry.NEW_SLOTS, slots),
            fresh=number(Entry.FRESH, self._bad.slots.size),
            segments=number(Entry.NEW_SEGMENTS, cavities.capacity),
        )
        places = ((Entry.VERTICES, vertices), (Entry.SLOTS, slots), (Entry.SUBSEGMENTS, subsegments))
        sizes = Sizes(*(number(entry, bound) for entry, bound in places))
        return needs, sizes
