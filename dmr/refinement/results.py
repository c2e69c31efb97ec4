"""The values that `dmr.refine` and `dmr.optimize` return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from dmr.common.cached import cached_property
from dmr.common.frozen import HoldsFrozen, freeze_fields, frozen
from dmr.common.text import counted
from dmr.errors import OptionError
from dmr.mesh.location.parents import find_parents
from dmr.mesh.pictures.thumbnails import page, picture_of_mesh
from dmr.mesh.types import Int, Mesh

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round of a refinement.

    Attributes:
        attempted: cavities grown in it; inserted: points inserted.
        lost: cavities that lost a conflict. With two stages, those that were not processed in the end, including
            those that another cavity changed, but not those that lost the first stage and were inserted in the second.
        bad: bad triangles listed after it (including some that later cavities have removed since).
        triangles: triangles of the mesh after it.
        seconds: wall-clock time from the first check of the triangles to the end of the round.
    """

    attempted: int
    inserted: int
    lost: int
    bad: int
    triangles: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Smoothing:
    """Result of an optimisation.

    Attributes:
        rounds: rounds that were kept; moves: moves of vertices in them (a vertex moves at most once per round).
        flips: edges flipped in them; repeated: how often the flips of a round were repeated without some of its moves,
            because a triangle violated a bound after them.
        mean_min_angle_before, mean_min_angle: mean over the triangles of the smallest angle in degrees, before the
            first round and after the last one.
    """

    rounds: int
    moves: int
    flips: int
    repeated: int
    mean_min_angle_before: float
    mean_min_angle: float

    def to_json(self) -> dict[str, Any]:
        """Returns the fields as plain numbers."""
        return asdict(self)


MESH_ATTRIBUTES = frozenset(name for name in (*Mesh.__dataclass_fields__, *vars(Mesh)) if not name.startswith("_"))


@dataclass(frozen=True, kw_only=True, eq=False)
class Refinement(HoldsFrozen):
    """A refined mesh and a report of its run. `repr` gives a one-line summary; `to_json()` gives all of the report.

    Attributes:
        mesh: the result. Its first vertices are the input's, in the input's order, bit for bit.
        device: where it ran, such as "cpu" or "cuda:0 (NVIDIA H200)"; threads: CPU threads (0 on a GPU).
        marking, balance: the strategies used.
        loop: what drove the rounds, "host" or "device"; for a tiny mesh, in the run whose result was kept.
        steiner: points inserted by kind: off_center (with the other points of a petal), circumcenter, segment; with
            `size` also front, those placed by size; first, those placed in an empty interior before the first round,
            if there are any.
        rounds: rounds, by either driver; attempts: cavities grown; acceptance: insertions over attempts.
        outcomes: cavities by outcome: inserted, lost_conflict, encroached, precision, blocked (by
            a segment that is never split), overflowed, budget.
        host_processed: triangle records moved to or from the host during the rounds, as a serial path on the host would
            need: 0.
        unrefined: triangles of the result that violate a bound, counted by reason: small_input_angle,
            precision, kept_segment, budget, time (`max_seconds`), stopped.
        unrefined_triangles: their indices, by reason.
        min_angle, max_angle: degrees, over the result.
        flips: edges flipped to make the input Delaunay.
        complete: False if a limit or the progress callback ended the run early; the mesh is still valid.
        seconds: wall-clock time by phase; "total" is their sum. Unless the run was profiled, work that a GPU has not
            finished at the end of a phase counts in a later one. "rounds" are those that the device drove.
        history: one record per round.
        launches: kernels launched by the host, by name; launches by a recorded loop are not counted.
        checks: how the quality checks of new triangles were distributed: "children", kernels launched from the device,
            and "refused", those that could not be launched: the thread that wanted to launch them did their work. A
            profiled run also has "shares", indices of a launch (on a GPU: threads) that checked something, "checked",
            triangles, and "largest_share".
        smoothing: the report of the optimisation; None if there was none.
        tries: number of recipes tried; a tiny mesh is refined by several, and the smallest result is kept.
        warnings: what a user should know (a fallback, a flip, a limit), one sentence each.
        input_mesh: the mesh that was refined; of an outline, its triangulation, whose triangles are computed again when
            they are first accessed, if they stayed on a GPU.
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
    smoothing: Smoothing | None = None
    tries: int = 1
    warnings: tuple[str, ...] = field(default=())
    input_mesh: Mesh | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        freeze_fields(self)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raises AttributeError; says where an attribute of the mesh is found."""
            told = f": its mesh has it, .mesh.{name}" if name in MESH_ATTRIBUTES else ""
            raise AttributeError(f"'Refinement' object has no attribute {name!r}{told}", name=name, obj=self)

    def of_call(self, mesh: Mesh, notes: Sequence[str], triangulation: float) -> Refinement:
        """Returns the result for the user of a run that begins with a mesh.

        Args:
            mesh: the input, or its triangulation; notes: warnings before the run; triangulation: seconds before it.
        """
        other = object.__new__(type(self))  # `replace` would freeze all arrays again
        total = self.seconds["total"] + triangulation
        changed = {
            "warnings": (*notes, *self.warnings),
            "seconds": {"triangulate": triangulation, **self.seconds, "total": total},
            "input_mesh": mesh,
        }
        for name, value in {**vars(self), **changed}.items():
            object.__setattr__(other, name, value)
        return other

    @cached_property
    def parents(self) -> Int:
        """(m,) int32: for each triangle of the result, the triangle of `input_mesh` that contains its centroid.

        A triangle of the result may reach into several input triangles, because refinement replaces triangles, and does
        not divide them. The centroid is ((a + b) + c) / 3 in float64, and is located exactly; on an edge it takes the
        lowest triangle, and if rounding puts it outside, the triangle of the nearest boundary edge. Computed on first
        access.

        Raises:
            OptionError: the result was pickled by a version that did not keep the input.
        """
        if self.input_mesh is None:
            raise OptionError("this refinement does not know its input: refine again")
        return frozen(find_parents(self.mesh, self.input_mesh))

    def __repr__(self) -> str:
        where = f"{self.device}, {counted(self.threads, 'thread')}" if self.threads else self.device
        left, points = sum(self.unrefined.values()), sum(self.steiner.values())
        # Otherwise they were placed before the first round.
        rounds = f" in {_count(self.rounds, 'round')}" if self.rounds or not points else ""
        return (
            f"Refinement({self.mesh!r}, {_count(points, 'point')}{rounds} on {where}, "
            f"{self.min_angle:.4g} to {self.max_angle:.4g} degrees, {'complete' if self.complete else 'ended early'}"
            f"{', ' + _count(left, 'triangle') + ' unrefined' if left else ''})"
        )

    def plot(self, values: str | ArrayLike | None = None, *, ax: Axes | None = None, **style: Any) -> Axes:
        """Draws the mesh with matplotlib; arguments, result and errors are those of `Mesh.plot`."""
        return self.mesh.plot(values, ax=ax, **style)

    def _repr_html_(self) -> str:
        """Returns a small picture of the mesh for notebooks."""
        return page(picture_of_mesh(self.mesh), repr(self))

    def to_json(self) -> dict[str, Any]:
        """Returns the fields that `--json` prints: plain numbers, strings, lists and dictionaries."""
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
            "smoothing": None if self.smoothing is None else self.smoothing.to_json(),
            "tries": self.tries,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Optimization:
    """The result of `dmr.optimize`.

    Attributes:
        mesh: the result, with as many vertices and triangles as the input, and the input's numbers of vertices.
        smoothing: its statistics.
        device: where it ran; threads: CPU threads (0 on a GPU); seconds: wall-clock time.
        warnings: what a user should know about the input, one sentence each.
    """

    mesh: Mesh
    smoothing: Smoothing
    device: str
    threads: int
    seconds: float
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the fields that `dmr optimize --json` prints."""
        return {
            "device": self.device,
            "threads": self.threads,
            "vertices": len(self.mesh.vertices),
            "triangles": len(self.mesh.triangles),
            "smoothing": self.smoothing.to_json(),
            "seconds": self.seconds,
            "warnings": list(self.warnings),
        }


def _count(count: int, one: str) -> str:
    """Formats a count without separators, as the summary of a mesh does: "1 point", "2000 points"."""
    return f"{count} {one}{'s' * (count != 1)}"
