"""The command `dmr validate`."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from dmr.cli.shared.console import Console
from dmr.cli.shared.files import features_asked, numbered_as, read, read_mesh
from dmr.cli.shared.proof import show_proof
from dmr.cli.shared.sizes import read_size
from dmr.cli.shared.unrefined import read_list
from dmr.common.command_line.parser import Arguments
from dmr.common.errors import DONE, INTERNAL
from dmr.common.text import option
from dmr.errors import OptionError

# Checks of bounds that a triangle may miss for a reason reported by the refinement.
BOUNDS = frozenset({"angle", "max area", "max edge", "area bounds", "region areas"})


def run(arguments: Arguments, console: Console) -> int:
    """Reads a mesh, checks it and prints one line per check."""
    if arguments.min_angle is not None and not 0 <= arguments.min_angle <= 60:
        raise OptionError(f"{option('min_angle')} must be from 0 to 60 degrees, not {arguments.min_angle:g}")
    if arguments.max_area is not None and not arguments.max_area > 0:
        raise OptionError(f"{option('max_area')} must be a finite number above 0, not {arguments.max_area:g}")
    features = features_asked(arguments)
    if arguments.input is None and any(features.values()):
        raise OptionError(
            "--layer, --attribute, --area, --marker and --project apply to the outline: also give --input"
        )

    if Path(arguments.mesh).is_dir():
        from dmr.cli.parts import validate as parts

        return parts.run(arguments, console)
    for name in ("workers", "scheduler", "mpi"):
        if getattr(arguments, name) and Path(arguments.mesh).exists():
            raise OptionError(f"{option(name)} is for folders of meshes in parts; {option('threads')} for files")

    from dmr.validation.checker import validate

    mesh = read_mesh(arguments.mesh, "validate")
    size, max_edge = (read_size(getattr(arguments, name), name) for name in ("size", "max_edge"))
    input = None if arguments.input is None else read(
        arguments.input, points=arguments.convex_hull, features=features
    )  # fmt: skip
    unrefined = None if arguments.unrefined is None else read_list(arguments.unrefined, len(mesh.triangles))
    # Messages for people use the numbers in the files; JSON uses array indices, which count from 0.
    with nullcontext() if arguments.json else numbered_as(arguments.mesh, arguments.input):
        report = validate(
            mesh,
            input=input,
            min_angle=arguments.min_angle,
            max_area=arguments.max_area,
            size=size,
            max_edge=max_edge,
            convex_hull=arguments.convex_hull,
            unrefined=unrefined,
            threads=arguments.threads,
        )
        lines = report.lines()
    show_proof(report, lines, arguments, console)
    if unrefined is None and not BOUNDS.isdisjoint(report.counts):
        console.note(
            "to accept triangles that the refinement had to leave, list them with `dmr refine IN --unrefined "
            "left.json` and check with `dmr validate MESH --input IN --unrefined left.json`"
        )
    return DONE if report.ok else INTERNAL
