"""Whole rounds in one kernel: by one team, or by several teams with barriers between them.

Small rounds need no launch per step: one team runs as many of them as there are
(`cuda_src/refine/rounds/single_block_rounds.cu`). On a GPU, several teams run larger ones
(`cuda_src/refine/rounds/persistent_rounds.cu`).
"""

from __future__ import annotations

from dmr.memory import pack
from dmr.refinement.rounds.recorded_steps import RoundArrays
from dmr.refinement.rounds.work import Work
from dmr.refinement.state.worklist import appended_sums
from dmr.refinement.steps.retriangulation import inheritance
from dmr.refinement.steps.selection import survey_sums

# Limits of the rounds that one team runs; beyond them many teams are faster. A CPU thread processes one cavity after
# the other: the more threads there are to take part, the lower the limits, down to those of many threads.
SINGLE_BLOCK_ON_GPU = {"candidates": 64, "listed": 1024, "subsegments": 2**14}
SINGLE_BLOCK_ON_ONE_THREAD = {"candidates": 1024, "listed": 2**13, "subsegments": 2**18}
SINGLE_BLOCK_ON_THREADS = {"candidates": 128, "listed": 1024, "subsegments": 2**14}

# Limits of a pass with large records. Few triangles wait for such records, however long the list is: one team reads it
# in less time than it takes to launch a kernel per step.
PASS_ON_GPU = {"candidates": 256, "listed": 2**13, "subsegments": 2**17}
PASS_ON_CPU = {"listed": 2**16, "subsegments": 2**20}  # candidates as in rounds by one team

# Limits of the rounds that several teams run with barriers; beyond them a kernel per step is faster. A CPU would have
# to start its threads for them.
PERSISTENT_ON_GPU = {"listed": 2**17, "candidates": 32, "few_listed": 1024}
PERSISTENT_ON_CPU: dict[str, int] | None = None


class TeamRounds:
    """Launches the kernels that run whole rounds."""

    def __init__(self, work: Work) -> None:
        self._work = work

    @property
    def available(self) -> bool:
        """Whether kernels can run whole rounds: not if sizes are evaluated between their steps."""
        return not self._work.quality.evaluates_bounds

    @property
    def several_teams(self) -> dict[str, int] | None:
        """Limits of the rounds that several teams run; None if they run none."""
        return PERSISTENT_ON_GPU if self._work.state.device.threads == 0 else PERSISTENT_ON_CPU

    def by_one_team(self, arrays: RoundArrays) -> None:
        """Launches the kernel of one team, which runs as many rounds as it can."""
        self._launch("single_block_rounds", arrays, self._one_team)

    def large_pass(self, level: int, arrays: RoundArrays) -> None:
        """Launches the kernel of one team for a pass with large records; it does nothing if another pass is due."""
        limits = PASS_ON_GPU if self._work.state.device.threads == 0 else PASS_ON_CPU
        self._launch("large_passes", arrays, {**self._one_team, **limits}, level)

    def by_several_teams(self, arrays: RoundArrays) -> None:
        """Launches the kernel of several teams, which runs as many rounds as pay, if it is in use."""
        if self.several_teams is None:
            return
        work, state, device = self._work, self._work.state, self._work.state.device
        cavities, capacity = arrays.cavities, arrays.capacity
        inherited = inheritance(state, work.space, capacity.bad)
        requested, surveyed = survey_sums(work.space)
        device.launch(
            "persistent_rounds", device.most_pieces, state.view, work.limits.view, cavities.view, capacity.view,
            pack("Persistent", **self.several_teams), work.small_mesh, *work.bad.buffers, cavities.records.roots,
            arrays.fresh, inherited, work.bad.flags(capacity.bad), requested, surveyed, cavities.records.needs,
            appended_sums(work.space), arrays.counts, arrays.history, work.progress.array,
        )  # fmt: skip

    def _launch(self, kernel: str, arrays: RoundArrays, limits: dict[str, int], *level: int) -> None:
        work, state, cavities, capacity = self._work, self._work.state, arrays.cavities, arrays.capacity
        inherited = inheritance(state, work.space, capacity.bad)
        state.device.launch(
            kernel, 1, *level, state.view, work.limits.view, cavities.view, capacity.view,
            pack("SingleBlock", **limits), work.small_mesh, *work.bad.buffers, cavities.records.roots, arrays.fresh,
            inherited, work.bad.flags(capacity.bad), arrays.counts, arrays.history, work.progress.array,
        )  # fmt: skip

    @property
    def _one_team(self) -> dict[str, int]:
        threads = self._work.state.device.threads
        if threads == 0:
            return SINGLE_BLOCK_ON_GPU
        return {
            name: max(limit // threads, SINGLE_BLOCK_ON_THREADS[name])
            for name, limit in SINGLE_BLOCK_ON_ONE_THREAD.items()
        }
