"""The command `dmr triangulate`."""

from __future__ import annotations

import time

from dmr.cli.shared.console import Console
from dmr.cli.shared.files import Output, error_context, features_asked, read
from dmr.common.command_line.parser import Arguments
from dmr.common.text import counted
from dmr.errors import FileContentError
from dmr.mesh.types import Mesh


def run(arguments: Arguments, console: Console) -> int:
    """Reads points or an outline, triangulates them and writes the mesh."""
    output = Output(arguments)

    from dmr.common.threads import thread_count
    from dmr.meshing.plain import triangulate

    thread_count(arguments.threads)
    started = time.perf_counter()
    found = read(
        arguments.input, arguments.threads, points=True,
        features=features_asked(arguments), on_conflict=arguments.on_conflict,
    )  # fmt: skip
    if isinstance(found, Mesh):
        raise FileContentError(
            "is a triangulation already: dmr refine refines it, dmr convert writes it in another format",
            arguments.input,
        )
    read_at = time.perf_counter()
    with error_context(arguments.input):
        mesh = triangulate(
            found,
            on_conflict=arguments.on_conflict,
            convex_hull=arguments.convex_hull or not len(found.segments),
            mesher=arguments.mesher,
            method=arguments.method,
            device=arguments.device,
            threads=arguments.threads,
        )
    made_at = time.perf_counter()
    written = output.write(mesh)
    seconds = {"read": read_at - started, "triangulate": made_at - read_at, "write": time.perf_counter() - made_at}
    console.note(
        f"{counted(len(mesh.vertices), 'vertex', 'vertices')}, {counted(len(mesh.triangles), 'triangle')}, "
        f"{counted(len(mesh.segments), 'segment')}"
    )
    console.detail("seconds: " + ", ".join(f"{name} {value:.3f}" for name, value in seconds.items()))
    console.note(f"wrote {', '.join(map(str, written))}")
    if arguments.json:
        counts = {name: len(getattr(mesh, name)) for name in ("vertices", "triangles", "segments")}
        files = {"input": str(arguments.input), "output": [str(path) for path in written]}
        console.emit_json({**counts, "seconds": seconds, "files": files})
    return 0
