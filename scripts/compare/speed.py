"""Compares the time of meshes by size with Gmsh's Frontal-Delaunay, on one thread.

    taskset -c 1 python -m scripts.compare.speed                               # all domains, about 8,000 triangles
    taskset -c 1 python -m scripts.compare.speed --domains spiral hinge --triangles 100000 --repeats 5

The sizes of a domain are scaled for the number of triangles. A row has the CPU time of whole calls of `dmr.refine` (the
least and the median), that of Gmsh's two-dimensional meshing of the same outline (the least), and Gmsh's over ours.
CPU times of both hardly depend on other processes that wait for the core, but those on its other hardware thread slow
both down: compare ratios of one run.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence

import numpy as np

import dmr
from scripts.lib.sizes.domains import Domain, Size, scaled
from scripts.lib.sizes.gmsh_meshes import gmsh_mesh
from scripts.lib.sizes.more_domains import TIMED

FORMAT = "{:>14} {:>9} {:>9} | {:>8} {:>8} {:>8} | {:>5} {:>6}"
TRIES = 5  # at a scale that gives about the wanted number of triangles
NEAR = 0.03  # of it


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a row per domain."""
    options = parser().parse_args(arguments)
    print(FORMAT.format("domain", "triangles", "Gmsh", "least ms", "median", "Gmsh ms", "least", "median"))
    for name in options.domains:
        domain = TIMED[name]()
        size = size_for(domain, options.triangles)
        seconds, triangles = ours(domain, size, options.repeats)
        peer, peer_seconds = gmsh_mesh(
            domain, size, options.gmsh_repeats, extend=not callable(size), clock=time.process_time
        )
        least, median = min(seconds), float(np.median(seconds))
        print(
            FORMAT.format(
                name, f"{triangles:,}", f"{len(peer.triangles):,}", f"{1e3 * least:.1f}", f"{1e3 * median:.1f}",
                f"{1e3 * peer_seconds:.0f}", f"{peer_seconds / least:.1f}", f"{peer_seconds / median:.1f}",
            ),
            flush=True,
        )  # fmt: skip
    return 0


def ours(domain: Domain, size: Size, repeats: int) -> tuple[list[float], int]:
    """Returns the CPU seconds of each call, and the number of triangles."""
    seconds, triangles = [], 0
    for _ in range(repeats):
        started = time.process_time()
        found = dmr.refine(domain.outline, size=size, device="cpu", threads=1)
        seconds.append(time.process_time() - started)
        triangles = len(found.mesh.triangles)
    return seconds, triangles


def size_for(domain: Domain, triangles: int) -> Size:
    """Returns the sizes of a domain, scaled for about this number of triangles."""
    scale, best, off = 1.0, domain.size, math.inf
    for _ in range(TRIES):
        size = scaled(domain.size, scale)
        ratio = len(dmr.refine(domain.outline, size=size, device="cpu", threads=1).mesh.triangles) / triangles
        if abs(math.log(ratio)) < off:
            best, off = size, abs(math.log(ratio))
        if off < NEAR:
            break
        scale *= math.sqrt(ratio)
    return best


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--domains", nargs="+", choices=TIMED, default=list(TIMED), metavar="NAME", help="default: all")
    found.add_argument("--triangles", type=int, default=8000, metavar="N", help="about how many (default: 8000)")
    found.add_argument("--repeats", type=int, default=20, metavar="N", help="calls per domain (default: 20)")
    found.add_argument("--gmsh-repeats", type=int, default=1, metavar="N", help="meshes of Gmsh (default: 1)")
    return found


if __name__ == "__main__":
    sys.exit(main())
