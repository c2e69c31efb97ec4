"""What a refinement did: the value that `dmr.refine` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dmr.memory.frozen import HoldsFrozen, freeze_fields
from dmr.meshes import Mesh
from dmr.naming import counted


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round of a refinement.

    Attributes:
        attempted: cavities grown in it; inserted: points that went in.
        lost: cavities that lost a conflict. With two stages, those that were not processed in the end, also because
            another one had changed them; not those that lost in the first stage and went in in the second.
        bad: bad triangles listed after it (among them some that a later cavity has mended since).
        triangles: of the mesh after it.
        seconds: from the first check of the triangles to its end, wall clock.
    """

    attempted: int
    inserted: int
    lost: int
    bad: int
    triangles: int
    seconds: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Refinement(HoldsFrozen):
    """A refined mesh, and what happened on the way. Printed, it is a line of the most important; `to_json()` has all.

    Attributes:
        mesh: the result. Its first vertices are the input's, in the input's order, bit for bit.
        device: where it ran, for instance "cpu" or "cuda:0 (NVIDIA H200)"; threads: CPU threads (0 on a GPU).
        marking, balance: the strategies that ran.
        loop: who drove the rounds, "host" or "device"; of a tiny mesh, those of the run that was kept.
        steiner: points inserted by kind: off_center (with the other points of a petal), circumcenter, segment.
        rounds: rounds, whoever drove them; attempts: cavities grown; acceptance: insertions over attempts.
        outcomes: cavities by what became of them: inserted, lost_conflict, encroached, precision, blocked (by
            a segment that is never split), overflowed, budget.
        host_processed: triangle records that were moved to or from the host during the rounds, where a serial path
            would have to look at them: 0.
        unrefined: triangles of the result that miss a bound, counted by reason: small_input_angle,
            precision, kept_segment, budget, time (`max_seconds`), stopped.
        unrefined_triangles: their indices, by reason.
        min_angle, max_angle: degrees, over the result.
        flips: edges flipped to make the input Delaunay.
        complete: False where a limit or the progress callback ended the run early; the mesh is valid all the same.
        seconds: wall-clock time by phase; "total" is their sum. On a GPU a phase's figure is when the host was done
            with it, unless the run was profiled. "rounds" are those that the device drove.
        history: round by round.
        launches: kernels launched by the host, by name; what a recorded loop launches by itself is not counted.
        checks: how the quality checks of new triangles were shared out: "children", kernels launched from the device
            (and "refused", those that could not be: their work was done by the thread that wanted to launch them). Of a
            profiled run also "shares", indices of a launch (on a GPU: threads) that checked something, "checked",
            triangles, and "largest_share".
        tries: how many recipes were tried; tiny meshes are refined by several, and the smallest result is this one.
        warnings: what a user should know (a fallback, a flip, a limit), one sentence each.
    """

    mesh: Mesh
    device: str
    threads: int
    marking: str
    balance: str
    loop: str
    steiner: dict[str, int]
    rounds: int
    attempts: int
    acceptance: float
    outcomes: dict[str, int]
    host_processed: int
    unrefined: dict[str, int]
    unrefined_triangles: dict[str, Any]
    min_angle: float
    max_angle: float
    flips: int
    complete: bool
    seconds: dict[str, float]
    history: tuple[Round, ...] = field(repr=False)
    launches: dict[str, int] = field(repr=False)
    checks: dict[str, int]
    tries: int = 1
    warnings: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __repr__(self) -> str:
        where = f"{self.device}, {counted(self.threads, 'thread')}" if self.threads else self.device
        left = sum(self.unrefined.values())
        return (
            f"Refinement({self.mesh!r}, {sum(self.steiner.values())} points in {self.rounds} rounds on {where}, "
            f"{self.min_angle:.4g} to {self.max_angle:.4g} degrees, {'complete' if self.complete else 'ended early'}"
            f"{f', {left} triangles unrefined' if left else ''})"
        )

    def to_json(self) -> dict[str, Any]:
        """The fields that `--json` prints: plain numbers, strings, lists and dictionaries."""
        return {
            "device": self.device,
            "threads": self.threads,
            "marking": self.marking,
            "balance": self.balance,
            "loop": self.loop,
            "vertices": len(self.mesh.vertices),
            "triangles": len(self.mesh.triangles),
            "steiner": dict(self.steiner),
            "rounds": self.rounds,
            "attempts": self.attempts,
            "acceptance": self.acceptance,
            "outcomes": dict(self.outcomes),
            "host_processed": self.host_processed,
            "unrefined": dict(self.unrefined),
            "min_angle": self.min_angle,
            "max_angle": self.max_angle,
            "flips": self.flips,
            "complete": self.complete,
            "seconds": dict(self.seconds),
            "launches": dict(self.launches),
            "checks": dict(self.checks),
            "tries": self.tries,
            "warnings": list(self.warnings),
        }
