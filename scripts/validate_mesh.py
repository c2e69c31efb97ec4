"""Checks exactly whether a mesh file is a constrained Delaunay triangulation that satisfies the refinement's bounds.

    python scripts/validate_mesh.py out.1.ele --min-angle 30
    python scripts/validate_mesh.py out.1.ele --input in.ele --min-angle 30 --max-area 0.01 --json
    python scripts/validate_mesh.py domain.1.ele --input domain.poly --min-angle 30

The report goes to stdout. Exit code: 0 valid, 1 a file cannot be read (or an option cannot be used), 5 invalid.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from dmr.errors import DmrError, FileError
from dmr.io import read
from dmr.mesh.types import Mesh
from dmr.validation.checker import validate

VALID, UNREADABLE, INVALID = 0, 1, 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        report = validate(
            _mesh(options.mesh),
            input=None if options.input is None else read(options.input),
            min_angle=options.min_angle,
            max_area=options.max_area,
            convex_hull=options.convex_hull,
            threads=options.threads,
        )
    except DmrError as error:
        print(f"validate_mesh: {error}", file=sys.stderr)
        return error.exit_code if not isinstance(error, FileError) else UNREADABLE
    except OSError as error:
        print(f"validate_mesh: {error.filename or options.mesh}: {error.strerror or error}", file=sys.stderr)
        return UNREADABLE
    if options.json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        print("\n".join(report.lines()))
    return VALID if report.ok else INVALID


def _parser() -> argparse.ArgumentParser:
    text = __doc__ or ""
    parser = argparse.ArgumentParser(
        description=text, usage="%(prog)s MESH [options]", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mesh", metavar="MESH", help="the mesh to check, in any format that dmr reads")
    parser.add_argument(
        "--input", metavar="IN", help="the mesh that was refined, or the outline (.poly) that was meshed"
    )
    parser.add_argument("--min-angle", metavar="DEG", type=float, help="smallest allowed angle in degrees")
    parser.add_argument("--max-area", metavar="A", type=float, help="no triangle may be larger")
    parser.add_argument(
        "--convex-hull", action="store_true", help="the domain of an outline is the convex hull of its vertices"
    )
    parser.add_argument("--threads", metavar="N", type=int, help="CPU threads (default: all cores)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _mesh(path: str) -> Mesh:
    found = read(path)
    if not isinstance(found, Mesh):
        raise FileError("holds an outline without triangles, not a mesh", path)
    return found


if __name__ == "__main__":
    sys.exit(main())
