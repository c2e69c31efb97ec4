"""The command `dmr convert` to and from folders of parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dmr.cli.shared.console import Console
from dmr.cli.shared.files import (
    EXTRAS,
    Output,
    check_folder_of_parts,
    extras_asked,
    features_asked,
    read,
    refuse_features,
)
from dmr.common.command_line.parser import Arguments
from dmr.common.command_line.targets import refuse_existing
from dmr.common.text import counted, option
from dmr.errors import OptionError
from dmr.io.extras import Extras
from dmr.mesh.types import Mesh, Pslg


def divide(arguments: Arguments, console: Console) -> int:
    """Reads a mesh, whole or in parts, and writes it in parts."""
    from dmr.distributed import Parts
    from dmr.distributed.output.partition import partition

    check_folder_of_parts(arguments.output)
    for name in EXTRAS:
        if getattr(arguments, name) != getattr(Extras, name):
            raise OptionError(f"{option(name)} cannot be combined with {option('parts')}: parts do not hold it")
    if Path(arguments.input).is_dir():
        refuse_features(arguments.input, features_asked(arguments))
        mesh: Mesh | Pslg = Parts(arguments.input).gather()
    else:
        mesh = read(arguments.input, arguments.threads, features=features_asked(arguments))
    if not isinstance(mesh, Mesh):
        raise OptionError(f"{arguments.input} is an outline without triangles: dmr refine makes a mesh of it")
    parts = partition(mesh, arguments.output, arguments.parts, method=arguments.partition)
    console.note(f"wrote {counted(len(parts), 'part')} to {parts.folder}")
    return 0


def unite(arguments: Arguments, console: Console) -> int:
    """Reads a mesh in parts, and writes it as one file; `.vtkhdf` and `.pvtu` part by part."""
    from dmr.distributed import Parts, write_pvtu, write_vtkhdf

    refuse_features(arguments.input, features_asked(arguments))
    target, force = Path(arguments.output), arguments.force
    ways: dict[str, Callable[[Parts], list[Path]]] = {
        ".vtkhdf": lambda parts: [write_vtkhdf(parts, target, single_piece=arguments.single_piece, overwrite=force)],
        ".pvtu": lambda parts: write_pvtu(parts, target, overwrite=force),
    }
    write = ways.get(target.suffix.lower())
    if arguments.single_piece and target.suffix.lower() != ".vtkhdf":
        raise OptionError(f"{option('single_piece')} is for .vtkhdf files, not for {target.name}")
    if write is None:
        output = Output(arguments)
        written = output.write(Parts(arguments.input).gather())
    else:
        extras_asked(arguments).check(target)
        refuse_existing(target, force=force)
        written = write(Parts(arguments.input))
    console.note(f"wrote {written[-1]}" + (f" and {counted(len(written) - 1, 'more file')}" if written[1:] else ""))
    return 0
