"""The command `dmr refine`."""

from __future__ import annotations

import time

from dmr.cli.shared import profile as profiling
from dmr.cli.shared.console import Console
from dmr.cli.shared.files import Output, error_context, features_asked, read
from dmr.cli.shared.report import bounds_of, emit_result, exit_code, phases, proved, report
from dmr.cli.shared.sizes import Sizes, read_sizes, with_features
from dmr.cli.shared.unrefined import list_target, write_list
from dmr.common.command_line.parser import Arguments
from dmr.mesh.types import Mesh, Pslg
from dmr.refinement.options import CHILD_LAUNCHES, RefineOptions


def _read(arguments: Arguments) -> tuple[Mesh | Pslg, Sizes, Sizes]:
    """Reads the input, and the target and the largest edge lengths."""
    size, max_edge = read_sizes(arguments)
    found = read(
        arguments.input, arguments.threads, points=arguments.convex_hull,
        features=features_asked(arguments), on_conflict=arguments.on_conflict,
    )  # fmt: skip
    with error_context(arguments.input):
        return found, with_features(size, arguments, found), max_edge


def run(arguments: Arguments, console: Console) -> int:
    """Reads a mesh or outline, refines it, writes the result and reports the changes."""
    from dmr.cli.parts import refine as in_tiles

    if arguments.tile_triangles is not None:
        return in_tiles.run(arguments, console)
    in_tiles.refuse_engines(arguments)
    options = {name: getattr(arguments, name) for name in RefineOptions.__dataclass_fields__}
    chosen = RefineOptions(**options)  # raises for a bad value before anything is read
    outline = {name: getattr(arguments, name) for name in ("on_conflict", "convex_hull", "mesher")}
    output = Output(arguments)
    left = None if arguments.unrefined is None else list_target(arguments.unrefined, force=arguments.force)

    from dmr.common.threads import thread_count
    from dmr.memory import arriving_results, open_device
    from dmr.refinement import choose_device, refine

    asked = {"profile": arguments.profile}
    chosen.check_loop(**asked)
    thread_count(arguments.threads)
    if arguments.device != "auto" or chosen.balance in CHILD_LAUNCHES:
        # Before reading, also refuse a device that is unavailable or lacks what the options need.
        opened = open_device(arguments.device, arguments.threads)
        chosen.check_device(opened.name, launches_children=opened.launches_children)
    started = time.perf_counter()
    found, size, max_edge = _read(arguments)
    sized = size is not None or max_edge is not None
    seconds_reading = time.perf_counter() - started
    with arriving_results():  # the mesh is written while it arrives from a GPU
        with error_context(arguments.input), console.progress("refining", optimizes=bool(arguments.optimize)) as bar:
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

    report(console, arguments, found, result)
    if arguments.profile:
        profiling.report(console, result)
    console.detail(phases(result, seconds_reading, seconds_writing))
    console.note(f"wrote {', '.join(str(path) for path in written)}")
    if not result.complete and not result.warnings:
        console.warn("the run ended early; the mesh that was written is valid, but violates a bound in places")
    valid = not arguments.validate or proved(
        console, result.mesh, input=found, convex_hull=arguments.convex_hull and isinstance(found, Pslg),
        threads=arguments.threads,
        **bounds_of(result, min_angle=arguments.min_angle, max_area=arguments.max_area, max_edge=max_edge),
    )  # fmt: skip
    if arguments.json:
        emit_result(console, arguments, result, written, read=seconds_reading, write=seconds_writing)
    return exit_code(result, valid=valid)
