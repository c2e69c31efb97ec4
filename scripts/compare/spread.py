"""Compares numbers of triangles with Gmsh's over positions and numberings of the same domain.

    python -m scripts.compare.spread                               # four domains, eight variants, a minute
    python -m scripts.compare.spread --domains slotted bores --scales 0.7 1 1.5 --variants 12

Gmsh's number of triangles depends on the order in which it inserts points, and ours a little on rounding: a domain
that is turned or mirrored, or whose corners are numbered in another order, gets another number. For each case and each
of the two, the table has the least, the median and the largest number over the variants, the largest over the least,
and how many numbers are within 0.9 to 1.1 of the median of Gmsh's.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import dmr
from scripts.lib.sizes.domains import Domain, Size, scaled
from scripts.lib.sizes.gmsh_meshes import gmsh_mesh
from scripts.lib.sizes.more_domains import SWEPT
from scripts.lib.sizes.variants import VARIANTS

FORMAT = "{:>14} {:>5} | {:>21} {:>5} {:>5} | {:>21} {:>5} {:>5} | {:>5}"
NEAR = (0.9, 1.1)  # of the median of Gmsh's numbers


@dataclass(frozen=True)
class Spread:
    """Numbers of triangles of the variants of a domain, ours and Gmsh's."""

    ours: tuple[int, ...]
    peer: tuple[int, ...]

    @classmethod
    def of(cls, domain: Domain, size: Size, variants: int, device: str = "cpu") -> Spread:
        """Meshes the variants."""
        ours, peer = [], []
        for variant in VARIANTS[:variants]:
            placed, sizes = variant.of(domain, size)
            ours.append(len(dmr.refine(placed.outline, size=sizes, device=device, threads=1).mesh.triangles))
            peer.append(len(gmsh_mesh(placed, sizes, 1, extend=not callable(sizes))[0].triangles))
        return cls(tuple(ours), tuple(peer))

    @property
    def ratio(self) -> float:
        """The median of ours over the median of Gmsh's."""
        return float(np.median(self.ours) / np.median(self.peer))

    def near(self, numbers: Sequence[int]) -> int:
        """Returns how many of the numbers are within 0.9 to 1.1 of the median of Gmsh's."""
        ratios = np.array(numbers) / np.median(self.peer)
        return int(((ratios >= NEAR[0]) & (ratios <= NEAR[1])).sum())


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a row per case."""
    options = parser().parse_args(arguments)
    heads = ("domain", "scale", "ours: least-median-most", "", "near", "Gmsh", "", "near", "ratio")
    print(FORMAT.format(*heads))
    ratios, near = [], np.zeros(2, int)
    for name in options.domains:
        domain = SWEPT[name]()
        for scale in options.scales:
            spread = Spread.of(domain, scaled(domain.size, scale), options.variants, options.device)
            counts = [spread.near(numbers) for numbers in (spread.ours, spread.peer)]
            ratios.append(spread.ratio)
            near += counts
            cells = [
                cell
                for numbers, count in zip((spread.ours, spread.peer), counts, strict=True)
                for cell in (
                    "{:.0f} {:.0f} {:.0f}".format(*np.quantile(numbers, [0, 0.5, 1])),
                    f"{max(numbers) / min(numbers):.2f}",
                    count,
                )
            ]
            print(FORMAT.format(name, f"{scale:g}", *cells, f"{spread.ratio:.2f}"), flush=True)
    meshes = len(ratios) * options.variants
    within = sum(NEAR[0] <= ratio <= NEAR[1] for ratio in ratios)
    print(f"{len(ratios)} cases; within {NEAR[0]} to {NEAR[1]} of the median of Gmsh's numbers:")
    print(f"medians of ours {within}, meshes of ours {near[0]} of {meshes}, Gmsh's own {near[1]} of {meshes}")
    return 0


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default, most = ["slotted", "bores", "holes-60", "bracket"], len(VARIANTS)
    found.add_argument("--domains", nargs="+", choices=SWEPT, default=default, metavar="NAME", help="default: four")
    found.add_argument("--scales", nargs="+", type=float, default=[1.0], metavar="F", help="of the sizes (default: 1)")
    found.add_argument("--variants", type=int, choices=range(2, most + 1), default=8, metavar="N", help=f"2 to {most}")
    found.add_argument("--device", default="cpu", help="as for dmr.refine (default: cpu)")
    return found


if __name__ == "__main__":
    sys.exit(main())
