"""The command `dmr validate` for a folder: a mesh in parts."""

from __future__ import annotations

from dmr.cli.shared.console import Console
from dmr.cli.shared.files import features_asked, read
from dmr.cli.shared.proof import show_proof
from dmr.cli.shared.sizes import read_size
from dmr.common.command_line.parser import Arguments
from dmr.common.errors import DONE, INTERNAL
from dmr.common.text import option
from dmr.errors import OptionError


def run(arguments: Arguments, console: Console) -> int:
    """Checks the parts and their union, and prints one line per check."""
    for name in ("size", "unrefined"):
        if getattr(arguments, name) is not None:
            raise OptionError(f"{option(name)} is for meshes in files: a folder of parts is checked without it")
    max_edge = read_size(arguments.max_edge, "max_edge")

    from dmr.distributed.engines import chosen_engine
    from dmr.distributed.jobs.task import Resources
    from dmr.distributed.output.parts import Parts
    from dmr.distributed.validation.checker import validate_by

    threads = 1 if arguments.scheduler and arguments.threads is None else arguments.threads
    engine = chosen_engine(
        Resources("cpu", threads), workers=arguments.workers, scheduler=arguments.scheduler, mpi=arguments.mpi
    )
    parts = Parts(arguments.mesh)
    input = None if arguments.input is None else read(
        arguments.input, points=arguments.convex_hull, features=features_asked(arguments)
    )  # fmt: skip
    report = validate_by(
        engine,
        parts,
        input=input,
        min_angle=arguments.min_angle,
        max_area=arguments.max_area,
        max_edge=max_edge,
        convex_hull=arguments.convex_hull,
    )
    show_proof(report, report.lines(), arguments, console)
    return DONE if report.ok else INTERNAL
