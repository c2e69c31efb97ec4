"""Results of the checker: failures, small angles with their reasons, and the report that contains them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from dmr.common.text import counted
from dmr.mesh.naming import named

Indices = Sequence[int | None] | NDArray[Any]

# Failures that are kept with their text per check; all failures are counted.
KEPT_FAILURES = 20
# Reasons that excuse an unrefined triangle, other than small input corners.
REASONS = {
    "precision": "the coordinates cannot resolve finer triangles there",
    "kept_segment": "a segment that is never split stands in the way",
}
# All reasons that a refinement gives. The others excuse nothing.
GIVEN_REASONS = ("small_input_angle", *REASONS, "waiting", "budget", "time", "stopped")
# Small angles that `Report.lines` prints; the report contains all.
PRINTED_SMALL_ANGLES = 10


@dataclass(frozen=True)
class Failure:
    """One violated property.

    Attributes:
        check: the name of the check.
        element: the kind of element that `index` refers to: "vertex", "triangle", "segment" (an entry of
            `mesh.segments`), "input segment", "input triangle", or "mesh".
        index: 0-based index of the offending element; None for the mesh as a whole.
        message: a sentence with indices and coordinates.
    """

    check: str
    element: str
    index: int | None
    message: str

    def __str__(self) -> str:
        where = self.element if self.index is None else named(self.element, self.index)
        return f"{self.check}: {where}: {self.message}"


@dataclass(frozen=True)
class SmallAngle:
    """A triangle below the angle bound, explained by an adjacent input corner of less than 60 degrees.

    Attributes:
        triangle: its index; angle: its smallest angle, degrees.
        corner: the vertex at the input corner; corner_angle: the angle phi between its two segments, degrees.
        bound: the smaller bound that applies to the triangle: arctan(sin phi / (2 - cos phi)), degrees.
        reason: "corner" (one of its corners is the input corner), "shell" (its shortest edge joins the two segments at
            the same distance from the corner), or the weaker "cluster" (it shares an edge with a triangle of one of
            those two kinds).
    """

    triangle: int
    angle: float
    corner: int
    corner_angle: float
    bound: float
    reason: str

    def __str__(self) -> str:
        return (
            f"{named('triangle', self.triangle)}: {self.angle:.6g} degrees beside the input corner of "
            f"{self.corner_angle:.6g} degrees at {named('vertex', self.corner)} ({self.reason}; "
            f"bound there {self.bound:.6g})"
        )


@dataclass(frozen=True, kw_only=True)
class Report:
    """The outcome of `dmr.validate`.

    Attributes:
        failures: the violated properties, at most `KEPT_FAILURES` per check.
        counts: the number of failures of each check that failed, including those not kept.
        checked: names of the checks that were made, in order.
        skipped: names of the checks that could not be made, with the reason. A check that depends on another one (for
            instance, the overlap check requires positively oriented triangles) is skipped if that one failed, but never
            if all others passed.
        statistics: plain numbers about the mesh, measured in float64: vertices, triangles, min_angle, ...; and if sizes
            are given, mean_edge, shortest_edge and longest_edge, in sizes at the midpoints of the edges, and
            edges_near_size, the share of them within 0.7 to 1.35 of it; None where no edge has a finite size.
        exceptions: triangles below the angle bound beside small input corners; these are not failures.
        unrefined: triangles that may violate a bound, by the reason ("precision", "kept_segment") that the refinement
            gave and the geometry confirms.
    """

    failures: tuple[Failure, ...]
    counts: dict[str, int]
    checked: tuple[str, ...]
    skipped: dict[str, str]
    statistics: dict[str, float | int | None]
    exceptions: tuple[SmallAngle, ...] = field(default=())
    unrefined: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True if no check failed."""
        return not self.counts

    def __repr__(self) -> str:
        found = ", ".join(f"{name} ({count:,})" for name, count in self.counts.items())
        verdict = "valid" if self.ok else f"invalid: {found}"
        excused = len(self.exceptions) + sum(map(len, self.unrefined.values()))
        left = f", {counted(excused, 'triangle')} excused" if excused else ""
        return f"Report({verdict}; {counted(len(self.checked), 'check')} made, {len(self.skipped)} skipped{left})"

    def lines(self) -> list[str]:
        """Format the report as text, one sentence per line, without colours."""
        numbers = self.statistics
        kinds = (("vertex", "vertices"), ("triangle", "triangles"), ("segment", "segments"))
        lines = [", ".join(counted(int(numbers[many] or 0), one, many) for one, many in kinds)]
        if numbers.get("min_angle") is not None:
            lines.append(f"angles from {numbers['min_angle']:.6g} to {numbers['max_angle']:.6g} degrees")
        if numbers.get("mean_edge") is not None:
            lines.append(
                f"edges from {numbers['shortest_edge']:.3g} to {numbers['longest_edge']:.3g} times the size, "
                f"{numbers['mean_edge']:.4g} on average, {100 * (numbers['edges_near_size'] or 0):.4g}% within "
                "0.7 to 1.35 of it"
            )
        for name in self.checked:
            count = self.counts.get(name, 0)
            lines.append(f"{'ok' if not count else 'FAILED'}  {name}" + (f" ({count} times)" if count > 1 else ""))
            if not count:
                continue
            kept = [failure for failure in self.failures if failure.check == name]
            for failure in kept:
                where = failure.element if failure.index is None else named(failure.element, failure.index)
                lines.append(f"    {where}: {failure.message}")
            if count > len(kept):
                lines.append(f"    ... and {count - len(kept)} more")
        lines += [f"--  {name}: not checked, {reason}" for name, reason in self.skipped.items()]
        if self.exceptions:
            lines.append(f"{counted(len(self.exceptions), 'triangle')} below the bound beside small input corners:")
            lines += [f"    {small}" for small in self.exceptions[:PRINTED_SMALL_ANGLES]]
            if len(self.exceptions) > PRINTED_SMALL_ANGLES:
                lines.append(f"    ... and {len(self.exceptions) - PRINTED_SMALL_ANGLES} more")
        lines += [
            f"{counted(len(listed), 'triangle')} may violate a bound: {REASONS[reason]}"
            for reason, listed in self.unrefined.items()
            if listed
        ]
        lines.append("valid" if self.ok else f"invalid: {', '.join(self.counts)}")
        return lines

    def to_json(self) -> dict[str, Any]:
        """Convert the report to plain dictionaries, lists, strings and numbers, for `json.dumps`."""
        return {
            "ok": self.ok,
            "checked": list(self.checked),
            "skipped": dict(self.skipped),
            "counts": dict(self.counts),
            "failures": [vars(failure).copy() for failure in self.failures],
            "exceptions": [vars(small).copy() for small in self.exceptions],
            "unrefined": {reason: list(triangles) for reason, triangles in self.unrefined.items()},
            "statistics": {
                name: value if value is None or math.isfinite(value) else None
                for name, value in self.statistics.items()
            },
        }


class Findings:
    """Collects the results of the checks while they run."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self.counts: dict[str, int] = {}
        self.checked: list[str] = []
        self.skipped: dict[str, str] = {}

    def start(self, check: str) -> None:
        """Record that a check is made."""
        self.checked.append(check)

    def start_after(self, check: str, *needed: str) -> bool:
        """Record that a check is made, or that it is skipped because one that it needs has failed; return which."""
        if self.passed(*needed):
            self.start(check)
            return True
        self.skip(check, f"{' or '.join(needed)} failed")
        return False

    def skip(self, check: str, reason: str) -> None:
        """Record that a check cannot be made."""
        self.skipped[check] = reason

    def add(self, check: str, element: str, indices: Indices, message: Callable[[int], str]) -> None:
        """Add failures of one check.

        Args:
            check: its name.
            element: the kind of element that the indices refer to.
            indices: the offending elements; None for the mesh as a whole.
            message: returns the sentence for `indices[i]`; only called for failures that are kept.
        """
        count = len(indices)
        if not count:
            return
        before = self.counts.get(check, 0)
        self.counts[check] = before + count
        kept = max(0, min(count, KEPT_FAILURES - before))
        for i, index in zip(range(kept), indices, strict=False):
            self.failures.append(Failure(check, element, None if index is None else int(index), message(i)))

    def passed(self, *checks: str) -> bool:
        """Return True if none of these checks failed or was skipped."""
        return not any(check in self.counts or check in self.skipped for check in checks)
