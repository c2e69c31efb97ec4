"""The command `dmr optimize`."""

from __future__ import annotations

from dmr.cli.shared.console import Console
from dmr.cli.shared.files import Output, error_context, read_mesh
from dmr.cli.shared.report import comparison, proved
from dmr.common.command_line.parser import Arguments
from dmr.common.errors import DONE, INTERNAL
from dmr.common.text import counted
from dmr.mesh.statistics import summarise


def run(arguments: Arguments, console: Console) -> int:
    """Reads a mesh, improves its angles, writes it and reports the changes."""
    output = Output(arguments)

    from dmr.common.threads import thread_count
    from dmr.memory import open_device
    from dmr.refinement.optimization.pipeline import optimize

    thread_count(arguments.threads)
    if arguments.device != "auto":
        open_device(arguments.device, arguments.threads)  # refuses one that is unavailable before anything is read
    found = read_mesh(arguments.input, "optimize")
    with error_context(arguments.input), console.progress("optimising") as bar:
        result = optimize(
            found, rounds=arguments.rounds, device=arguments.device, threads=arguments.threads,
            progress=None if bar is None else bar.optimizing,
        )  # fmt: skip
    for warning in result.warnings:
        console.warn(warning)
    written = output.write(result.mesh)
    done = result.smoothing
    if not console.quiet:
        where = result.device + (f", {counted(result.threads, 'thread')}" if result.threads else "")
        console.note(
            f"{counted(done.moves, 'move')} of vertices and {counted(done.flips, 'flip')} in "
            f"{counted(done.rounds, 'round')} and {result.seconds:.3g} s on {where}"
        )
        console.table(comparison(summarise(found, bound=30), summarise(result.mesh, bound=30), 30, None))
    console.note(f"wrote {', '.join(map(str, written))}")
    valid = not arguments.validate or proved(console, result.mesh, threads=arguments.threads)
    if arguments.json:
        files = {"input": str(arguments.input), "output": [str(path) for path in written]}
        console.emit_json({**result.to_json(), "files": files})
    return DONE if valid else INTERNAL
