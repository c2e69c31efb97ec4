"""Parsers of the commands that make meshes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dmr.cli.parsing import strategies
from dmr.cli.parsing.options import (
    add_extras,
    add_feature_options,
    add_mesh_and_output,
    add_outline_options,
    add_output,
    add_proof,
    add_run,
    add_sizes,
)
from dmr.cli.parsing.tiles import add_tiles
from dmr.common.command_line.parser import Parser, add_command, add_device, add_json, parse_examples
from dmr.common.command_line.values import count, file_name, number
from dmr.refinement.options import BALANCES, KEPT_SEGMENTS, LOOPS, MARKINGS, STEINER_RULES, USUAL_ROUNDS
from dmr.triangulation.options import METHODS

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


def add_refine(commands: Any) -> None:
    """Adds the command `dmr refine`."""
    parser = add_command(
        commands,
        "refine",
        """
        Refine a triangle mesh, or mesh an outline, until no triangle is skinny or too large

        dmr refine input.ele  # no angle below 30 degrees; writes input.1.*
        dmr refine domain.poly -q 25 -a 0.01 -o out.vtu  # 25 degrees, no area above 0.01, as a VTK file
        dmr refine domain.poly --size 0.1  # edges of about this length
        dmr refine domain.poly --size sizes.vtu  # edge lengths from the sizes on another mesh
        dmr refine domain.poly -a 0.01 --optimize  # better angles: points are moved afterwards
        dmr refine input.ele --device cpu --threads 4  # on four cores
        dmr refine input.ele --json | jq .triangles  # the result as JSON, for programs
        dmr refine coast.poly -a 1 --tiles 10e6 -o out/ --workers 4  # larger than a device: in tiles, by 4 processes
        dmr refine out/ -a 0.1 --tiles 10e6 -o finer/  # its parts, refined again
        """,
    )
    add = parser.add_argument
    add(
        "input",
        type=file_name,
        metavar="IN",
        help="an outline (.poly, .geojson, .gpkg, .shp), or a mesh: .ele with its companions, .vtu, .msh, ...; "
        "with --tiles also a folder of parts",
    )
    add_output(parser)
    add("-q", "--min-angle", type=number, default=30.0, metavar="DEG", help="smallest angle allowed (default: 30)")
    add("-a", "--max-area", type=number, metavar="A", help="largest triangle area allowed")
    add_sizes(parser)
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
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument(
        "--keep-segments",
        choices=KEPT_SEGMENTS,
        default=KEPT_SEGMENTS[0],
        help="segments that are never split (default: %(default)s)",
    )
    kept.add_argument(
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
        help="then move the inserted points and flip edges, until angles are better on average; takes several "
        "times as long as the refinement",
    )
    add_outline_options(parser)
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
    add_extras(parser)
    add(
        "--unrefined",
        type=file_name,
        metavar="JSON",
        help="write the triangles that violate a bound, and why, for dmr validate",
    )
    add_proof(parser)
    add_json(parser)
    add_tiles(parser)
    add_feature_options(parser)
    parser.more = strategies.describe
    parser.suggest = suggest_triangle


def add_adapt(commands: Any) -> None:
    """Adds the command `dmr adapt`."""
    parser = add_command(
        commands,
        "adapt",
        """
        Mesh the domain of a mesh again, with other sizes: finer and coarser

        dmr adapt mesh.vtu --size mesh.vtu -o next.vtu  # by the sizes on its own vertices (point data)
        dmr adapt mesh.msh --size 0.1 --merge-collinear -o coarse.msh  # also divides straight sides again
        dmr adapt mesh.ele --size-from-curvature 24 --size 0.2 --grading 0.2
        """,
    )
    add_mesh_and_output(parser)
    add_sizes(parser)
    add = parser.add_argument
    add(
        "--merge-collinear",
        action="store_true",
        help="leave out vertices inside straight sides; otherwise all vertices of the mesh's outline are kept",
    )
    add("-q", "--min-angle", type=number, default=30.0, metavar="DEG", help="smallest angle allowed (default: 30)")
    add("-a", "--max-area", type=number, metavar="A", help="largest triangle area allowed")
    add("--max-steiner", type=count, metavar="N", help="insert at most N points; exit with 3 if more are needed")
    add("--optimize", action="store_true", help="then move the inserted points, for better angles")
    add_run(parser)


def add_optimize(commands: Any) -> None:
    """Adds the command `dmr optimize`."""
    parser = add_command(
        commands,
        "optimize",
        """
        Move the inner vertices of a mesh and flip edges, for better angles

        dmr optimize mesh.ele  # writes mesh.1.node, mesh.1.ele
        dmr optimize mesh.msh -o better.msh --rounds 20 --validate
        """,
    )
    add_mesh_and_output(parser)
    parser.add_argument(
        "--rounds", type=count, default=USUAL_ROUNDS, metavar="N", help="at most N rounds (default: %(default)s)"
    )
    add_run(parser)


def add_triangulate(commands: Any) -> None:
    """Adds the command `dmr triangulate`."""
    parser = add_command(
        commands,
        "triangulate",
        """
        Triangulate points or an outline, without adding points: constrained Delaunay

        dmr triangulate dots.node  # the convex hull of points; writes dots.1.node, dots.1.ele
        dmr triangulate domain.poly -o coarse.vtu  # the area that its segments enclose, as a VTK file
        dmr triangulate country.geojson --project EPSG:3857 -o country.ele
        dmr triangulate domain.poly --method rounds --threads 8  # on 8 threads
        """,
    )
    parser.add_argument(
        "input", type=file_name, metavar="IN", help="points (.node), or an outline (.poly, .geojson, .gpkg, .shp, .npz)"
    )
    add_output(parser)
    add_outline_options(parser)
    parser.add_argument(
        "--method",
        choices=METHODS,
        default=METHODS[0],
        help="one CPU thread, or rounds of kernels on a GPU or CPU threads; the mesh is the same (default: "
        "%(default)s, the faster one)",
    )
    add_extras(parser)
    add_device(parser)
    add_json(parser)
    add_feature_options(parser)
    parser.suggest = suggest_triangle


def add_triangle(commands: Any) -> None:
    """Adds the command `dmr triangle`."""
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


def suggest_triangle(words: Sequence[str]) -> str:
    """Returns the call of `dmr triangle` that arguments may have meant, or ""."""
    from dmr.triangle.switches import suggested_call

    return suggested_call(words)


def _describe_switches() -> str:
    from dmr.triangle.switches import describe

    return describe()
