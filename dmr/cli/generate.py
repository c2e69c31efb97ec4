"""The command `dmr generate`."""

from __future__ import annotations

from dmr.cli.shared.console import Console
from dmr.cli.shared.files import chosen_output
from dmr.common.command_line.parser import Arguments
from dmr.common.text import counted


def run(arguments: Arguments, console: Console) -> int:
    """Generates a mesh and writes it."""
    from dmr import io
    from dmr.domains.generation import generate

    target = chosen_output(arguments.output, force=arguments.force)
    mesh = generate(arguments.kind, arguments.n, arguments.seed, mesher=arguments.mesher)
    written = io.write(target, mesh, overwrite=arguments.force)
    console.note(f"{counted(len(mesh.vertices), 'vertex', 'vertices')}, {counted(len(mesh.triangles), 'triangle')}")
    console.note(f"wrote {', '.join(str(path) for path in written)}")
    return 0
