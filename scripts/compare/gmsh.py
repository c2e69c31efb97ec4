"""Compares meshes by size with Gmsh's Frontal-Delaunay over many domains and sizes, and lists where they fall short.

    python -m scripts.compare.gmsh                              # all domains, six scales, a few minutes
    python -m scripts.compare.gmsh --domains gear ring --scales 0.5 1 2 -v
    python -m scripts.compare.gmsh --keep gmsh.json             # reuses Gmsh's figures from this file

A case is a domain of scripts/lib/sizes with its sizes times a scale. It falls short if the mean smallest
angle is more than half a degree below Gmsh's, the smallest angle more than one degree below Gmsh's or below 30 degrees,
the number of triangles not within 0.9 to 1.1 of Gmsh's, or, where all segments are at least three sizes long, the mean
edge not within 0.97 to 1.03 sizes, or fewer than 97% of the edges within 0.7 to 1.35. Smallest angles are not compared
where the outline has corners below 60 degrees. Where sizes are functions, Gmsh
has Mesh.MeshSizeExtendFromBoundary = 0, as its manual recommends for them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

import dmr
from scripts.lib.sizes.domains import Domain, Size, scaled
from scripts.lib.sizes.gmsh_meshes import Figures, gmsh_mesh
from scripts.lib.sizes.more_domains import SWEPT

FORMAT = "{:>14} {:>5} | {:>7} {:>7} {:>5} | {:>5} {:>5} {:>6} | {:>5} {:>5} | {:>5} {:>6}  {}"
SCALES = (0.35, 0.5, 0.7, 1.0, 1.5, 2.2)
LONG = 3.0  # sizes: segments for which edges have bounds


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares; returns 5 if a mesh is invalid, else 0."""
    options = parser().parse_args(arguments)
    known: dict[str, dict[str, float]] = {}
    if options.keep is not None and options.keep.exists():
        known = json.loads(options.keep.read_text(encoding="utf-8"))
    heads = ("domain", "scale", "count", "Gmsh", "", "mean", "Gmsh", "", "least", "Gmsh", "edge", "within", "")
    print(FORMAT.format(*heads))
    cases, failed, counts = 0, False, dict.fromkeys(("mean", "least", "count", "edges"), 0)
    for name in options.domains:
        domain = SWEPT[name]()
        acute = has_acute_corners(domain)
        for scale in options.scales:
            size = scaled(domain.size, scale)
            key = f"{name} {scale:g}"
            if key not in known:
                known[key] = asdict(Figures.of(gmsh_mesh(domain, size, 1, extend=not callable(size))[0], size))
                if options.keep is not None:
                    options.keep.write_text(json.dumps(known, indent=0), encoding="utf-8")
            mesh = dmr.refine(domain.outline, size=size, device=options.device, threads=options.threads).mesh
            if options.validate:
                failed |= not dmr.validate(mesh, input=domain.outline, min_angle=30).ok
            ours, peer = Figures.of(mesh, size), Figures(**known[key])  # type: ignore[arg-type]
            short = falls_short(ours, peer, all_long=shortest_segment(domain, size) >= LONG, acute=acute)
            cases += 1
            for what in short:
                counts[what] += 1
            if short or options.verbose:
                show(name, scale, ours, peer, short)
    print(f"{cases} cases; short of the figure: " + ", ".join(f"{what} {count}" for what, count in counts.items()))
    return 5 if failed else 0


def shortest_segment(domain: Domain, size: Size) -> float:
    """Returns the least length of a segment, in sizes at its midpoint."""
    start, end = (domain.outline.vertices[ends] for ends in domain.outline.segments.T)
    sizes = size((start + end) / 2) if callable(size) else size
    return float((np.hypot(*(end - start).T) / sizes).min())


def has_acute_corners(domain: Domain) -> bool:
    """Whether a corner of the domain has less than 60 degrees."""
    for number, ring in enumerate(domain.rings):
        here = domain.outline.vertices[ring]
        following = np.roll(here, -1, axis=0)
        counter_clockwise = (here[:, 0] * following[:, 1] - here[:, 1] * following[:, 0]).sum() > 0.0
        if counter_clockwise == (number > 0):  # the first ring is the outline, the others are holes
            here = here[::-1]
        before, after = np.roll(here, 1, axis=0) - here, np.roll(here, -1, axis=0) - here
        product = np.hypot(*before.T) * np.hypot(*after.T)
        inside = after[:, 0] * before[:, 1] - after[:, 1] * before[:, 0] > 0.0
        if (inside & ((before * after).sum(axis=1) > 0.5 * product)).any():
            return True
    return False


def falls_short(ours: Figures, peer: Figures, *, all_long: bool, acute: bool) -> list[str]:
    """Returns the names of the figures that a mesh falls short of."""
    tests = {
        "mean": ours.mean < peer.mean - 0.5,
        "least": not acute and ours.least < max(peer.least - 1.0, 30.0),
        "count": not 0.9 <= ours.triangles / peer.triangles <= 1.1,
        "edges": all_long and not (0.97 <= ours.ratio <= 1.03 and ours.within >= 0.97),
    }
    return [what for what, is_short in tests.items() if is_short]


def show(name: str, scale: float, ours: Figures, peer: Figures, short: list[str]) -> None:
    """Prints a row of the table."""
    print(
        FORMAT.format(
            name, f"{scale:g}", ours.triangles, peer.triangles, f"{ours.triangles / peer.triangles:.2f}",
            f"{ours.mean:.2f}", f"{peer.mean:.2f}", f"{ours.mean - peer.mean:+.2f}", f"{ours.least:.1f}",
            f"{peer.least:.1f}", f"{ours.ratio:.3f}", f"{100 * ours.within:.1f}%", " ".join(short),
        ),
        flush=True,
    )  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--domains", nargs="+", choices=SWEPT, default=list(SWEPT), metavar="NAME", help="default: all")
    found.add_argument("--scales", nargs="+", type=float, default=list(SCALES), metavar="F", help=f"default: {SCALES}")
    found.add_argument("--keep", type=Path, metavar="FILE", help="keep Gmsh's figures in this file")
    found.add_argument("--validate", action="store_true", help="prove the meshes")
    found.add_argument("--device", default="cpu", help="as for dmr.refine (default: cpu)")
    found.add_argument("--threads", type=int, default=1, metavar="N", help="CPU threads (default: 1)")
    found.add_argument("-v", "--verbose", action="store_true", help="print every case")
    return found


if __name__ == "__main__":
    sys.exit(main())
