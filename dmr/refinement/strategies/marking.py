"""Conflict resolution between cavities: one strategy per class, all driven by the same host loop.

A strategy yields winners, step by step. Before each step the loop has grown or kept the cavities; after it the loop
retriangulates the winners, until the strategy has no more steps for this round. When the device drives the rounds,
`Deterministic.settle` is one of their steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from dmr.memory import DeviceArray, Number
from dmr.refinement.rounds.cavities import Cavities, count_needs, grow, undecided
from dmr.refinement.rounds.selection import Choice
from dmr.refinement.setup.thresholds import Thresholds
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.epochs import Epochs
from dmr.refinement.state.workspace import Workspace


class Marking(ABC):
    """A way to choose cavities that can be retriangulated at the same time.

    Attributes:
        choice: which bad triangles compete; claims: whether each cavity claims its triangles when it is grown, in the
            latest epoch.
    """

    choice = Choice.UNBEATEN
    claims = False

    @abstractmethod
    def steps(
        self, state: DeviceMesh, space: Workspace, cavities: Cavities, epochs: Epochs, limits: Thresholds
    ) -> Iterator[int]:
        """Sets `cavities.won` and `cavities.needs`, then yields the epoch in which the winners own their
        triangles, once per step.

        The caller retriangulates the winners before it requests the next step.
        """


def _begin_step(state: DeviceMesh, cavities: Cavities, epochs: Epochs) -> int:
    """Starts a step: returns its epoch, and makes the keys for it."""
    epoch = epochs.next(state)
    launch, count = state.device.launch, cavities.count
    launch("make_keys", count, state.view, cavities.view, cavities.segments, epoch)
    return epoch


def _mark_in_three_phases(state: DeviceMesh, cavities: Cavities, progress: DeviceArray | None) -> None:
    launch, count, marked = state.device.launch, cavities.count, (state.view, cavities.view)
    launch("mark_cavity", count, *marked)
    launch("remark_cavity", count, *marked)
    launch("check_marks", count, *marked, progress)


def _mark_by_maximum(state: DeviceMesh, cavities: Cavities) -> None:
    launch, count, marked = state.device.launch, cavities.count, (state.view, cavities.view)
    launch("mark_cavity_atomic", count, *marked)
    launch("check_marks", count, *marked, None)


def _no_progress(space: Workspace) -> DeviceArray:
    """Returns the cleared word that a cavity sets when it wins."""
    progress = space.array("progress", 1, np.int32)
    progress.fill(0)
    return progress


class Deterministic(Marking):
    """Each cavity owns its own triangles only, by atomic maximum of a unique key; neighbouring winners that commute are
    both retriangulated."""

    claims = True

    def steps(
        self, state: DeviceMesh, space: Workspace, cavities: Cavities, epochs: Epochs, limits: Thresholds
    ) -> Iterator[int]:
        """Yields one step per round."""
        self.resolve(state, cavities, epochs.last)
        yield epochs.last

    def resolve(self, state: DeviceMesh, cavities: Cavities, epoch: Number) -> None:
        """Sets `cavities.won` and `cavities.needs`, once all cavities have claimed their triangles."""
        launch, count = state.device.launch, cavities.count
        launch("check_ownership", count, state.view, cavities.view)
        for kernel in ("resolve_conflicts", "resolve_conflicts_exactly"):
            launch(kernel, count, state.view, cavities.view, epoch)
        count_needs(cavities)


class ThreePhase(Marking):
    """The baseline, after Nasre, Burtscher and Pingali (2013): one stage of three phases, without atomics. All cavities
    mark their triangles with plain stores; those that find no mark of higher priority on any of their triangles mark
    them again; those that own all their triangles win. If the races leave no such cavity, one is forced.

    Plain stores race: which cavities win differs from run to run, and so do the meshes.
    """

    choice = Choice.EVERYONE

    def steps(
        self, state: DeviceMesh, space: Workspace, cavities: Cavities, epochs: Epochs, limits: Thresholds
    ) -> Iterator[int]:
        """Yields one step per round."""
        epoch = _begin_step(state, cavities, epochs)
        progress = _no_progress(space)
        self._mark(state, cavities, progress)
        state.device.launch("force_one", 1, cavities.view, cavities.count, progress)
        count_needs(cavities)
        yield epoch

    def _mark(self, state: DeviceMesh, cavities: Cavities, progress: DeviceArray) -> None:
        """Launches three kernels: the end of each is the barrier that its phase needs."""
        _mark_in_three_phases(state, cavities, progress)


class ThreePhaseBarrier(ThreePhase):
    """The same phases in one kernel, as published: a barrier of all threads separates the phases, so that only as many
    threads can take part as run at once.
    """

    def _mark(self, state: DeviceMesh, cavities: Cavities, progress: DeviceArray) -> None:
        """Makes one cooperative launch."""
        state.device.launch("mark_in_three_phases", cavities.count, state.view, cavities.view, progress)


class TwoStage(Marking):
    """The thesis' Algorithm 2. Stage one: 3-phase marking with plain stores. Stage two: cavities that lost are checked,
    rebuilt if they were damaged, and marked by atomic maximum, until no cavity is left unprocessed.

        markCavity_kernel        grow (by the host loop), then mark_cavity
        re-markCavity_kernel     remark_cavity
        retriangulation_kernel   check_marks, then retriangulate (by the host loop)
        checkCavity_kernel       check_cavity, then grow of what was damaged
        markCavityAtomic_kernel  mark_cavity_atomic

    The thesis gives the smallest thread number priority; here the largest key has it.

    Plain stores race: which cavities win the first stage differs from run to run, and so do the meshes.
    """

    choice = Choice.EVERYONE

    def steps(
        self, state: DeviceMesh, space: Workspace, cavities: Cavities, epochs: Epochs, limits: Thresholds
    ) -> Iterator[int]:
        """Yields one step of stage one, then steps of stage two while undecided cavities are left."""
        epoch = _begin_step(state, cavities, epochs)
        self._mark_first_stage(state, cavities)
        count_needs(cavities)
        yield epoch
        while True:
            launch, count = state.device.launch, cavities.count
            launch("check_cavity", count, state.view, cavities.view, cavities.segments, epoch)
            grow(state, cavities, limits, only_damaged=True)
            if undecided(space, cavities) == 0:
                return
            epoch = _begin_step(state, cavities, epochs)
            _mark_by_maximum(state, cavities)
            count_needs(cavities)
            yield epoch

    def _mark_first_stage(self, state: DeviceMesh, cavities: Cavities) -> None:
        """Marks without atomics."""
        _mark_in_three_phases(state, cavities, None)


class Atomic(TwoStage):
    """Algorithm 2 with atomic marking in both stages. Without races, equal runs give equal meshes."""

    def _mark_first_stage(self, state: DeviceMesh, cavities: Cavities) -> None:
        """Marks by atomic maximum."""
        _mark_by_maximum(state, cavities)


MARKINGS: dict[str, type[Marking]] = {
    "deterministic": Deterministic,
    "two-stage": TwoStage,
    "atomic": Atomic,
    "three-phase": ThreePhase,
    "three-phase-barrier": ThreePhaseBarrier,
}
