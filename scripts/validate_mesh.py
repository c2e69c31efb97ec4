"""Checks exactly whether a mesh file is a constrained Delaunay triangulation that satisfies the refinement's bounds.

    python scripts/validate_mesh.py out.1.ele --min-angle 30
    python scripts/validate_mesh.py out.1.ele --input in.ele --min-angle 30 --max-area 0.01 --json
    python scripts/validate_mesh.py domain.1.ele --input domain.poly --min-angle 30

It calls `dmr validate`, with the same options, output and exit codes: 0 valid, 1 a file cannot be read, 2 an option
cannot be used, 5 invalid.
"""

from __future__ import annotations

import sys

from dmr.cli import main

if __name__ == "__main__":
    sys.exit(main(["validate", *sys.argv[1:]]))
