"""The strategies that a user can name: one entry each, for options, help texts and the runs themselves.

Nothing here imports numpy: the command line needs the names and summaries quickly. A class is imported when it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Strategy:
    """A strategy that a user can name.

    Attributes:
        implementation: its class, as module.name in `dmr.refinement.strategies`.
        summary: for `dmr refine --help`, where a line fits 80 columns; ends with "races" if equal runs may differ.
        gpu_modules: modules of `cuda_src` that only this strategy uses, compiled before a run.
        launches_children: whether its kernels launch kernels, which needs a GPU, and the host to drive the rounds: a
            graph that launches itself may not contain such kernels.
    """

    implementation: str
    summary: str
    gpu_modules: tuple[str, ...] = ()
    launches_children: bool = False

    @property
    def races(self) -> bool:
        """Whether the meshes of equal runs may differ."""
        return self.summary.endswith("races")

    def load(self) -> Any:
        """Imports and returns the class."""
        return _implementation(self.implementation)


@cache
def _implementation(path: str) -> Any:
    module, name = path.split(".")
    return getattr(import_module(f"dmr.refinement.strategies.{module}"), name)


# The first entry of each table is the default.
MARKINGS = {
    "deterministic": Strategy("marking.Deterministic", "one stage, by atomic maximum: same bits everywhere"),
    "two-stage": Strategy("marking.TwoStage", "by plain stores, then the losers by atomic maximum; races"),
    "atomic": Strategy("marking.Atomic", "two stages, both by atomic maximum: same bits everywhere"),
    "three-phase": Strategy("marking.ThreePhase", "one stage, by plain stores; races"),
    "three-phase-literal": Strategy(
        "marking.ThreePhaseLiteral", "the same, re-marking as printed: many more rounds; races"
    ),
    "three-phase-barrier": Strategy(
        "marking.ThreePhaseBarrier",
        "three-phase in one kernel, with barriers; races",
        gpu_modules=("refine/marking/three_phases",),
    ),
}

_CHILDREN: dict[str, Any] = {"gpu_modules": ("refine/quality/child_launch",), "launches_children": True}
BALANCES = {
    "work-stealing": Strategy("balancing.WorkStealing", "equal shares of one list (CPU: what each thread made)"),
    "none": Strategy("balancing.OwnTriangles", "one thread for all new triangles of a cavity"),
    "child-launch": Strategy(
        "balancing.ChildLaunch", "kernels launched from the device, for many cavities", **_CHILDREN
    ),
    "child-launch-per-cavity": Strategy(
        "balancing.ChildLaunchPerCavity", "kernels launched from the device, for one cavity each", **_CHILDREN
    ),
}
