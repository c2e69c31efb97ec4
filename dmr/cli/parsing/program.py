"""The parser of `dmr` and all its commands."""

from __future__ import annotations

from collections.abc import Sequence

from dmr._version import __version__
from dmr.cli.parsing.meshing import (
    add_adapt,
    add_optimize,
    add_refine,
    add_triangle,
    add_triangulate,
    suggest_triangle,
)
from dmr.cli.parsing.using import add_convert, add_devices, add_generate, add_info, add_validate, add_view
from dmr.common.command_line.parser import Parser, make_parser


def build_parser() -> Parser:
    """Builds the parser of `dmr` and all its commands."""
    parser, commands = make_parser(
        "dmr",
        f"dmr {__version__}",
        "Triangle meshes without skinny triangles: Delaunay refinement on a GPU, or on all cores of a CPU.",
        """
        dmr refine input.ele  # no angle below 30 degrees; writes input.1.node, input.1.ele
        dmr refine domain.poly -a 0.01  # mesh the domain that an outline bounds
        dmr adapt mesh.vtu --size mesh.vtu -o next.vtu  # a mesh of the same domain with other sizes
        dmr optimize mesh.ele  # better angles
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
    for add in (add_refine, add_adapt, add_optimize, add_triangulate, add_triangle, add_validate):
        add(commands)
    for add in (add_info, add_view, add_convert, add_generate, add_devices):
        add(commands)
    return parser


def _suggest_command(words: Sequence[str]) -> str:
    """Returns a call of `dmr triangle`, or of `dmr refine` if the command is missing and a file is there."""
    forgotten = words and not words[0].startswith("-") and "." in words[0]
    return suggest_triangle(words) or (f"dmr refine {words[0]}" if forgotten else "")
