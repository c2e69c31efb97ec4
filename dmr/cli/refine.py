"""The command `dmr refine`."""

from __future__ import annotations

import time

from dmr.cli.shared import profile as profiling
from dmr.cli.shared.console import Console
from dmr.cli.shared.files import Output, error_context, features_asked, read, read_size
from dmr.cli.shared.unrefined import list_target, write_list
from dmr.common.command_line.exit_codes import DONE, STOPPED
from dmr.common.command_line.parser import Arguments
from dmr.common.text import counted
from dmr.mesh.statistics import Summary, summarise
from dmr.mesh.types import Mesh, Pslg
from dmr.refinement.options import CHILD_LAUNCHES, RefineOptions
from dmr.refinement.results import Refinement

REASONS = {
    "small_input_angle": "beside an input angle that is too small",
    "precision": "at the limit of the coordinates' precision",
    "kept_segment": "because a segment may not be split",
    "budget": "left by the limit on points",
    "time": "left by the time limit",
    "stopped": "left when the run was stopped",
}


def run(arguments: Arguments, console: Console) -> int:
    """Reads a mesh or outline, refines it, writes the result and reports the changes."""
    options = {name: getattr(arguments, name) for name in RefineOptions.__dataclass_fields__}
    chosen = RefineOptions(**options)  # raises for a bad value before anything is read
    outline = {name: getattr(arguments, name) for name in ("on_conflict", "convex_hull", "mesher")}
    output = Output(arguments)
    left = None if arguments.unrefined is None else list_target(arguments.unrefined, force=arguments.force)

    from dmr.common.threads import thread_count
    from dmr.memory import open_device
    from dmr.refinement import choose_device, refine

    asked = {"profile": arguments.profile}
    chosen.check_loop(**asked)
    thread_count(arguments.threads)
    if arguments.device != "auto" or chosen.balance in CHILD_LAUNCHES:
        # Before reading, also refuse a device that is unavailable or lacks what the options need.
        opened = open_device(arguments.device, arguments.threads)
        chosen.check_device(opened.name, launches_children=opened.launches_children)
    started = time.perf_counter()
    size, max_edge = (read_size(getattr(arguments, name), name) for name in ("size", "max_edge"))
    sized = size is not None or max_edge is not None
    found = read(
        arguments.input, arguments.threads, points=arguments.convex_hull,
        features=features_asked(arguments), on_conflict=arguments.on_conflict,
    )  # fmt: skip
    seconds_reading = time.perf_counter() - started
    with error_context(arguments.input), console.progress("refining") as bar:
        opened = choose_device(found, chosen, arguments.device, arguments.threads, sized=sized)
        # A bar needs the host between rounds. A GPU that drives its own rounds finishes too soon for a bar to help.
        by_device = chosen.loop == "device" or (chosen.loop == "auto" and opened.threads == 0)
        progress = None if by_device and chosen.needs_host(**asked) is None else bar
        result = refine(
            found, **options, **outline, size=size, max_edge=max_edge, device=arguments.device,
            threads=arguments.threads, progress=progress, profile=arguments.profile,
        )  # fmt: skip
    for warning in result.warnings:
        console.warn(warning)
    started = time.perf_counter()
    written = output.write(result.mesh)
    if left is not None:
        written += write_list(left, result, overwrite=arguments.force)
    seconds_writing = time.perf_counter() - started

    _report(console, arguments, found, result)
    if arguments.profile:
        profiling.report(console, result)
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
    return DONE if result.complete else STOPPED


def _report(console: Console, arguments: Arguments, found: Mesh | Pslg, result: Refinement) -> None:
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
    console.note(
        f"{counted(points, 'point')} inserted in {counted(result.rounds, 'round')} and {total:.3g} s on {where}"
    )
    if result.smoothing is not None:
        console.note(
            f"{counted(result.smoothing.moves, 'move')} of points in {counted(result.smoothing.rounds, 'round')} of "
            f"optimisation: the mean smallest angle was {result.smoothing.mean_min_angle_before:.4g}"
        )
    console.table(comparison(before, after, arguments.min_angle, arguments.max_area))
    for reason, count in result.unrefined.items():
        if count:
            text = REASONS.get(reason, reason.replace("_", " "))
            console.note(f"{counted(count, 'triangle')} below the bound {text}")


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


def _phases(result: Refinement, reading: float, writing: float) -> str:
    phases = {"read": reading, **{k: v for k, v in result.seconds.items() if k != "total"}, "write": writing}
    return "seconds: " + ", ".join(f"{name} {seconds:.3f}" for name, seconds in phases.items())
