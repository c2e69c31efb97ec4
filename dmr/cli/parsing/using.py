"""Parsers of the commands that check, show and convert meshes, and of those that need none."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from dmr.cli.parsing.options import add_extras, add_feature_options
from dmr.cli.parsing.tiles import add_engines
from dmr.common.command_line.parser import add_command, add_json, add_threads
from dmr.common.command_line.values import count, file_name, label, number, positive
from dmr.distributed.output.methods import PARTITIONS
from dmr.triangulation.options import MESHERS


def add_validate(commands: Any) -> None:
    """Adds the command `dmr validate`."""
    parser = add_command(
        commands,
        "validate",
        """
        Check a mesh in exact arithmetic; ends with 0 (valid), 1 (unreadable) or 5 (invalid)

        dmr validate out.1.ele  # is it a constrained Delaunay triangulation?
        dmr validate out.1.ele --min-angle 30 --input out.ele  # is it a refinement of out.ele to 30 degrees?
        dmr validate a.1.ele --min-angle 30 --input a.poly  # is it a mesh of the domain that a.poly describes?
        dmr validate out/ --input a.poly --workers 4  # a mesh in parts, by four processes
        """,
    )
    add = parser.add_argument
    add("mesh", type=file_name, metavar="MESH", help="the mesh to check, or the folder of a mesh in parts")
    add("--input", type=file_name, metavar="IN", help="the mesh it was refined from, or the .poly file of its domain")
    add("-q", "--min-angle", type=number, metavar="DEG", help="no angle may be smaller")
    add("-a", "--max-area", type=number, metavar="A", help="no triangle may be larger")
    add("--size", type=file_name, metavar="LENGTH|FILE", help="target edge length, to compare edges with; never fails")
    add("--max-edge", type=file_name, metavar="LENGTH|FILE", help="no edge may be longer")
    add(
        "--unrefined",
        type=file_name,
        metavar="JSON",
        help="the list that refine --unrefined wrote: its triangles may violate a bound if the geometry confirms why",
    )
    add("--convex-hull", action="store_true", help="the domain of a .poly is the convex hull of its vertices")
    add_engines(parser.add_argument_group("meshes in parts"), "in K processes of this machine")
    # Each command lists its own options, in the order of its help.
    add_threads(parser)
    add_json(parser)
    add_feature_options(parser)


def add_info(commands: Any) -> None:
    """Adds the command `dmr info`."""
    parser = add_command(
        commands,
        "info",
        """
        Describe a mesh: counts, bounding box, statistics and a histogram of its smallest angles

        dmr info mesh.ele
        dmr info out/  # a mesh in parts: counts and angles, one part at a time in memory
        dmr info mesh.vtu --json | jq .min_angle.minimum  # for programs
        """,
    )
    add = parser.add_argument
    add("mesh", type=file_name, metavar="MESH", help="a mesh, an outline, or a folder of parts")
    add("--layer", type=label, metavar="NAME", help="the layer of a .gpkg that holds several")
    add("-q", "--min-angle", type=number, default=30.0, metavar="DEG", help="count angles below it (default: 30)")
    add_json(parser)


def add_view(commands: Any) -> None:
    """Adds the command `dmr view`."""
    parser = add_command(
        commands,
        "view",
        """
        Show a mesh in a window, or draw it into an image file

        dmr view mesh.ele  # a window
        dmr view mesh.ele --screenshot mesh.png  # an image; needs no display
        dmr view mesh.ele --compare mesh.1.ele --color area  # two meshes side by side
        """,
    )
    add = parser.add_argument
    add("mesh", type=file_name, metavar="MESH", help="a mesh, also in parts, or a .poly file")
    add(
        "--color",
        choices=("min_angle", "area", "region", "none"),
        default="min_angle",
        help="quantity shown by colours (default: %(default)s)",
    )
    add("--screenshot", type=file_name, metavar="PNG", help="write an image (.png, .jpg) instead of opening a window")
    add("-f", "--force", action="store_true", help="overwrite the image if it exists")
    add("--compare", type=file_name, metavar="OTHER", help="a second mesh, beside the first at the same scale")
    add("--no-edges", action="store_true", help="leave out the edges of triangles")
    add(
        "--size",
        dest="window_size",
        type=_size,
        metavar="WxH",
        help="size of the picture in pixels (default: depends on the mesh)",
    )


def add_convert(commands: Any) -> None:
    """Adds the command `dmr convert`."""
    parser = add_command(
        commands,
        "convert",
        """
        Write a mesh or an outline in another format; the suffixes choose the formats

        dmr convert mesh.ele mesh.vtu  # for ParaView
        dmr convert mesh.msh mesh.npz  # Gmsh's mesh as numpy arrays
        dmr convert country.geojson country.poly --marker road  # an outline for Triangle
        dmr convert mesh.ele mesh.inp --order 2  # second-order elements
        dmr convert mesh.ele out/ --parts 16  # parts with ghosts, for 16 processes of a solver
        dmr convert out/ mesh.vtkhdf  # parts as one file for ParaView
        """,
    )
    add = parser.add_argument
    add("input", type=file_name, metavar="IN", help="a mesh or an outline, in any format that is read; or parts")
    add("output", type=file_name, metavar="OUT", help="the file to write; what its format does not keep is reported")
    add("--parts", type=positive, metavar="N", help="write N parts with ghosts to the folder OUT")
    add(
        "--partition",
        choices=PARTITIONS,
        default=PARTITIONS[0],
        help="divide along a Hilbert curve, or by METIS (default: %(default)s)",
    )
    parser.suggest = _suggest_second_argument
    add("--single-piece", action="store_true", help="write parts as a .vtkhdf of one piece without ghosts, for dolfinx")
    add("-f", "--force", action="store_true", help="overwrite OUT if it exists")
    add_extras(parser)
    add_threads(parser)
    add_feature_options(parser)


def _suggest_second_argument(words: Sequence[str]) -> str:
    """Returns the call of `dmr convert` without the option -o, which other commands have, or ""."""
    rest = [word for word in words if word not in ("-o", "--output")]
    return f"dmr convert {' '.join(rest)}" if len(rest) < len(words) else ""


def add_generate(commands: Any) -> None:
    """Adds the command `dmr generate`."""
    parser = add_command(
        commands,
        "generate",
        """
        Make a sample mesh, the same on every machine

        dmr generate random 10000 -o input.ele  # 10,000 points in the unit square
        dmr generate plate 5000 -o plate.ele --seed 7  # a plate with holes
        dmr generate thesis-1.1m -o thesis.ele  # 1,099,959 triangles
        """,
    )
    add = parser.add_argument
    add("kind", metavar="KIND", help="kind of mesh, see below")
    add("n", metavar="N", type=count, nargs="?", help="number of points")
    add(
        "-o",
        "--output",
        type=file_name,
        metavar="OUT",
        required=True,
        help="output file; its suffix chooses the format",
    )
    add("-f", "--force", action="store_true", help="overwrite OUT if it exists")
    add("--seed", type=count, default=0, metavar="S", help="seed of the random numbers (default: 0)")
    add("--mesher", choices=MESHERS, default=MESHERS[0], help="mesher of the points (default: %(default)s)")
    parser.more = _describe_kinds


def add_devices(commands: Any) -> None:
    """Adds the command `dmr devices`."""
    parser = add_command(
        commands,
        "devices",
        """
        List the devices that a refinement can run on

        dmr devices
        dmr devices --warm  # compile the kernels for all of them, once
        """,
    )
    add = parser.add_argument
    add_json(parser)
    add("--warm", action="store_true", help="compile all kernels before the first run")


def _describe_kinds() -> str:
    from dmr.domains.generation import KINDS, THESIS_INPUTS, describe

    lines = [f"  {kind:12}  {describe(kind)}" for kind in (*KINDS, *THESIS_INPUTS)]
    return "\n".join(["kinds:", *lines])


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    size = (int(match[1]), int(match[2])) if match else (0, 0)
    if not all(64 <= side <= 8000 for side in size):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 1600x1000 (64 to 8000 pixels each)")
    return size
