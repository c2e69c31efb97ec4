"""Rounds of moves and flips that make the angles of a finished mesh better.

    survey the angles                            the mean, and the smallest angle that moves must keep
    repeat:
        move vertices                            in independent sets                     (moves)
        flip edges                               until the mesh is constrained Delaunay  (setup/flips)
        check the triangles that have changed    against all bounds                      (steps/quality_check)
        repeat the flips                         without the moves around triangles that violate a bound
    undo the round                           if the mean has not grown

No angle gets smaller than the smallest angle of the mesh before: a move that makes one is not made, and the flips of
Lawson's algorithm never make the smaller one of two smallest angles worse. A flip can make a larger triangle or a
longer edge, however. Then the flips are undone, the vertices around such triangles are fixed where they were before,
and the edges are flipped again. The triangles that the refinement had to leave below a bound keep their corners.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dmr.memory import DeviceArray, compact, flagged_indices, minmax_float64, sum_float64
from dmr.refinement.optimization.moves import Mover
from dmr.refinement.optimization.snapshot import Snapshot
from dmr.refinement.results import Smoothing
from dmr.refinement.setup.flips import make_delaunay
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.steps.local_bounds import LocalBounds
from dmr.refinement.steps.quality_check import QualityCheck
from dmr.refinement.steps.thresholds import MARGIN, Thresholds
from dmr.triangulation.rounds.epochs import Epochs

LEAST_GAIN = 0.01  # degrees of the mean; a round that gains less is the last one
MOST_REPEATS = 32  # of the flips of a round, each with more vertices fixed


def optimize_mesh(
    state: DeviceMesh,
    quality: QualityCheck,
    limits: Thresholds,
    epochs: Epochs,
    *,
    keeps_input: bool,
    rounds: int,
    is_over: Callable[[], bool] = lambda: False,
    report: Callable[[float], object] | None = None,
) -> Smoothing:
    """Optimises a constrained Delaunay mesh whose triangles have all been checked.

    Args:
        state: the mesh on its device; only its arrays are changed.
        quality, limits: the check of triangles against the bounds, and the bounds that moves respect.
        epochs: the epochs of the flips.
        keeps_input: whether all input vertices keep their places; otherwise those on segments do.
        rounds: the most rounds.
        is_over: whether no further round may begin.
        report: called with the part of the work that is done, estimated.
    """
    return _Optimizer(state, quality, limits, epochs, keeps_input, Forecast(rounds, report)).run(rounds, is_over)


class Forecast:
    """Reports which part of an optimisation is done.

    Gains decrease geometrically, which tells in which round they fall below the least. Before the first gain, few
    rounds are expected if the angles are good.
    """

    MOVES = 0.6  # share of the moves in a round; the rest are flips and checks
    GOOD, FEW = 57.0, 2  # mean smallest angle; rounds
    USUAL = 2.5  # gain of a round over that of the next one

    def __init__(self, rounds: int, report: Callable[[float], object] | None) -> None:
        self._most, self._report = rounds, report
        self._done, self._expected, self._gain = 0, float(rounds), math.inf

    def begin(self, mean: float) -> None:
        """Is called before the first round, with the mean smallest angle."""
        if mean > self.GOOD:
            self._expected = min(self.FEW, self._most)

    def moved(self, part: float) -> None:
        """Is called during the moves of a round, of which a part is done."""
        self._tell(self.MOVES * part)

    def checked(self, times: int) -> None:
        """Is called after checks in a round, of which others may follow."""
        self._tell(1.0 - (1.0 - self.MOVES) * 0.7**times)

    def ended(self, gain: float) -> None:
        """Is called after a round, with what the mean angle has gained."""
        self._done += 1
        if 0.0 < gain < self._gain:
            ratio = self._gain / gain if self._done > 1 else self.USUAL
            more = math.log(max(gain / LEAST_GAIN, 1.0)) / math.log(ratio)
            self._expected = min(self._done + more, self._most)
        self._gain = gain
        self._tell(0.0)

    def finished(self) -> None:
        """Is called at the end."""
        if self._report is not None:
            self._report(1.0)

    def _tell(self, part: float) -> None:
        if self._report is not None:
            self._report(min((self._done + part) / max(self._expected, self._done + 1.0), 1.0))


class _Optimizer:
    """One optimisation: the mesh, its copy, and the arrays of the checks."""

    def __init__(
        self,
        state: DeviceMesh,
        quality: QualityCheck,
        limits: Thresholds,
        epochs: Epochs,
        keeps_input: bool,
        forecast: Forecast,
    ) -> None:
        self._state, self._quality, self._epochs, self._device = state, quality, epochs, state.device
        self._forecast = forecast
        self._mover = Mover(state, limits, keeps_input)
        self._snapshot = Snapshot(state)
        self._flags = state.device.empty(state.slots, np.int32)
        self._degrees = state.device.empty(state.slots, np.float64)
        self._cotangents = state.device.empty(state.slots, np.float64)
        self._repeated = 0

    def run(self, rounds: int, is_over: Callable[[], bool]) -> Smoothing:
        everything = self._device.empty(self._state.slots, np.int32)
        self._device.launch("fill_indices", self._state.slots, everything)
        unrefined, count = self._violations(everything, self._state.slots)
        self._mover.fix_corners(unrefined, count)
        local = self._local_bounds(everything)
        before = mean = self._mean_angle()
        self._forecast.begin(mean)
        steepest = minmax_float64(self._cotangents)[1] * (1.0 - MARGIN)
        kept = moves = flips = 0
        while kept < rounds and not is_over():
            moved, flipped, reached = self._round(kept, steepest, local, mean)
            if not moved:
                break
            kept, moves, flips = kept + 1, moves + moved, flips + flipped
            gain, mean = reached - mean, reached
            self._forecast.ended(gain)
            if gain < LEAST_GAIN:
                break
        self._forecast.finished()
        return Smoothing(
            rounds=kept,
            moves=moves,
            flips=flips,
            repeated=self._repeated,
            mean_min_angle_before=before,
            mean_min_angle=mean,
        )

    def _local_bounds(self, everything: DeviceArray) -> LocalBounds[DeviceArray]:
        """Returns the bounds of each triangle that depend on the place."""

        def kept(found: DeviceArray) -> DeviceArray:
            values = self._device.empty(self._state.slots, np.float64)
            values.copy_from(found[: values.size])
            return values

        return self._quality.local_bounds(everything, self._state.slots).map(kept)

    def _round(
        self, number: int, steepest: float, local: LocalBounds[DeviceArray], mean: float
    ) -> tuple[int, int, float]:
        """Runs a round.

        Returns:
            Vertices moved, edges flipped, and the new mean angle; no move if the round was undone.
        """
        self._snapshot.take()
        self._mover.sweep(number, steepest, local, self._forecast.moved)
        for repeats in range(MOST_REPEATS):
            if not self._fix_spoilt(steepest):
                break
            flipped = make_delaunay(self._state, self._epochs)
            violating, count = self._check_changed()
            if count == 0:
                moved, reached = self._mover.count_moved(), self._mean_angle()
                if moved and reached > mean:
                    return moved, flipped, reached
                break
            self._repeated += 1
            self._forecast.checked(repeats + 1)
            self._fix_around(violating, count)
            self._snapshot.undo_flips(self._epochs)
            self._mover.take_back(self._snapshot)
        self._snapshot.undo(self._epochs)
        return 0, 0, mean

    def _fix_spoilt(self, steepest: float) -> bool:
        """Takes moves back until no triangle is worse than it may be; returns whether that was possible.

        Moves do not spoil triangles, but if only some moves of a round are taken back, others may no longer fit.
        """
        for _ in range(MOST_REPEATS):
            arrays = self._state.triangles, self._state.points, self._mover.moved
            self._device.launch("flag_spoilt", self._state.slots, *arrays, steepest, self._flags)
            spoilt, count = flagged_indices(self._flags)
            if count == 0:
                return True
            self._mover.fix_corners(spoilt, count)
            self._mover.take_back(self._snapshot)
        return False

    def _mean_angle(self) -> float:
        """Returns the mean smallest angle in degrees; also computes the cotangents of those of refined triangles."""
        state = self._state
        self._device.launch(
            "survey_angles", state.slots, state.triangles, state.points, state.quality, self._degrees, self._cotangents
        )
        return sum_float64(self._degrees) / state.slots

    def _check_changed(self) -> tuple[DeviceArray, int]:
        """Checks the triangles that the round has changed; returns those that violate a bound."""
        state, flags = self._state, self._flags
        before, moved = self._snapshot.of("triangles"), self._mover.moved
        self._device.launch("flag_changed", state.slots, before, state.triangles, moved, flags)
        changed, count = flagged_indices(flags)
        self._quality.check_moved(changed, count)
        return self._violations(changed, count)

    def _violations(self, listed: DeviceArray, count: int) -> tuple[DeviceArray, int]:
        """Returns those of the listed triangles that violate a bound, or have a subsegment that is to be split."""
        flags = self._device.empty(count, np.int32)
        self._device.launch("flag_violations", count, self._state.view, listed, flags)
        return compact(listed, flags, count)

    def _fix_around(self, listed: DeviceArray, count: int) -> None:
        """Fixes the corners of listed triangles and of their neighbours."""
        neighbours = self._device.empty(3 * count, np.int32)
        self._device.launch("list_neighbours", count, self._state.triangles, listed, neighbours)
        self._mover.fix_corners(listed, count)
        self._mover.fix_corners(neighbours, 3 * count)
