"""Statistics of a refinement: its counters, and the result made from them."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.clock import Clock
from dmr.memory import Device, constant, flagged_indices, minmax_float64
from dmr.mesh.types import Mesh
from dmr.refinement.options import RefineOptions
from dmr.refinement.results import Refinement, Round, Smoothing
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.ending import Ending
from dmr.refinement.state.outcomes import Outcome, Tally

log = logging.getLogger("dmr")

# The flags of a quality word.
BAD, GIVEN_UP, FORCED, HELD, WAITS = (
    np.uint32(constant(name, "refine/quality/quality.cuh")) for name in ("BAD", "GIVEN_UP", "FORCED", "HELD", "WAITS")
)

TILE = constant("TILE", "mesh/angles.cu")  # triangles per team


class Statistics:
    """Statistics of one refinement.

    Attributes:
        loop: "device" once the device has driven rounds; otherwise "host".
        placed, on_segments: points placed by size, by the front and on segments.
        first_points: points placed in empty boxes before the first round.
        warnings: what a user should know, one sentence each.
    """

    def __init__(self, device: Device, *, quiet: bool = False) -> None:
        self._device, self._quiet = device, quiet
        self._launched_before = dict(device.launches)
        self._started = time.perf_counter()
        self._at_last_round = (0, 0, 0)  # attempted, inserted, lost
        self.loop = "host"
        self.rounds = 0
        self.history: list[Round] = []
        self.inserted = 0
        self.segments = 0
        self.placed = 0
        self.on_segments = 0
        self.first_points = 0
        self.off_centers = 0
        self.flips = 0
        self.host_processed = 0
        self.outcomes = dict.fromkeys(Outcome, 0)
        self.warnings: list[str] = []

    @property
    def attempted(self) -> int:
        """Cavities grown so far."""
        return sum(self.outcomes.values())

    @property
    def points(self) -> int:
        """Points inserted so far, including placed ones."""
        return self.inserted + self.before_rounds

    @property
    def before_rounds(self) -> int:
        """Points that were inserted before the rounds."""
        return self.on_segments + self.first_points + self.placed

    @property
    def given_up(self) -> int:
        """Cavities so far whose triangle, or a segment in its way, was given up."""
        return sum(self.outcomes[each] for each in (Outcome.PRECISION, Outcome.BLOCKED, Outcome.WAITING))

    @property
    def lost(self) -> int:
        """Cavities that lost a conflict so far."""
        return self.outcomes[Outcome.LOST] + self.outcomes[Outcome.YIELDED]

    def copied(self, launches: dict[str, int], *, quiet: bool) -> Statistics:
        """Returns the statistics of a run that goes on from here, before its first round.

        Args:
            launches: those of the device when this run came here; quiet: whether warnings are not logged.
        """
        other = copy(self)
        other._quiet = quiet
        other.leave_out(launches)
        other.outcomes, other.warnings, other.history = dict(self.outcomes), list(self.warnings), list(self.history)
        return other

    def leave_out(self, launches: dict[str, int]) -> None:
        """Does not count what other runs have launched since the device had these `launches`."""
        now = self._device.launches
        if now == launches:
            return
        since = {name: count - launches.get(name, 0) for name, count in now.items()}
        before = self._launched_before
        self._launched_before = {name: before.get(name, 0) + count for name, count in since.items()}

    def start(self) -> None:
        """Starts the timing of the rounds."""
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since `start`."""
        return time.perf_counter() - self._started

    def enter_rounds(self, rounds: list[Round]) -> None:
        """Adds rounds that the device drove; call it after `enter` has added their outcomes."""
        self.loop = "device"
        self.history.extend(rounds)
        self.rounds += len(rounds)
        self._at_last_round = (self.attempted, self.inserted, self.lost)

    def reopen_round(self) -> None:
        """Removes the last round's entry, because the round continues."""
        last = self.history.pop()
        attempted, inserted, lost = self._at_last_round
        self._at_last_round = (attempted - last.attempted, inserted - last.inserted, lost - last.lost)

    def close_round(self, bad: int, triangles: int) -> None:
        """Adds a round, with the listed bad triangles and the number of triangles after it."""
        totals = (self.attempted, self.inserted, self.lost)
        attempted, inserted, lost = (now - before for now, before in zip(totals, self._at_last_round, strict=True))
        self._at_last_round = totals
        counted = {"attempted": attempted, "inserted": inserted, "lost": lost}
        self.history.append(Round(**counted, bad=bad, triangles=triangles, seconds=self.seconds))

    def enter(self, tally: Tally) -> None:
        """Adds the outcomes of a pass, or of several."""
        for outcome, number in tally.outcomes.items():
            self.outcomes[outcome] += number
        self.off_centers += tally.off_centers

    def warn(self, sentence: str) -> None:
        """Logs a warning, unless quiet, and keeps it for the result."""
        if not self._quiet:
            log.warning(sentence)
        self.warnings.append(sentence)

    def refinement(
        self,
        mesh: Mesh,
        options: RefineOptions,
        state: DeviceMesh,
        checks: dict[str, int],
        clock: Clock,
        ending: Ending,
        smoothing: Smoothing | None,
    ) -> Refinement:
        """Makes the result for the user; `checks` are the counters of the quality checks, `smoothing`
        is the report of the optimisation, if there was one."""
        device = self._device
        launches = Counter(device.launches)
        launches.subtract(self._launched_before)
        low, high = _angle_range(state)
        attempts = self.attempted
        left = unrefined(state, ending)
        return Refinement(
            mesh=mesh,
            device=device.description if device.threads == 0 else device.name,
            threads=device.threads,
            marking=options.marking,
            balance=options.balance,
            loop=self.loop,
            steiner={
                "off_center": self.off_centers,
                "circumcenter": self.inserted - self.segments - self.off_centers,
                "segment": self.segments + self.on_segments,
                **({"first": self.first_points} if self.first_points else {}),
                **({"front": self.placed} if state.given is not None and not self.first_points else {}),
            },
            rounds=self.rounds,
            attempts=attempts,
            acceptance=self.inserted / attempts if attempts else 1.0,
            outcomes={
                "inserted": self.outcomes[Outcome.INSERTED],
                "lost_conflict": self.lost,
                "encroached": self.outcomes[Outcome.ENCROACHED],
                "precision": self.outcomes[Outcome.PRECISION],
                "blocked": self.outcomes[Outcome.BLOCKED],
                "overflowed": self.outcomes[Outcome.OVERFLOWED],
                "budget": self.outcomes[Outcome.BUDGET],
            },
            host_processed=self.host_processed,
            unrefined={reason: len(triangles) for reason, triangles in left.items()},
            unrefined_triangles=left,
            min_angle=low,
            max_angle=high,
            flips=self.flips,
            complete=ending is Ending.COMPLETE,
            seconds=clock.report(),
            history=tuple(self.history),
            launches={kernel: times for kernel, times in launches.items() if times},
            checks=checks,
            smoothing=smoothing,
            warnings=tuple(self.warnings),
        )


def _angle_range(state: DeviceMesh) -> tuple[float, float]:
    """Returns the smallest and the largest angle of the mesh, in degrees."""
    device = state.device
    tiles = device.tiles(state.slots, TILE)
    low, high = device.empty(tiles, np.float64), device.empty(tiles, np.float64)
    device.launch("angle_tiles", tiles, state.triangles, state.points, state.slots, low, high)
    least_cosine, most_cosine = minmax_float64(low, high)
    return math.degrees(math.acos(min(most_cosine, 1.0))), math.degrees(math.acos(max(least_cosine, -1.0)))


def unrefined(state: DeviceMesh, ending: Ending) -> dict[str, NDArray[Any]]:
    """Returns the triangles that violate a bound, by reason."""
    device = state.device
    flags = device.empty(state.slots, np.int32)
    device.launch("flag_words", state.slots, state.quality, int(BAD | GIVEN_UP | FORCED | HELD | WAITS), flags)
    left, count = flagged_indices(flags)
    if not count:
        return {}
    words = device.empty(count, np.uint32)
    device.launch("gather_uint32", count, state.quality, left, words)
    triangles, quality = left.download(), words.download()
    reasons = {
        "small_input_angle": (quality & FORCED) != 0,
        "precision": (quality & (GIVEN_UP | HELD | WAITS)) == GIVEN_UP,
        "kept_segment": (quality & HELD) != 0,
        "waiting": (quality & WAITS) != 0,
        ending.value: (quality & (BAD | GIVEN_UP)) == BAD,
    }
    return {reason: triangles[found] for reason, found in reasons.items() if found.any()}
