"""The command `dmr convert`."""

from __future__ import annotations

from pathlib import Path

from dmr.cli.parts import convert as parts
from dmr.cli.shared.console import Console
from dmr.cli.shared.files import Output, features_asked, read
from dmr.common.command_line.parser import Arguments
from dmr.common.text import option
from dmr.errors import OptionError
from dmr.mesh.types import Mesh


def run(arguments: Arguments, console: Console) -> int:
    """Reads a mesh or an outline and writes it in another format."""
    if Path(arguments.input).is_dir() and arguments.parts is None:
        return parts.unite(arguments, console)
    if arguments.single_piece and arguments.parts is not None:
        raise OptionError(f"{option('single_piece')} cannot be combined with {option('parts')}")
    if arguments.single_piece:
        raise OptionError(f"{option('single_piece')} is for folders of parts, which {arguments.input} is not")
    if arguments.parts is not None:
        return parts.divide(arguments, console)
    if not Path(arguments.input).exists():  # an error about the output would hide that a folder of parts is missing
        read(arguments.input)
    output = Output(arguments, outlines=True)
    found = read(arguments.input, arguments.threads, points=True, features=features_asked(arguments))
    holds_outlines = output.target.suffix.lower() == ".poly"
    if isinstance(found, Mesh) and holds_outlines:
        raise OptionError(f"a .poly file cannot hold a mesh: write {output.target.with_suffix('.ele')}")
    if not (isinstance(found, Mesh) or holds_outlines or output.target.suffix.lower() == ".npz"):
        raise OptionError(
            f"{arguments.input} is an outline without triangles, which .poly and .npz files hold: "
            "dmr triangulate makes a mesh of it"
        )
    written = output.write(found)
    console.note(f"wrote {', '.join(map(str, written))}")
    return 0
