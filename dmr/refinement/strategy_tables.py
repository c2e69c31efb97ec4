"""The strategies that a user can name: one entry each, for options, help texts and the runs themselves.

Nothing here imports numpy: the command line needs the names and summaries quickly. A class is imported when it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """A strategy that a user can name.

    Attributes:
        summary: for `dmr refine --help`, where a line fits 80 columns; ends with "races" if equal runs may differ.
        implementation: its class, as module.name in `dmr.refinement.strategies`.
        gpu_modules: modules of `cuda_src` that only this strategy uses, compiled before a run.
        launches_children: whether its kernels launch kernels, which needs a GPU, and the host to drive the rounds: a
            graph that launches itself may not contain such kernels.
    """

    summary: str
    implementation: str
    gpu_modules: tuple[str, ...] = ()
    launches_children: bool = False

    def load(self) -> Any:
        """Imports and returns the class."""
        module, name = self.implementation.split(".")
        return getattr(import_module(f"dmr.refinement.strategies.{module}"), name)


# The first entry of each table is the default.
MARKINGS = {
    "deterministic": Strategy(
        summary="one stage, by atomic maximum: same bits everywhere",
        implementation="marking.Deterministic",
    ),
    "two-stage": Strategy(
        summary="by plain stores, then the losers by atomic maximum; races",
        implementation="marking.TwoStage",
    ),
    "atomic": Strategy(
        summary="two stages, both by atomic maximum: same bits everywhere",
        implementation="marking.Atomic",
    ),
    "three-phase": Strategy(
        summary="one stage, by plain stores; races",
        implementation="marking.ThreePhase",
    ),
    "three-phase-literal": Strategy(
        summary="the same, re-marking as printed: many more rounds; races",
        implementation="marking.ThreePhaseLiteral",
    ),
    "three-phase-barrier": Strategy(
        summary="three-phase in one kernel, with barriers; races",
        implementation="marking.ThreePhaseBarrier",
        gpu_modules=("refine/marking/three_phases",),
    ),
}

BALANCES = {
    "work-stealing": Strategy(
        summary="all threads, each with an equal share of one list",
        implementation="balancing.WorkStealing",
    ),
    "none": Strategy(
        summary="the thread that created them",
        implementation="balancing.OwnTriangles",
    ),
    "child-launch": Strategy(
        summary="kernels launched from the device, for many cavities",
        implementation="balancing.ChildLaunch",
        gpu_modules=("refine/quality/child_launch",),
        launches_children=True,
    ),
    "child-launch-per-cavity": Strategy(
        summary="kernels launched from the device, for one cavity each",
        implementation="balancing.ChildLaunchPerCavity",
        gpu_modules=("refine/quality/child_launch",),
        launches_children=True,
    ),
}
