"""Times a refinement by a size function: its calls, its evaluations, and the seconds that it takes itself.

    python -m scripts.study.size_functions
    python -m scripts.study.size_functions --finest 0.0026 --device cuda

The function gives the distance from the nearest of 200 points of a unit square, by scipy's KD-tree. The table compares
it with the same sizes sampled once, with a grid of them, and with its finest length everywhere.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import dmr
from dmr import domains, sizing

Float = NDArray[np.float64]
GROWTH = 0.02
POINTS = 200
LINES = 257  # of the grid, in each direction


class NearestPoint:
    """Sizes that grow with the distance from the nearest of some points; counts its calls.

    Attributes:
        calls, evaluations: how often it was called, and for how many points; seconds: how long that took.
    """

    def __init__(self, finest: float) -> None:
        self._finest = finest
        self._tree: Any = cKDTree(np.random.default_rng(0).random((POINTS, 2)))
        self.calls, self.evaluations, self.seconds = 0, 0, 0.0

    def __call__(self, points: Float) -> Float:
        """The sizes at (n, 2) points."""
        started = time.perf_counter()
        sizes: Float = self._finest + GROWTH * self._tree.query(points)[0]
        self.calls, self.evaluations = self.calls + 1, self.evaluations + len(points)
        self.seconds += time.perf_counter() - started
        return sizes


def measured(kind: str, finest: float, options: dict[str, Any]) -> dict[str, float]:
    """Refines a unit square by one kind of sizes; returns the columns of the table."""
    function, square = NearestPoint(finest), domains.rectangle(1, 1)
    lines = np.linspace(0, 1, LINES)
    started = time.perf_counter()
    sizes: dict[str, Callable[[], Any]] = {
        "function": lambda: function,
        "sampled": lambda: sizing.sampled(function, (0, 0, 1, 1)),
        "grid": lambda: dmr.SizeField.from_grid(
            lines, lines, function(np.stack(np.meshgrid(lines, lines), axis=-1).reshape(-1, 2)).reshape(LINES, LINES)
        ),
        "length": lambda: finest,
    }
    fine = dmr.refine(square, max_edge=sizes[kind](), **options)
    seconds = time.perf_counter() - started
    triangles = len(fine.mesh.triangles)
    return {
        "triangles": triangles,
        "calls": function.calls,
        "per triangle": function.evaluations / triangles,
        "function s": function.seconds,
        "all s": seconds,
    }


def main(arguments: list[str] | None = None) -> int:
    """Prints the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--finest", type=float, default=0.0017, help="size at the points (default: %(default)s)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N (default: %(default)s)")
    parser.add_argument("--threads", type=int, help="CPU threads (default: all)")
    given = parser.parse_args(arguments)
    for kind in ("function", "sampled", "grid", "length"):
        found = measured(kind, given.finest, {"device": given.device, "threads": given.threads})
        columns = (f"{name} {value:,.7g}" if value > 1000 else f"{name} {value:.3g}" for name, value in found.items())
        print(f"{kind:10}", *columns, sep="  ", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
