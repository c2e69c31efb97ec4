"""The command `dmr adapt`."""

from __future__ import annotations

import time

from dmr.cli.shared.console import Console
from dmr.cli.shared.files import Output, error_context, read_mesh
from dmr.cli.shared.report import bounds_of, emit_result, exit_code, phases, proved, report
from dmr.cli.shared.sizes import read_sizes, sizes_from_segments, with_features
from dmr.common.command_line.parser import Arguments
from dmr.common.text import counted
from dmr.errors import OptionError
from dmr.refinement.options import RefineOptions


def run(arguments: Arguments, console: Console) -> int:
    """Reads a mesh, makes one of the same domain with other sizes, writes it and reports the changes."""
    options = {name: getattr(arguments, name) for name in ("min_angle", "max_area", "max_steiner", "optimize")}
    RefineOptions(**options, grading=arguments.grading)  # raises for a bad value before anything is read
    given = (arguments.size, arguments.max_edge, arguments.max_area)
    if all(sizes is None for sizes in given) and not sizes_from_segments(arguments):
        raise OptionError(
            "adapt needs sizes: give --size, --max-edge, --max-area, --size-from-distance, --size-from-curvature or "
            "--size-from-lengths"
        )
    output = Output(arguments)

    from dmr.common.threads import thread_count
    from dmr.memory import open_device
    from dmr.refinement.adaptation import adapt, outline
    from dmr.refinement.adaptation.collinear import count_finer_vertices

    thread_count(arguments.threads)
    opened = open_device(arguments.device, arguments.threads)
    started = time.perf_counter()
    size, max_edge = read_sizes(arguments)
    found = read_mesh(arguments.input, "adapt")
    with error_context(arguments.input):
        size = with_features(size, arguments, found)
        domain = outline(found, merge_collinear=arguments.merge_collinear)
        lengths = max_edge if size is None else size
        finer = 0 if arguments.merge_collinear or lengths is None else count_finer_vertices(domain, lengths)
        if finer:
            console.note(
                f"the outline keeps {counted(finer, 'vertex', 'vertices')} inside straight sides, between segments "
                "shorter than half of the size there; --merge-collinear leaves them out"
            )
        seconds_reading = time.perf_counter() - started
        with console.progress("adapting", optimizes=bool(arguments.optimize)) as bar:
            result = adapt(
                found, size, outline=domain, max_edge=max_edge, grading=arguments.grading, device=arguments.device,
                threads=arguments.threads, progress=bar if opened.threads else None, **options,
            )  # fmt: skip
    for warning in result.warnings:
        console.warn(warning)
    started = time.perf_counter()
    written = output.write(result.mesh)
    seconds_writing = time.perf_counter() - started
    report(console, arguments, found, result)
    console.detail(phases(result, seconds_reading, seconds_writing))
    console.note(f"wrote {', '.join(map(str, written))}")
    bounds = bounds_of(result, min_angle=arguments.min_angle, max_area=arguments.max_area, max_edge=max_edge)
    valid = not arguments.validate or proved(console, result.mesh, input=domain, threads=arguments.threads, **bounds)
    if arguments.json:
        emit_result(console, arguments, result, written, read=seconds_reading, write=seconds_writing)
    return exit_code(result, valid=valid)
