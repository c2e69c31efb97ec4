"""Whole rounds in one kernel: by one team, or by several teams with barriers between them.

Small rounds need no launch per step: one team runs as many of them as there are
(`cuda_src/refine/rounds/single_block_rounds.cu`). On a GPU, several teams run larger ones
(`cuda_src/refine/rounds/persistent_rounds.cu`).
"""

from __future__ import annotations

from dmr.memory import DeviceArray, Packed, pack
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

# Limits of a pass with large records. Few triangles wait for such records, however long the list is: the teams of a
# GPU, or the one of a CPU, read it in less time than it takes to launch a kernel per step.
PASS_ON_GPU = {"candidates": 256, "listed": 2**17, "subsegments": 2**20}
PASS_ON_CPU = {"listed": 2**16, "subsegments": 2**20}  # candidates as in rounds by one team

TEAMS_ON_GPU = 32  # that run such a pass: a warp for each cavity, on as many multiprocessors

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
        self._launch("single_block_rounds", 1, (), arrays, pack("SingleBlock", **self._one_team), ())

    def large_pass(self, level: int, arrays: RoundArrays) -> None:
        """Launches the kernel for passes with large records of a level; it does nothing if no such pass is due."""
        on_gpu = self._work.state.device.threads == 0
        limits = pack("SingleBlock", **{**self._one_team, **(PASS_ON_GPU if on_gpu else PASS_ON_CPU)})
        self._launch("large_passes", TEAMS_ON_GPU if on_gpu else 1, (level,), arrays, limits, self._sums(arrays))

    def by_several_teams(self, arrays: RoundArrays) -> None:
        """Launches the kernel of several teams, which runs as many rounds as pay, if it is in use."""
        if self.several_teams is None:
            return
        most, limits = self._work.state.device.most_pieces, pack("Persistent", **self.several_teams)
        self._launch("persistent_rounds", most, (), arrays, limits, self._sums(arrays))

    def _sums(self, arrays: RoundArrays) -> tuple[DeviceArray, ...]:
        """Returns the arrays for sums of pieces."""
        requested, surveyed = survey_sums(self._work.space)
        return requested, surveyed, arrays.cavities.records.needs, appended_sums(self._work.space)

    def _launch(
        self,
        kernel: str,
        teams: int,
        level: tuple[int, ...],
        arrays: RoundArrays,
        limits: Packed,
        sums: tuple[DeviceArray, ...],
    ) -> None:
        work, state, cavities, capacity = self._work, self._work.state, arrays.cavities, arrays.capacity
        inherited = inheritance(state, work.space, capacity.bad)
        state.device.launch(
            kernel, teams, *level, state.view, work.limits.view, cavities.view, capacity.view, limits,
            work.small_mesh, *work.bad.buffers, cavities.records.roots, arrays.fresh, inherited,
            work.bad.flags(capacity.bad), *sums, arrays.counts, arrays.history, work.progress.array,
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
