"""Conflict resolution between cavities: one strategy per class (thesis, 5.1 and 5.4).

A strategy is given the cavities of a pass once they are grown (`begin`). Each `next` chooses cavities that can be
retriangulated at the same time, and expects that this is done before the following call. The device records the steps
of `Deterministic`, to drive the rounds by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from dmr.memory import Argument, DeviceArray
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.workspace import Workspace
from dmr.refinement.steps.cavities import Cavities, Winners, count_needs, grow, resolve_conflicts, undecided
from dmr.refinement.steps.selection import Choice
from dmr.refinement.steps.thresholds import Thresholds
from dmr.triangulation.rounds.epochs import Epochs


class Marking(ABC):
    """A way to choose cavities that can be retriangulated at the same time.

    Attributes:
        choice: which bad triangles compete; claims: whether each cavity claims its triangles when it is grown, in the
            epoch of the cavities.
    """

    choice = Choice.UNBEATEN
    claims = False

    def __init__(self, state: DeviceMesh, space: Workspace, epochs: Epochs, limits: Thresholds) -> None:
        self._state, self._space, self._epochs, self._limits = state, space, epochs, limits

    @abstractmethod
    def begin(self, cavities: Cavities) -> None:
        """Starts a pass with cavities that have just been grown."""

    @abstractmethod
    def next(self) -> Winners | None:
        """Sets `won` and `needs` of the cavities, and returns the winners; None if the pass is over."""

    def _begin_epoch(self, cavities: Cavities) -> int:
        """Starts an epoch: returns it, and makes the keys of the cavities for it."""
        epoch = self._epochs.next(self._state)
        self._launch("make_keys", cavities, cavities.segments, epoch)
        return epoch

    def _mark_in_three_phases(
        self, cavities: Cavities, progress: DeviceArray | None, remark: str = "remark_cavity"
    ) -> None:
        self._launch("mark_cavity", cavities)
        self._launch(remark, cavities)
        self._launch("check_marks", cavities, progress)

    def _mark_by_maximum(self, cavities: Cavities) -> None:
        self._launch("mark_cavity_atomic", cavities)
        self._launch("check_marks", cavities, None)

    def _launch(self, kernel: str, cavities: Cavities, *arguments: Argument) -> None:
        """Runs a kernel over the cavities."""
        self._state.device.launch(kernel, cavities.count, self._state.view, cavities.view, *arguments)


class OneStage(Marking):
    """One set of winners per pass."""

    _cavities: Cavities | None = None

    def begin(self, cavities: Cavities) -> None:
        """Implements `Marking.begin`."""
        self._cavities = cavities

    def next(self) -> Winners | None:
        """Implements `Marking.next`."""
        cavities, self._cavities = self._cavities, None
        if cavities is None:
            return None
        winners = self._choose(cavities)
        self._count_needs(cavities)
        return winners

    @abstractmethod
    def _choose(self, cavities: Cavities) -> Winners:
        """Sets `won` of the cavities."""

    def _count_needs(self, cavities: Cavities) -> None:
        """Sums what the winners need."""
        count_needs(cavities)


class Deterministic(OneStage):
    """Each cavity owns its own triangles only, by atomic maximum of a unique key; neighbouring winners that commute are
    both retriangulated."""

    claims = True

    def _choose(self, cavities: Cavities) -> Winners:
        self._launch("check_ownership", cavities)
        resolve_conflicts(self._state, cavities)
        return Winners(cavities, cavities.epoch)

    def _count_needs(self, cavities: Cavities) -> None:
        """Does nothing: `resolve_conflicts` has summed the needs, too."""


class ThreePhase(OneStage):
    """The baseline, after Nasre, Burtscher and Pingali (2013): one stage of three phases, without atomics. All cavities
    mark their triangles with plain stores; those that find no mark of higher priority on any of their triangles mark
    them again; those that own all their triangles win. If the races leave no such cavity, one is forced.

    Plain stores race: which cavities win differs from run to run, and so do the meshes.
    """

    choice = Choice.EVERYONE

    def _choose(self, cavities: Cavities) -> Winners:
        epoch = self._begin_epoch(cavities)
        progress = self._space.array("progress", 1, np.int32)  # the word that a cavity sets when it wins
        progress.fill(0)
        self._mark(cavities, progress)
        self._state.device.launch("force_one", 1, cavities.view, cavities.count, progress)
        return Winners(cavities, epoch)

    def _mark(self, cavities: Cavities, progress: DeviceArray) -> None:
        """Launches three kernels: the end of each is the barrier that its phase needs."""
        self._mark_in_three_phases(cavities, progress)


class ThreePhaseLiteral(ThreePhase):
    """The same with re-marking as the thesis prints it (section 5.4, Algorithm 2): a cavity overwrites every mark of
    lower priority, even if it has found one of higher priority. Clusters of cavities then often have no winner, so
    it takes many more rounds.
    """

    def _mark(self, cavities: Cavities, progress: DeviceArray) -> None:
        """Launches three kernels."""
        self._mark_in_three_phases(cavities, progress, remark="remark_cavity_literally")


class ThreePhaseBarrier(ThreePhase):
    """The same phases in one kernel, as published: a barrier of all threads separates the phases, so that only as many
    threads can take part as run at once.
    """

    def _mark(self, cavities: Cavities, progress: DeviceArray) -> None:
        """Makes one cooperative launch."""
        self._launch("mark_in_three_phases", cavities, progress)


class TwoStage(Marking):
    """The thesis' Algorithm 2. Stage one: 3-phase marking with plain stores. Stage two: cavities that lost are checked,
    rebuilt if they were damaged, and marked by atomic maximum, until no cavity is left unprocessed.

        markCavity_kernel        grow (by the loop), then mark_cavity
        re-markCavity_kernel     remark_cavity
        retriangulation_kernel   check_marks, then retriangulate (by the loop)
        checkCavity_kernel       check_cavity, then grow of what was damaged
        markCavityAtomic_kernel  mark_cavity_atomic

    The thesis gives the smallest thread number priority; here the largest key has it.

    Plain stores race: which cavities win the first stage differs from run to run, and so do the meshes.
    """

    choice = Choice.EVERYONE

    def begin(self, cavities: Cavities) -> None:
        """Implements `Marking.begin`."""
        self._cavities = cavities
        self._epoch = 0  # of the last winners of this pass

    def next(self) -> Winners | None:
        """Implements `Marking.next`: one step of stage one, then of stage two while undecided cavities are left."""
        cavities = self._cavities
        if self._epoch == 0:
            self._epoch = self._begin_epoch(cavities)
            self._mark_first_stage(cavities)
        else:
            self._launch("check_cavity", cavities, cavities.segments, self._epoch)
            grow(self._state, cavities, self._limits, only_damaged=True)
            if undecided(self._space, cavities) == 0:
                return None
            self._epoch = self._begin_epoch(cavities)
            self._mark_by_maximum(cavities)
        count_needs(cavities)
        return Winners(cavities, self._epoch)

    def _mark_first_stage(self, cavities: Cavities) -> None:
        """Marks without atomics."""
        self._mark_in_three_phases(cavities, None)


class Atomic(TwoStage):
    """Algorithm 2 with atomic marking in both stages. Without races, equal runs give equal meshes."""

    def _mark_first_stage(self, cavities: Cavities) -> None:
        """Marks by atomic maximum."""
        self._mark_by_maximum(cavities)
