"""Measures what `optimize=` gains and costs: the mean smallest angle before and after, and the time.

    python -m scripts.compare.optimization --device cpu --threads 1
    python -m scripts.compare.optimization --device cuda --inputs random-1m plate-1e-6

Each input is refined with and without optimisation, several times in turn; the seconds are the least of all runs. The
digest of the optimised mesh is the same on every device.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

import dmr
from dmr import domains

# Name: the mesh or outline, and the options of `dmr.refine`.
INPUTS: dict[str, tuple[Callable[[], dmr.Mesh | dmr.Pslg], dict[str, Any]]] = {
    "random-30k": (lambda: random_points(30_000), {}),
    "random-260k": (lambda: random_points(260_000), {}),
    "plate-1e-3": (lambda: dmr.generate("plate", 40), {"max_area": 1e-3}),
    "plate-1e-5": (lambda: dmr.generate("plate", 40), {"max_area": 1e-5}),
    "plate-2e-6": (lambda: dmr.generate("plate", 40), {"max_area": 2e-6}),
    "bracket-1e-3": (lambda: dmr.read("meshes/bracket.poly"), {"max_area": 1e-3}),
    "l-0.03": (lambda: l_shape(), {"size": 0.03}),
    "l-0.0042": (lambda: l_shape(), {"size": 0.0042}),
}


def l_shape() -> dmr.Pslg:
    """An L of three squares of side 1/2."""
    return domains.polygon([(0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)])


def random_points(count: int) -> dmr.Mesh:
    """Triangulates random points in the unit square."""
    return dmr.triangulate(np.random.default_rng(12345).random((count, 2)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a row per input."""
    options = parser().parse_args(arguments)
    where = {"device": options.device, "threads": options.threads}
    print("| input | triangles | mean smallest angle | smallest angle | refined in | optimised in | digest |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for name in options.inputs:
        make, bounds = INPUTS[name]
        mesh = make()
        runs = [dmr.refine(mesh, optimize=True, **bounds, **where) for _ in range(options.repeats)]
        last, plain = runs[-1], dmr.refine(mesh, **bounds, **where)
        assert last.smoothing is not None
        smoothing = min(run.seconds["optimize"] for run in runs)
        rest = min(run.seconds["total"] - run.seconds["optimize"] for run in runs)
        digest = sha256(last.mesh.vertices.tobytes() + last.mesh.triangles.tobytes()).hexdigest()[:12]
        print(
            f"| {name} | {len(last.mesh.triangles):,} "
            f"| {last.smoothing.mean_min_angle_before:.2f} to {last.smoothing.mean_min_angle:.2f} "
            f"| {plain.min_angle:.4f} to {last.min_angle:.4f} | {rest:.3g} s | {smoothing:.3g} s | `{digest}` |",
            flush=True,
        )
    return 0


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS), metavar="NAME", help=f"of {', '.join(INPUTS)}")
    add("--device", default="auto", help="default: auto")
    add("--threads", type=int, metavar="N", help="CPU threads (default: every core)")
    add("--repeats", type=int, default=3, metavar="N", help="runs per input (default: 3)")
    return found


if __name__ == "__main__":
    sys.exit(main())
