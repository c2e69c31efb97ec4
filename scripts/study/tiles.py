"""Compares refinements in tiles with those on one device: size, share of the bands, passes, processor time.

    python -m scripts.study.tiles                                           # the CPU, one thread: some minutes
    python -m scripts.study.tiles --inputs random-100000 --tiles 5000 50000 --json tiles.jsonl

Inputs are "random-N", N uniform random points, and the domains of scripts/lib/outlines.py, to 30 degrees. The tasks run
one after another in this process; their outputs lie in a temporary folder, and are not flushed to disk. Columns:

    tiles      predicted triangles per tile, and number of tiles of the first pass
    size       triangles of the result over those of `dmr.refine` on one device
    again      triangles that entered a band, over those of the result
    time       processor time over that of `dmr.refine`, with cutting, joining and files
    checks     "proved" if the exact checker proves the union, with its bounds
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import dmr
from dmr.distributed.jobs.in_process import InProcess
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources
from dmr.distributed.tiles.bounds import Bounds
from dmr.distributed.tiles.passes import Tiled, refine_tiles
from dmr.distributed.tiles.pieces import united
from dmr.distributed.tiles.result.sections import load_piece
from dmr.refinement.options import RefineOptions
from scripts.lib.machines import machine
from scripts.lib.measuring import add_record, benchmark_parser, positive, run_benchmark, standard_input
from scripts.lib.outlines import case, clean, outline

T = TypeVar("T")
INPUTS = ("random-100000", "coast-20000", "plate-5e-5")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints and records; returns 0, 5 if a union is refused, or the exit code of an error."""
    parser = benchmark_parser(__doc__, "refinement in tiles")
    parser.add_argument("--inputs", nargs="+", default=INPUTS, metavar="NAME")
    parser.add_argument("--tiles", nargs="+", type=positive, default=(5_000, 20_000, 50_000), metavar="N")
    options = parser.parse_args(arguments)

    def body(faults: list[str]) -> None:
        print(" | ".join(f"{k}: {v}" for k, v in machine().items()))
        columns = f"{'tile':>8}{'tiles':>7}{'size':>8}{'again':>8}{'passes':>8}{'time':>7}"
        print(f"{'input':15}{'triangles':>11}{columns}  checks")
        for name in options.inputs:
            source, max_area = _input(name)
            spent, plain = _timed(lambda: dmr.refine(source, max_area=max_area, device="cpu", threads=1))  # noqa: B023
            for tile in options.tiles:
                record = _compared(name, source, max_area, tile, spent, plain)
                add_record(options, record, on_gpu=False)
                print(
                    f"{name:15}{record['triangles']:>11,}{tile:>8,}{record['tiles']:>7}{record['size']:>8.4f}"
                    f"{record['again']:>8.3f}{record['passes']:>8}{record['time']:>7.2f}"
                    f"  {'proved' if record['proved'] else 'refused'}"
                )
                if not record["proved"]:
                    faults.append(f"{name}: the checker refuses the union of tiles of {tile}")

    return run_benchmark("tiles", body)


def _input(name: str) -> tuple[dmr.Mesh, float | None]:
    if name.startswith("random-"):
        return standard_input(name), None
    found = case(name)
    return dmr.triangulate(clean(outline(found, None))), found.max_area


def _compared(
    name: str, source: dmr.Mesh, max_area: float | None, tile: int, spent: float, plain: dmr.Refinement
) -> dict[str, Any]:
    bounds = Bounds(options=RefineOptions(max_area=max_area))
    with tempfile.TemporaryDirectory(prefix="dmr-tiles-") as folder:
        runner = InProcess(Store(Path(folder), durable=False), Resources("cpu", 1))

        def refined() -> Tiled:
            return refine_tiles(runner, source, tile_triangles=tile, bounds=bounds)

        seconds, done = _timed(refined)
        union = united([load_piece(runner.store, piece) for piece in done.pieces]).mesh
        proved = dmr.validate(union, input=source, min_angle=30, max_area=max_area).ok
    return {
        "input": name,
        "max_area": max_area,
        "tile": tile,
        "tiles": done.passes[0][0] if done.passes else 1,
        "triangles": done.triangles,
        "size": done.triangles / len(plain.mesh.triangles),
        "again": sum(triangles for _, triangles in done.passes[1:]) / done.triangles,
        "passes": len(done.passes),
        "time": seconds / spent,
        "unrefined": done.unrefined,
        "proved": proved,
    }


def _timed(call: Callable[[], T]) -> tuple[float, T]:
    """Processor time of a call in seconds, and its return value."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


if __name__ == "__main__":
    sys.exit(main())
