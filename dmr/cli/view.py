"""The command `dmr view`."""

from __future__ import annotations

from pathlib import Path

from dmr.cli.shared.console import Console
from dmr.cli.shared.files import check_writable, read
from dmr.common.command_line.parser import Arguments
from dmr.common.command_line.targets import refuse_existing
from dmr.errors import OptionError
from dmr.mesh.types import Mesh, Pslg
from dmr.viewing.viewer import IMAGE_FORMATS, has_display, view


def run(arguments: Arguments, console: Console) -> int:
    """Reads one or two meshes and draws them."""
    target = None if arguments.screenshot is None else Path(arguments.screenshot)
    if target is None:
        if not has_display():
            raise OptionError("there is no display to open a window on: --screenshot FILE.png draws without one")
    else:
        if target.suffix.lower() not in IMAGE_FORMATS:
            raise OptionError(f"--screenshot must end in {', '.join(IMAGE_FORMATS)}, not {str(target)!r}")
        check_writable(target)
        refuse_existing(target, force=arguments.force)
    mesh = _read(arguments.mesh)
    other = None if arguments.compare is None else _read(arguments.compare)
    view(
        mesh,
        color=None if arguments.color == "none" else arguments.color,
        screenshot=target,
        compare=other,
        edges=not arguments.no_edges,
        window_size=arguments.window_size,
        titles=() if other is None else (Path(arguments.mesh).name, Path(arguments.compare).name),
    )
    if target is not None:
        console.note(f"wrote {target}")
    return 0


def _read(path: str) -> Mesh | Pslg:
    """Reads a file, or all parts of a folder."""
    if not Path(path).is_dir():
        return read(path)
    from dmr.distributed import Parts

    return Parts(path).gather()
