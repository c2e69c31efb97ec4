"""What the rounds of a refinement work on and go by, whoever drives them."""

from __future__ import annotations

from dataclasses import dataclass

from dmr.pipeline.balancing import Balance
from dmr.pipeline.checking import QualityCheck
from dmr.pipeline.clock import Clock
from dmr.pipeline.device_mesh import DeviceMesh
from dmr.pipeline.ledger import Ledger
from dmr.pipeline.marking import Marking
from dmr.pipeline.progress import RoundProgress
from dmr.pipeline.selecting import Competition
from dmr.pipeline.stamps import Stamps
from dmr.pipeline.thresholds import Thresholds
from dmr.pipeline.worklist import BadTriangles
from dmr.pipeline.workspace import Workspace

# Why a driver has no further round, beside what stops a run ("budget", ...): it found no candidate.
NOTHING_LEFT = "nothing left"


@dataclass(frozen=True)
class Work:
    """What both drivers are given.

    Attributes:
        state: the mesh on its device; space: scratch arrays there; bad: the triangles that are to be refined.
        expected: about how many triangles the area bounds ask for.
        limits: the bounds; small_mesh: up to so many triangles a round takes its candidates from the shortest edges
            only; budget: how many points the run may insert.
        competition: which bad triangles compete.
        marking: how cavities settle their conflicts; quality: the check of new triangles; balance: who does it.
        stamps: the numbers of steps; progress: the numbers of a round, on the device.
        ledger: what is counted; clock: what takes how long.
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
    stamps: Stamps
    progress: RoundProgress
    ledger: Ledger
    clock: Clock

    @property
    def points_left(self) -> int:
        """How many more points may be inserted."""
        return self.budget - self.ledger.inserted

    def close_round(self) -> None:
        """Enters the round in the books, with what it left."""
        self.ledger.close_round(self.bad.count, self.state.slots)
