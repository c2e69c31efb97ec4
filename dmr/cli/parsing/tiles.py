"""Options of `dmr refine` that refine in tiles."""

from __future__ import annotations

from typing import Any

from dmr.common.command_line.parser import Parser
from dmr.common.command_line.values import label, positive


def add_tiles(parser: Parser) -> None:
    """Adds the size of the tiles, and what runs their tasks."""
    group = parser.add_argument_group("meshes larger than a device")
    group.add_argument(
        "--tiles",
        dest="tile_triangles",
        type=positive,
        metavar="N",
        help="refine in tiles of about N triangles, and write parts to the folder OUT; an interrupted call resumes",
    )
    add_engines(group, "in K processes of this machine, each with a GPU or some cores")


def add_engines(group: Any, workers: str) -> None:
    """Adds what runs tasks; `workers` is the help of --workers."""
    engines = group.add_mutually_exclusive_group()
    engines.add_argument("--workers", type=positive, metavar="K", help=workers)
    engines.add_argument("--scheduler", type=label, metavar="ADDRESS", help="on a Dask cluster: tcp://host:8786")
    engines.add_argument(
        "--mpi", action="store_true", help="by the processes of this MPI job (python -m mpi4py.futures)"
    )
