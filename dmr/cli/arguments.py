"""Argument parsers of all commands. Kept light: nothing here imports numpy."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from dmr._version import __version__
from dmr.cli import strategies
from dmr.common.command_line.parser import (
    Parser,
    add_command,
    add_device,
    add_json,
    add_threads,
    make_parser,
    parse_examples,
)
from dmr.common.command_line.values import count, file_name, label, number
from dmr.refinement.options import BALANCES, KEPT_SEGMENTS, LOOPS, MARKINGS, STEINER_RULES
from dmr.triangulation.options import CONFLICT_POLICIES, MESHERS, METHODS

# Options for files with features; the names are those of the parameters of `dmr.domains.from_file`.
FEATURE_OPTIONS = ("layer", "attribute", "area", "marker", "project")


# The switches of `dmr triangle` by the arguments of `dmr.refine` and `dmr.triangulate`, for messages.
_SWITCHES = {
    "min_angle": "-q",
    "max_area": "-a",
    "conforming": "-D",
    "keep_segments": "-Y",
    "max_steiner": "-S",
    "convex_hull": "-c",
    "device": "--device",
    "threads": "--threads",
}


def build_parser() -> Parser:
    """Builds the parser of `dmr` and all its commands."""
    parser, commands = make_parser(
        "dmr",
        f"dmr {__version__}",
        "Triangle meshes without skinny triangles: Delaunay refinement on a GPU, or on all cores of a CPU.",
        """
        dmr refine input.ele  # no angle below 30 degrees; writes input.1.node, input.1.ele
        dmr refine domain.poly -a 0.01  # mesh the domain that an outline bounds
        dmr triangulate dots.node  # the Delaunay triangulation of points
        dmr triangle -pq30a0.01 domain.poly  # with the switches of Shewchuk's Triangle
        dmr validate input.1.ele --min-angle 30  # prove the result in exact arithmetic
        dmr view input.1.ele --screenshot mesh.png  # a picture
        dmr info input.1.ele  # counts, statistics, a histogram of angles
        dmr convert input.1.ele mesh.vtu  # another format
        dmr generate random 10000 -o input.ele  # a sample mesh
        dmr devices  # list CPU and GPUs
        """,
    )
    parser.suggest = _suggest_command
    for add in (_add_refine, _add_triangulate, _add_triangle, _add_validate, _add_info, _add_view, _add_convert):
        add(commands)
    for add in (_add_generate, _add_devices):
        add(commands)
    return parser


def _add_refine(commands: Any) -> None:
    parser = add_command(
        commands,
        "refine",
        """
        Refine a triangle mesh, or mesh an outline, until no triangle is skinny or too large

        dmr refine input.ele  # no angle below 30 degrees; writes input.1.node, input.1.ele
        dmr refine domain.poly -q 25 -a 0.01 -o out.vtu  # 25 degrees, no area above 0.01, as a VTK file
        dmr refine domain.poly --size 0.1  # edges of about this length
        dmr refine domain.poly --size sizes.vtu  # edge lengths from the sizes on another mesh
        dmr refine domain.poly -a 0.01 --optimize  # better angles: points are moved afterwards
        dmr refine input.ele --device cpu --threads 4  # on four cores
        dmr refine input.ele --json | jq .triangles  # the result as JSON, for programs
        """,
    )
    add = parser.add_argument
    add(
        "input",
        type=file_name,
        metavar="IN",
        help="an outline (.poly, .geojson, .gpkg, .shp), or a mesh: .ele with its companions, .vtu, .msh, ...",
    )
    _add_output(parser)
    add("-q", "--min-angle", type=number, default=30.0, metavar="DEG", help="smallest angle wanted (default: 30)")
    add("-a", "--max-area", type=number, metavar="A", help="largest triangle wanted")
    add(
        "--size",
        type=file_name,
        metavar="LENGTH|FILE",
        help="edge length wanted: a number, or the name of a mesh file with a size on each vertex (attribute 0 or "
        "point data)",
    )
    add(
        "--max-edge",
        type=file_name,
        metavar="LENGTH|FILE",
        help="largest edge length, likewise",
    )
    add("--steiner", choices=STEINER_RULES, default=STEINER_RULES[0], help="placement of points (default: %(default)s)")
    add("--max-steiner", type=count, metavar="N", help="insert at most N points; exit with 3 if more are needed")
    add(
        "--max-seconds",
        type=number,
        metavar="S",
        help="stop between two rounds after S seconds, with a valid mesh, and exit with 3; the mesh then depends on "
        "the machine's speed",
    )
    add("--conforming", action="store_true", help="every triangle Delaunay, also across segments")
    add(
        "--keep-segments",
        choices=KEPT_SEGMENTS,
        default=KEPT_SEGMENTS[0],
        help="segments that are never split (default: %(default)s)",
    )
    add(
        "--no-boundary-steiner",
        dest="keep_segments",
        action="store_const",
        const="all",
        help="split no segment, on the boundary or inside: --keep-segments all",
    )
    add("--strict", action="store_true", help="refuse a mesh that is not Delaunay instead of flipping it")
    add(
        "--optimize",
        action="store_true",
        help="then move the points that were inserted, and flip edges, until angles are better on average; several "
        "times as long as the refinement",
    )
    _add_outline_options(parser)
    add(
        "--marking",
        choices=MARKINGS,
        default=MARKINGS[0],
        metavar="M",
        help="how conflicts of overlapping cavities are resolved, see below (default: %(default)s)",
    )
    add(
        "--balance",
        choices=BALANCES,
        default=BALANCES[0],
        metavar="B",
        help="how quality checks are distributed over threads, see below (default: %(default)s)",
    )
    add("--loop", choices=LOOPS, default=LOOPS[0], help="what drives the rounds (auto: the device if possible)")
    add_device(parser)
    add("--profile", action="store_true", help="report the time of each phase and the kernel launches; slows the run")
    _add_extras(parser)
    add(
        "--unrefined",
        type=file_name,
        metavar="JSON",
        help="write which triangles miss a bound, and why, for dmr validate",
    )
    add_json(parser)
    _add_feature_options(parser)
    parser.more = strategies.describe
    parser.suggest = _suggest_triangle


def _add_triangulate(commands: Any) -> None:
    parser = add_command(
        commands,
        "triangulate",
        """
        Triangulate points or an outline, without adding points: constrained Delaunay

        dmr triangulate dots.node  # the convex hull of points; writes dots.1.node, dots.1.ele
        dmr triangulate domain.poly -o coarse.vtu  # what its segments enclose, as a VTK file
        dmr triangulate country.geojson --project EPSG:3857 -o country.ele
        dmr triangulate domain.poly --method rounds --threads 8  # on 8 threads
        """,
    )
    parser.add_argument(
        "input", type=file_name, metavar="IN", help="points (.node), or an outline (.poly, .geojson, .gpkg, .shp, .npz)"
    )
    _add_output(parser)
    _add_outline_options(parser)
    parser.add_argument(
        "--method",
        choices=METHODS,
        default=METHODS[0],
        help="one CPU thread, or rounds of kernels on a GPU or all CPU threads; the mesh is the same (default: "
        "%(default)s, the faster one)",
    )
    _add_extras(parser)
    add_device(parser)
    add_json(parser)
    _add_feature_options(parser)
    parser.suggest = _suggest_triangle


def _add_convert(commands: Any) -> None:
    parser = add_command(
        commands,
        "convert",
        """
        Write a mesh or an outline in another format; the suffixes choose the formats

        dmr convert mesh.ele mesh.vtu  # for ParaView
        dmr convert mesh.msh mesh.npz  # Gmsh's mesh as numpy arrays
        dmr convert country.geojson country.poly --marker road  # an outline for Triangle
        dmr convert mesh.ele mesh.inp --order 2  # second-order elements
        """,
    )
    add = parser.add_argument
    add("input", type=file_name, metavar="IN", help="a mesh or an outline, in any format that is read")
    add("output", type=file_name, metavar="OUT", help="the file to write; what its format does not keep is reported")
    add("-f", "--force", action="store_true", help="overwrite OUT if it exists")
    _add_extras(parser)
    add_threads(parser)
    _add_feature_options(parser)


def _add_output(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "-o",
        "--output",
        type=file_name,
        metavar="OUT",
        help="output file; its suffix chooses the format (default: IN.1.node, IN.1.ele)",
    )
    add("-f", "--force", action="store_true", help="overwrite OUT if it exists")


def _add_outline_options(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "--on-conflict",
        choices=CONFLICT_POLICIES,
        default=CONFLICT_POLICIES[0],
        help="what to do if vertices or segments of an outline coincide, overlap or cross, or a ring encloses nothing "
        "(default: %(default)s)",
    )
    add("--convex-hull", action="store_true", help="mesh the convex hull of an outline, not only what it encloses")
    add("--mesher", choices=MESHERS, default=MESHERS[0], help="what triangulates an outline (default: %(default)s)")


def _add_extras(parser: Parser) -> None:
    """Adds the options that `dmr.cli.files.Output` reads."""
    add = parser.add_argument
    add("--order", type=int, choices=(1, 2), default=1, help="2: elements with midpoints (default: 1)")
    add("--edges", action="store_true", help="also write a .edge file: all edges")
    add("--neighbours", action="store_true", help="also write a .neigh file: the neighbours of each triangle")
    add("--voronoi", action="store_true", help="also write .v.node and .v.edge files: the Voronoi dual")


def _add_feature_options(parser: Parser) -> None:
    group = parser.add_argument_group("files with features (.geojson .json .gpkg .shp)")
    add = group.add_argument
    add("--attribute", type=label, metavar="NAME", help="the property that holds the attribute of a feature's region")
    add("--area", type=label, metavar="NAME", help="the property that holds the largest area of its triangles")
    add("--marker", type=label, metavar="NAME", help="the property that holds the marker of its segments")
    add("--project", type=label, metavar="CRS", help="project the coordinates first, such as to EPSG:3857")
    add("--layer", type=label, metavar="NAME", help="the layer of a .gpkg that holds several")


def _add_triangle(commands: Any) -> None:
    parser: Parser = commands.add_parser(
        "triangle",
        help="Mesh a domain, or refine a mesh, with the switches of Shewchuk's Triangle",
        description="Accepts the switches of Shewchuk's Triangle and reads and writes the same files.",
        usage="dmr triangle [-SWITCHES ...] FILE [--device DEVICE] [--threads N]",
        allow_abbrev=False,
        add_help=False,  # -h is also a switch of Triangle
    )
    parser.examples = parse_examples("""
        dmr triangle -pq30a0.01 A.poly  # a quality mesh: writes A.1.node, A.1.ele, A.1.poly
        dmr triangle -rpa0.005 A.1  # refines it: writes A.2.node, A.2.ele, A.2.poly
        dmr triangle -e dots.node  # the Delaunay triangulation of points, and its edges
    """)
    parser.set_defaults(module="triangle", flags=_SWITCHES)
    parser.takes_words = True
    parser.more = _describe_switches
    add = parser.add_argument
    add("--help", action="help", help="show this help and exit")
    add_device(parser)


def _add_validate(commands: Any) -> None:
    parser = add_command(
        commands,
        "validate",
        """
        Check a mesh in exact arithmetic; ends with 0 (valid), 1 (unreadable) or 5 (invalid)

        dmr validate out.1.ele  # is it a constrained Delaunay triangulation?
        dmr validate out.1.ele --min-angle 30 --input out.ele  # is it a refinement of out.ele to 30 degrees?
        dmr validate a.1.ele --min-angle 30 --input a.poly  # is it a mesh of the domain that a.poly describes?
        """,
    )
    add = parser.add_argument
    add("mesh", type=file_name, metavar="MESH", help="the mesh to check")
    add("--input", type=file_name, metavar="IN", help="the mesh it was refined from, or the .poly file of its domain")
    add("-q", "--min-angle", type=number, metavar="DEG", help="no angle may be smaller")
    add("-a", "--max-area", type=number, metavar="A", help="no triangle may be larger")
    add("--size", type=file_name, metavar="LENGTH|FILE", help="edge length wanted, to compare edges with; never fails")
    add("--max-edge", type=file_name, metavar="LENGTH|FILE", help="no edge may be longer")
    add(
        "--unrefined",
        type=file_name,
        metavar="JSON",
        help="the list that refine --unrefined wrote: these triangles may miss a bound where the geometry confirms it",
    )
    add("--convex-hull", action="store_true", help="the domain of a .poly is the convex hull of its vertices")
    add_threads(parser)
    add_json(parser)
    _add_feature_options(parser)


def _add_info(commands: Any) -> None:
    parser = add_command(
        commands,
        "info",
        """
        Describe a mesh: counts, bounding box, statistics and a histogram of its smallest angles

        dmr info mesh.ele
        dmr info mesh.vtu --json | jq .min_angle.minimum  # for programs
        """,
    )
    add = parser.add_argument
    add("mesh", type=file_name, metavar="MESH", help="a mesh, or an outline")
    add("--layer", type=label, metavar="NAME", help="the layer of a .gpkg that holds several")
    add("-q", "--min-angle", type=number, default=30.0, metavar="DEG", help="count angles below it (default: 30)")
    add_json(parser)


def _add_view(commands: Any) -> None:
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
    add("mesh", type=file_name, metavar="MESH", help="a mesh, or a .poly file")
    add("--color", choices=("min_angle", "area", "region", "none"), default="min_angle", help="default: %(default)s")
    add("--screenshot", type=file_name, metavar="PNG", help="write an image (.png, .jpg) instead of opening a window")
    add("-f", "--force", action="store_true", help="overwrite the image if it exists")
    add("--compare", type=file_name, metavar="OTHER", help="a second mesh, beside the first at the same scale")
    add("--no-edges", action="store_true", help="leave out the edges of triangles")
    add(
        "--size",
        dest="window_size",
        type=_size,
        metavar="WxH",
        help="size of the picture in pixels (default: chosen by the mesh)",
    )


def _add_generate(commands: Any) -> None:
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
    add("--mesher", choices=MESHERS, default=MESHERS[0], help="what triangulates the points (default: %(default)s)")
    parser.more = _describe_kinds


def _add_devices(commands: Any) -> None:
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
    add("--warm", action="store_true", help="compile all kernels ahead of the first run")


def _suggest_triangle(words: Sequence[str]) -> str:
    from dmr.triangle.switches import suggested_call

    return suggested_call(words)


def _suggest_command(words: Sequence[str]) -> str:
    """Returns a call of `dmr triangle`, or of `dmr refine` if the command is missing and a file is there."""
    forgotten = words and not words[0].startswith("-") and "." in words[0]
    return _suggest_triangle(words) or (f"dmr refine {words[0]}" if forgotten else "")


def _describe_switches() -> str:
    from dmr.triangle.switches import describe

    return describe()


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
