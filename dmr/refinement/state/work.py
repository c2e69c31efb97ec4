"""The data and settings of a refinement's rounds, shared by both drivers."""

from __future__ import annotations

from dataclasses import dataclass

from dmr.common.clock import Clock
from dmr.refinement.rounds.quality_check import QualityCheck
from dmr.refinement.rounds.selection import Competition
from dmr.refinement.setup.thresholds import Thresholds
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.epochs import Epochs
from dmr.refinement.state.progress import RoundProgress
from dmr.refinement.state.statistics import Statistics
from dmr.refinement.state.worklist import BadTriangles
from dmr.refinement.state.workspace import Workspace
from dmr.refinement.strategies.balancing import Balance
from dmr.refinement.strategies.marking import Marking

# Returned by a driver that found no candidate; other reasons are those that stop a run ("budget", ...).
NOTHING_LEFT = "nothing left"


@dataclass(frozen=True)
class Work:
    """Data and settings for either driver of the rounds.

    Attributes:
        state: the mesh on its device; space: scratch arrays there; bad: the triangles to refine.
        expected: estimated number of triangles that the area bounds need.
        limits: the bounds; small_mesh: up to this many triangles, a round takes its candidates from the shortest edges
            only; budget: how many points the run may insert.
        competition: which bad triangles compete.
        marking: how conflicts between cavities are resolved; quality: the check of new triangles; balance: its
            distribution.
        stamps: the epochs of the steps; progress: the numbers of a round, on the device.
        ledger: the statistics; clock: the time of each phase.
    """

    state: DeviceMesh
    space: Workspace
    bad: BadTriangles
    expected: int
    limits: Thresholds
    small_mesh: int
    budget: int
    competition: Competition
    marking: Marking
    quality: QualityCheck
    balance: Balance
    epochs: Epochs
    progress: RoundProgress
    statistics: Statistics
    clock: Clock

    @property
    def points_left(self) -> int:
        """The number of points that may still be inserted."""
        return self.budget - self.statistics.inserted

    def close_round(self) -> None:
        """Adds the round to the statistics."""
        self.statistics.close_round(self.bad.count, self.state.slots)
