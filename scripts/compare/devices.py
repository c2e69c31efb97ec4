"""Refines meshes on several devices and compares the SHA-256 of the resulting files.

    python -m scripts.compare.devices                          # small meshes, the CPU with 1, 2 and 16 threads
    python -m scripts.compare.devices --cuda --large           # and a GPU, and meshes of up to 5.6 M triangles
    python -m scripts.compare.devices --cuda --outlines FOLDER # the .poly files in a folder, at 20 and 30 degrees

Exits with 1 if any two differ.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dmr


def finer_to_the_left(points: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Size function: 0.01 at the left edge of the unit square, 0.1 at the right."""
    return 0.01 + 0.09 * points[:, 0]


SMALL: list[tuple[str, int | None, dict[str, Any]]] = [
    ("random", 10, {}),
    ("random", 1_000, {"min_angle": 33}),
    ("random", 20_000, {"min_angle": 25}),
    ("clustered", 20_000, {}),
    ("graded", 20_000, {"min_angle": 28}),
    ("circle", 2_000, {"min_angle": 20}),
    ("wheel", 2_000, {}),
    ("grid", 10_000, {"max_area": 0.1}),
    ("annulus", 5_000, {}),
    ("plate", 5_000, {"max_area": 1e-4}),
    ("plate", 400, {"max_edge": finer_to_the_left, "max_area": 0.002}),
    ("plate", 5_000, {"keep_segments": "boundary"}),
    ("annulus", 500, {"keep_segments": "all", "min_angle": 25}),
    ("random", 50_000, {"conforming": True}),
    ("random", 50_000, {"steiner": "circumcenter", "min_angle": 20}),
    ("random", 50_000, {"steiner": "off-center"}),
]
LARGE: list[tuple[str, int | None, dict[str, Any]]] = [
    ("clustered", 500_000, {}),
    ("thesis-0.5m", None, {}),
    ("thesis-1.1m", None, {}),
    ("thesis-5.6m", None, {}),
]


def digest(mesh: dmr.Mesh, folder: Path) -> str:
    """SHA-256 of a mesh's concatenated .node and .ele files."""
    total = hashlib.sha256()
    for path in sorted(dmr.write(folder / "out.ele", mesh)):
        total.update(path.read_bytes())
    return total.hexdigest()


Case = tuple[str, dmr.Mesh | dmr.Pslg, dict[str, Any]]


def generated(kinds: list[tuple[str, int | None, dict[str, Any]]]) -> Iterator[Case]:
    """Yields generated meshes: a name, the mesh, and the refinement options."""
    for kind, n, how in kinds:
        mesh = dmr.generate(kind, n, seed=1) if n else dmr.generate(kind)
        yield f"{kind} {len(mesh.triangles)}", mesh, how


def outlines(folder: Path) -> Iterator[Case]:
    """Yields the outlines in a folder that bound a domain."""
    for path in sorted(folder.rglob("*.poly")):
        try:
            outline = dmr.read(path)
            assert isinstance(outline, dmr.Pslg)
            dmr.triangulate(outline)
        except dmr.DmrError:
            continue
        for angle in (20, 30):
            yield f"{path.relative_to(folder)} at {angle}", outline, {"min_angle": angle}


def main() -> int:
    """Runs the comparison; returns 0 if all files are equal, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuda", action="store_true", help="also on the first GPU")
    parser.add_argument("--large", action="store_true", help="also the thesis' inputs")
    parser.add_argument("--outlines", type=Path, metavar="FOLDER", help="use only the .poly files in this folder")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 16], help="CPU threads to run with")
    options = parser.parse_args()
    logging.getLogger("dmr").setLevel(logging.ERROR)
    devices: list[tuple[str, int | None]] = [("cuda", None)] if options.cuda else []
    devices += [("cpu", threads) for threads in options.threads]
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        cases = (
            generated(SMALL + (LARGE if options.large else []))
            if options.outlines is None
            else outlines(options.outlines)
        )
        for title, domain, how in cases:
            found: dict[str, str] = {}
            took = []
            for name, threads in devices:
                start = time.perf_counter()
                fine = dmr.refine(domain, device=name, threads=threads, **how)
                took.append(f"{name}{'' if threads is None else f':{threads}'} {time.perf_counter() - start:.2f} s")
                found[took[-1]] = digest(fine.mesh, Path(scratch))
            equal = len(set(found.values())) == 1
            failed += not equal
            settings = " ".join(f"{key}={getattr(value, '__name__', value)}" for key, value in how.items())
            print(
                f"{'equal' if equal else 'DIFFERENT'}  {title} -> {len(fine.mesh.triangles)} "
                f"triangles {settings}  {next(iter(found.values()))[:16]}  ({', '.join(took)})",
                flush=True,
            )
    print("all equal" if not failed else f"{failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
