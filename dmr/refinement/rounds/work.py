"""The data and settings of a refinement's rounds, for both drivers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dmr.common.clock import Clock
from dmr.refinement.rounds.budget import Budget
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.progress import RoundProgress
from dmr.refinement.state.result_memory import ResultMemory
from dmr.refinement.state.statistics import Statistics
from dmr.refinement.state.worklist import BadTriangles
from dmr.refinement.state.workspace import Workspace
from dmr.refinement.steps.known_sizes import KnownSizes
from dmr.refinement.steps.quality_check import QualityCheck
from dmr.refinement.steps.selection import Competition
from dmr.refinement.steps.thresholds import Thresholds
from dmr.refinement.strategies.balancing import Balance
from dmr.refinement.strategies.marking import Marking
from dmr.triangulation.rounds.epochs import Epochs


@dataclass(frozen=True, kw_only=True)
class Work:
    """Data and settings of the rounds of one stage. All stages of a refinement share the data.

    Attributes:
        limits: the bounds of the stage; quality: the check of triangles against them.
        state: the mesh on its device; space: scratch arrays there; bad: the triangles to refine.
        expected: estimated number of triangles that the area bounds need.
        small_mesh: up to this many triangles, a round takes its candidates from the shortest edges only.
        budget: the limit on points; competition: which bad triangles compete.
        marking: how conflicts between cavities are resolved; balance: how checks of new triangles are distributed.
        epochs: the epochs of the steps; progress: the numbers of a round, on the device.
        statistics: the statistics of the refinement; clock: the time of each phase.
        memory: the host's memory for the result.
    """

    limits: Thresholds
    quality: QualityCheck
    state: DeviceMesh
    space: Workspace
    bad: BadTriangles
    expected: int
    small_mesh: int
    budget: Budget
    competition: Competition
    marking: type[Marking]
    balance: Balance
    epochs: Epochs
    progress: RoundProgress
    statistics: Statistics
    clock: Clock
    memory: ResultMemory

    @property
    def points_left(self) -> int:
        """The number of points that may still be inserted."""
        return self.budget.limit - self.statistics.inserted

    def with_limits(self, limits: Thresholds, *, sized: bool = True) -> Work:
        """Returns the work of a stage with other limits, and with bounds by place only if `sized`."""
        return replace(self, limits=limits, quality=self.quality.with_limits(limits, sized=sized))

    def check_all(self) -> None:
        """Checks all triangles of the mesh, and with them all subsegments; lists the bad ones."""
        state, bad, count = self.state, self.bad, self.state.slots
        with self.clock.phase("check"):
            everything = self.space.array("fresh", count, np.int32)
            state.device.launch("fill_indices", count, everything)
            self.quality.check(everything, count)
            bad.extend(everything, count)
            state.reserve_for(bad.count, self.expected)

    def prepare_result(self) -> None:
        """Makes memory of the host ready for the result; called while the device works."""
        self.memory.prepare(self.state.slots, self.bad.count, self.points_left)

    def check_exactly(self, known: KnownSizes) -> bool:
        """Evaluates the exact bounds of new triangles, and checks these; returns whether any of them is bad."""
        with self.clock.phase("check"):
            slots, count = known.evaluate()
            self.quality.check(slots, count)
            self.bad.extend(slots, count)
        return self.bad.count > 0

    def close_round(self) -> None:
        """Adds a round that the host has driven to the statistics."""
        self.statistics.close_round(self.bad.count, self.state.slots)
