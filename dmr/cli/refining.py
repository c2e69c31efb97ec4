"""`dmr refine`."""

from __future__ import annotations

import time
from typing import Any

from dmr.cli.arguments import Arguments
from dmr.cli.console import Console
from dmr.cli.files import blamed_on, chosen_output, next_output, read_mesh
from dmr.meshes import Mesh
from dmr.options import RefineOptions
from dmr.quality import Summary, summarise
from dmr.results import Refinement

STOPPED_BY_LIMIT = 3

REASONS = {
    "small_input_angle": "beside an input angle that is too small",
    "precision": "where the coordinates can resolve no more",
    "budget": "left by the limit of points",
    "stopped": "left when the run was stopped",
}


def run(arguments: Arguments, console: Console) -> int:
    """Reads, refines, writes; says what changed."""
    options = {
        name: getattr(arguments, name)
        for name in ("min_angle", "max_area", "steiner", "conforming", "max_steiner", "marking", "balance", "strict")
    }
    RefineOptions(**options)  # a bad value is refused before anything is read
    if arguments.output is None:
        target = next_output(arguments.input)
    else:
        target = chosen_output(arguments.output, force=arguments.force)

    from dmr import io
    from dmr.refinement import refine

    started = time.perf_counter()
    mesh = read_mesh(arguments.input, "refine")
    seconds_reading = time.perf_counter() - started
    before = summarise(mesh, bound=arguments.min_angle, max_area=arguments.max_area)
    with blamed_on(arguments.input), console.progress("refining") as progress:
        result = refine(mesh, **options, device=arguments.device, threads=arguments.threads, progress=progress)
    for warning in result.warnings:
        console.warn(warning)
    started = time.perf_counter()
    base = io.numbering_base(arguments.input)
    written = io.write(target, result.mesh, overwrite=arguments.output is None or arguments.force, base=base)
    seconds_writing = time.perf_counter() - started

    _report(console, arguments, mesh, before, result)
    console.detail(_phases(result, seconds_reading, seconds_writing))
    console.note(f"wrote {', '.join(str(path) for path in written)}")
    if not result.complete and not result.warnings:
        console.warn("the run ended early; the mesh that was written is valid, but misses a bound in places")
    if arguments.json:
        files = {
            "input": str(arguments.input),
            "output": [str(path) for path in written],
            "seconds": {"read": seconds_reading, "write": seconds_writing},
        }
        console.emit_json({**result.to_json(), "files": files})
    return 0 if result.complete else STOPPED_BY_LIMIT


def _report(console: Console, arguments: Arguments, mesh: Mesh, before: Summary, result: Refinement) -> None:
    """The table before and after, and what was left unrefined, and why."""
    if console.quiet:
        return
    after = summarise(result.mesh, bound=arguments.min_angle, max_area=arguments.max_area)
    where = result.device + (f", {result.threads} thread{'s'[: result.threads != 1]}" if result.threads else "")
    points = len(result.mesh.vertices) - len(mesh.vertices)
    total = result.seconds.get("total", sum(result.seconds.values()))
    rounds = f"{result.rounds} round{'s'[: result.rounds != 1]}"
    console.note(f"{points:,} points inserted in {rounds} and {total:.3g} s on {where}")
    console.table(comparison(before, after, arguments.min_angle, arguments.max_area))
    for reason, count in result.unrefined.items():
        if count:
            text = REASONS.get(reason, reason.replace("_", " "))
            console.note(f"{count:,} triangle{'s'[: count != 1]} below the bound {text}")


def comparison(before: Summary, after: Summary, bound: float, max_area: float | None) -> list[list[str]]:
    """The rows of the table before and after."""

    def row(name: str, *values: Any, form: str) -> list[str]:
        return [name, *(format(value, form) for value in values)]

    rows = [
        ["", "before", "after"],
        row("vertices", before.vertices, after.vertices, form=","),
        row("triangles", before.triangles, after.triangles, form=","),
        row("smallest angle", before.min_angle, after.min_angle, form=".4g"),
        row("mean smallest angle", before.mean_min_angle, after.mean_min_angle, form=".4g"),
        row("largest angle", before.max_angle, after.max_angle, form=".4g"),
        row(f"below {bound:g} degrees", before.below, after.below, form=","),
    ]
    if max_area is not None:
        rows.append(row("largest area", before.max_area, after.max_area, form=".4g"))
        rows.append(row(f"above area {max_area:g}", before.too_large, after.too_large, form=","))
    return rows


def _phases(result: Refinement, reading: float, writing: float) -> str:
    phases = {"read": reading, **{k: v for k, v in result.seconds.items() if k != "total"}, "write": writing}
    return "seconds: " + ", ".join(f"{name} {seconds:.3f}" for name, seconds in phases.items())
