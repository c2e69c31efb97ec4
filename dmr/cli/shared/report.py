"""Report of `dmr refine` and `dmr adapt`: what has changed, the unrefined triangles, and the proof of the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dmr.cli.shared.console import Console
from dmr.common.command_line.parser import Arguments
from dmr.common.errors import DONE, INTERNAL, STOPPED
from dmr.common.text import counted
from dmr.mesh.statistics import Summary, summarise
from dmr.mesh.types import Mesh, Pslg
from dmr.refinement.results import Refinement

REASONS = {
    "small_input_angle": "beside an input angle that is too small",
    "precision": "at the limit of the coordinates' precision",
    "kept_segment": "because a segment may not be split",
    "budget": "left by the limit on points",
    "time": "left by the time limit",
    "stopped": "left when the run was stopped",
}


def emit_result(
    console: Console, arguments: Arguments, result: Refinement, written: Sequence[Path], *, read: float, write: float
) -> None:
    """Prints the result as JSON, with the files and the seconds of reading and writing them."""
    files = {
        "input": str(arguments.input),
        "output": [str(path) for path in written],
        "seconds": {"read": read, "write": write},
    }
    console.emit_json({**result.to_json(), "files": files})


def report(console: Console, arguments: Arguments, found: Mesh | Pslg, result: Refinement) -> None:
    """Prints the table of before (of a mesh) and after, and the unrefined triangles by reason."""
    if console.quiet:
        return
    before = None
    if isinstance(found, Mesh):
        before = summarise(found, bound=arguments.min_angle, max_area=arguments.max_area)
    after = summarise(result.mesh, bound=arguments.min_angle, max_area=arguments.max_area)
    where = result.device + (f", {counted(result.threads, 'thread')}" if result.threads else "")
    points = sum(result.steiner.values())
    total = result.seconds.get("total", sum(result.seconds.values()))
    # Points may all be placed before the first round, by size.
    inserted = "placed in" if points and not result.rounds else f"inserted in {counted(result.rounds, 'round')} and"
    console.note(f"{counted(points, 'point')} {inserted} {total:.3g} s on {where}")
    if result.smoothing is not None:
        console.note(
            f"{counted(result.smoothing.moves, 'move')} of points in {counted(result.smoothing.rounds, 'round')} of "
            f"optimisation: the mean smallest angle was {result.smoothing.mean_min_angle_before:.4g}"
        )
    console.table(comparison(before, after, arguments.min_angle, arguments.max_area))
    note_unrefined(console, result.unrefined)


def note_unrefined(console: Console, unrefined: Mapping[str, int]) -> None:
    """Prints the number of triangles that violate a bound, one line per reason."""
    for reason, count in unrefined.items():
        if count:
            violate = "violates" if count == 1 else "violate"
            console.note(f"{counted(count, 'triangle')} {violate} a bound, {REASONS.get(reason, reason)}")


def comparison(before: Summary | None, after: Summary, bound: float, max_area: float | None) -> list[list[str]]:
    """Rows of the table of before and after; an outline has no column before."""
    columns = [("before", before), ("after", after)] if before is not None else [("", after)]

    def row(name: str, field: str, form: str) -> list[str]:
        return [name, *(format(getattr(summary, field), form) for _, summary in columns)]

    head = [["", *(name for name, _ in columns)]] if before is not None else []
    rows = [
        *head,
        row("vertices", "vertices", ","),
        row("triangles", "triangles", ","),
        row("smallest angle", "min_angle", ".4g"),
        row("mean smallest angle", "mean_min_angle", ".4g"),
        row("largest angle", "max_angle", ".4g"),
    ]
    if bound > 0:
        rows.append(row(f"below {bound:g} degrees", "below", ","))
    if max_area is not None:
        rows.append(row("largest area", "max_area", ".4g"))
        rows.append(row(f"above area {max_area:g}", "too_large", ","))
    return rows


def phases(result: Refinement, reading: float, writing: float) -> str:
    """Lists the seconds of each phase."""
    spent = {"read": reading, **{k: v for k, v in result.seconds.items() if k != "total"}, "write": writing}
    return "seconds: " + ", ".join(f"{name} {seconds:.3f}" for name, seconds in spent.items())


def proved(console: Console, mesh: Mesh, *, threads: int | None, **expected: Any) -> bool:
    """Proves a mesh in exact arithmetic, and says the outcome; arguments are those of `dmr.validate`."""
    from dmr.validation.checker import validate

    found = validate(mesh, threads=threads, **expected)
    if found.ok:
        console.note(f"proved in exact arithmetic: {', '.join(found.checked)}")
        return True
    for line in found.lines():
        console.note(line)
    console.error("the mesh that was written is invalid: please report it")
    return False


def bounds_of(result: Refinement, **bounds: Any) -> dict[str, Any]:
    """Returns the bounds to prove; none if a limit has ended the run."""
    return {**bounds, "unrefined": result.unrefined_triangles} if result.complete else {}


def exit_code(result: Refinement, *, valid: bool) -> int:
    """Returns how a command ends."""
    if not valid:
        return INTERNAL
    return DONE if result.complete else STOPPED
