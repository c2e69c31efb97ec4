"""Compares meshes by size with Gmsh's Frontal-Delaunay: sizes, angles and seconds.

    python -m scripts.bench.sizes                               # all domains, one thread
    python -m scripts.bench.sizes --domains L skew --scale 0.3  # finer by this factor
    python -m scripts.bench.sizes --device cuda
    python -m scripts.bench.sizes --functions                   # sizes that are numbers are given as functions

The columns: triangles, mean smallest angle, smallest angle, mean edge over size, share of edges within 0.7 to 1.35
sizes, shortest and longest edge over size, and the least of the seconds of all runs. Gmsh (Algorithm 6) meshes the same
outline in the same run; if its package, or a system library that it needs, is missing, a line says so. By default it
extends the lengths of a finer outline into the domain, also where sizes are a function; for functions a third row has
Mesh.MeshSizeExtendFromBoundary = 0, as Gmsh's manual recommends for them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial

import numpy as np

import dmr
from scripts.lib.sizes.domains import DOMAINS, Domain, Float, Size, scaled
from scripts.lib.sizes.gmsh_meshes import Figures, gmsh_mesh

FORMAT = "{:>7} {:>10} {:>9} {:>6} {:>6} {:>7} {:>7} {:>6} {:>6} {:>8}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; returns the exit code, 5 if a mesh is invalid."""
    options = parser().parse_args(arguments)
    print(FORMAT.format("domain", "", "triangles", "mean", "least", "edge/h", "within", "min", "max", "seconds"))
    failed = False
    for name in options.domains:
        domain = DOMAINS[name]()
        size = scaled(domain.size, options.scale)
        if options.functions and not callable(size):
            size = partial(equal_sizes, size)
        mesh, seconds = ours(domain, size, options)
        show(name, "dmr", mesh, size, seconds)
        failed |= not dmr.validate(mesh, input=domain.outline, min_angle=30).ok
        for program, extend in (("Gmsh", True), ("Gmsh field", False))[: 1 + callable(size)]:
            try:
                mesh, seconds = gmsh_mesh(domain, size, options.repeats, extend=extend)
            except (ImportError, OSError) as error:
                print(f"no Gmsh: {error}", file=sys.stderr)
                break
            show(name, program, mesh, size, seconds)
    return 5 if failed else 0


def equal_sizes(size: float, points: Float) -> Float:
    """Returns one size for all points."""
    return np.full(len(points), size)


def ours(domain: Domain, size: Size, options: argparse.Namespace) -> tuple[dmr.Mesh, float]:
    """Returns the mesh, and the least seconds of a call."""
    runs = []
    for _ in range(options.repeats):
        started = time.perf_counter()
        fine = dmr.refine(domain.outline, size=size, device=options.device, threads=options.threads)
        runs.append(time.perf_counter() - started)
    return fine.mesh, min(runs)


def show(name: str, program: str, mesh: dmr.Mesh, size: Size, seconds: float) -> None:
    """Prints a row of the table."""
    found = Figures.of(mesh, size)
    print(
        FORMAT.format(
            name, program, f"{found.triangles:,}", f"{found.mean:.2f}", f"{found.least:.1f}", f"{found.ratio:.3f}",
            f"{100 * found.within:.1f}%", f"{found.shortest:.2f}", f"{found.longest:.2f}", f"{seconds:.3f}",
        ),
        flush=True,
    )  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--domains", nargs="+", choices=DOMAINS, default=list(DOMAINS), help="default: all")
    found.add_argument("--scale", type=float, default=1.0, metavar="F", help="multiply all sizes (default: 1)")
    found.add_argument("--functions", action="store_true", help="give sizes that are numbers as functions")
    found.add_argument("--device", default="cpu", help="as for dmr.refine (default: cpu)")
    found.add_argument("--threads", type=int, default=1, metavar="N", help="CPU threads (default: 1)")
    found.add_argument("--repeats", type=int, default=3, metavar="N", help="runs of each program (default: 3)")
    return found


if __name__ == "__main__":
    sys.exit(main())
