"""Options that several commands share."""

from __future__ import annotations

from dmr.common.command_line.parser import Parser, add_device, add_json
from dmr.common.command_line.values import file_name, label, number
from dmr.triangulation.options import CONFLICT_POLICIES, MESHERS

# Options for files with features; the names are those of the parameters of `dmr.domains.from_file`.
FEATURE_OPTIONS = ("layer", "attribute", "area", "marker", "project")


def add_mesh_and_output(parser: Parser) -> None:
    """Adds an input that is a mesh, and the output file."""
    parser.add_argument("input", type=file_name, metavar="IN", help="a mesh, in any format that is read")
    add_output(parser)


def add_output(parser: Parser) -> None:
    """Adds the output file."""
    add = parser.add_argument
    add(
        "-o",
        "--output",
        type=file_name,
        metavar="OUT",
        help="output file; its suffix chooses the format (default: IN.1.node, IN.1.ele)",
    )
    add("-f", "--force", action="store_true", help="overwrite OUT if it exists")


def add_outline_options(parser: Parser) -> None:
    """Adds how an outline is triangulated."""
    add = parser.add_argument
    add(
        "--on-conflict",
        choices=CONFLICT_POLICIES,
        default=CONFLICT_POLICIES[0],
        help="what to do if vertices or segments of an outline coincide, overlap or cross, or a ring encloses nothing "
        "(default: %(default)s)",
    )
    add(
        "--convex-hull",
        action="store_true",
        help="mesh the convex hull of an outline, not only the area that it encloses",
    )
    add("--mesher", choices=MESHERS, default=MESHERS[0], help="mesher of the outline (default: %(default)s)")


def add_extras(parser: Parser) -> None:
    """Adds the options that `dmr.cli.shared.files.Output` reads."""
    add = parser.add_argument
    add("--order", type=int, choices=(1, 2), default=1, help="2: elements with midpoints (default: 1)")
    add("--edges", action="store_true", help="also write a .edge file: all edges")
    add("--neighbours", action="store_true", help="also write a .neigh file: the neighbours of each triangle")
    add("--voronoi", action="store_true", help="also write .v.node and .v.edge files: the Voronoi dual")


def add_proof(parser: Parser) -> None:
    """Adds the check of the result."""
    parser.add_argument(
        "--validate", action="store_true", help="prove the result in exact arithmetic; exit with 5 if it is invalid"
    )


def add_run(parser: Parser) -> None:
    """Adds the options of commands that improve a mesh on a device, write it and can prove it."""
    add_device(parser)
    add_extras(parser)
    add_proof(parser)
    add_json(parser)


def add_sizes(parser: Parser) -> None:
    """Adds the sizes that `dmr.cli.shared.sizes` reads."""
    add = parser.add_argument
    add(
        "--size",
        type=file_name,
        metavar="LENGTH|FILE",
        help="target edge length: a number, or the name of a mesh file with a size on each vertex (attribute 0 or "
        "point data)",
    )
    add("--max-edge", type=file_name, metavar="LENGTH|FILE", help="largest edge length allowed, in the same form")
    add(
        "--size-from-distance",
        type=number,
        nargs=3,
        metavar=("NEAR", "FAR", "D"),
        help="target edge length: NEAR at the segments, growing to FAR at the distance D",
    )
    add(
        "--size-from-curvature",
        dest="per_turn",
        type=number,
        metavar="N",
        help="target edge length: N edges per full turn of curved boundaries",
    )
    add(
        "--size-from-lengths",
        dest="factor",
        type=number,
        metavar="F",
        help="target edge length: F times the lengths of the segments",
    )
    add(
        "--along",
        type=label,
        action="append",
        metavar="NAME",
        help="marker or name of the segments that --size-from-... use (default: all); may be repeated",
    )
    add(
        "--grading",
        type=number,
        metavar="G",
        help="largest growth of the sizes per unit of distance (0.1 to 0.5 is usual; default of --size-from-curvature "
        "and --size-from-lengths: 0.2)",
    )


def add_feature_options(parser: Parser) -> None:
    """Adds the options of files with features, which `dmr.domains.from_file` describes."""
    group = parser.add_argument_group("files with features (.geojson .json .gpkg .shp)")
    add = group.add_argument
    add("--attribute", type=label, metavar="NAME", help="the property that holds the attribute of a feature's region")
    add("--area", type=label, metavar="NAME", help="the property that holds the largest area of its triangles")
    add("--marker", type=label, metavar="NAME", help="the property that holds the marker of its segments")
    add("--project", type=label, metavar="CRS", help="project the coordinates first, such as to EPSG:3857")
    add("--layer", type=label, metavar="NAME", help="the layer of a .gpkg that holds several")
