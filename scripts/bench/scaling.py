"""Measures how a refinement scales with the mesh: nanoseconds per triangle of the result, and peak memory.

    python -m scripts.bench.scaling                                          # the CPU: half a million points, a million
    python -m scripts.bench.scaling --points 500000 1000000 2500000 5000000 10000000 --device cuda --json results.jsonl
    python -m scripts.bench.scaling --points 50000000 --device cuda --repeats 1 --validate-up-to 0

Inputs are Delaunay meshes of uniform random points in the unit square, seed 12345, with about twice as many triangles
as points. They are generated here, which takes one to two seconds per million points and 220 bytes per point on one
core. Each size runs in a separate process (scripts/lib/apart.py). Its first run counts for memory and not for time; the
table has medians of the others:

    refine     seconds of the refinement alone, without input and output of the mesh; wall: the whole call
    ns/out     `refine` in nanoseconds per triangle of the result; wall/out: the same for `wall`
    memory     MiB of main or GPU memory that a run allocates, without that in use before; B/point: the same in bytes
               per vertex of the result; process: the peak, including memory in use before
    checked    "proved" by the exact checker, if the result has at most about --validate-up-to triangles; the proof
               takes 1.4 us and 130 bytes per triangle

The last line has the largest ns/out over the smallest, which is 1 for linear scaling.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import dmr
from scripts.lib.apart import Apart, refine_apart
from scripts.lib.machines import machine
from scripts.lib.measuring import add_record, benchmark_parser, positive, standard_input, timed

POINTS = (500_000, 1_000_000)
OUT_OVER_IN = 2.8  # triangles of the result over those of the input at 30 degrees, approximately


@dataclass(frozen=True, kw_only=True)
class Row:
    """One size; the fields of a record of --json, except the options and the circumstances."""

    points: int
    triangles_in: int
    generating: float
    found: Apart

    @property
    def refine_ns(self) -> float:
        """Nanoseconds of refinement per triangle of the result."""
        return 1e9 * statistics.median(self.found.refine) / self.found.triangles

    @property
    def wall_ns(self) -> float:
        """Nanoseconds of the whole call per triangle of the result."""
        return 1e9 * statistics.median(self.found.wall) / self.found.triangles


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; returns the exit code, 5 if a result is wrong."""
    options = parser().parse_args(arguments)
    how: dict[str, Any] = {"min_angle": options.min_angle, "device": options.device, "threads": options.threads}
    rows: list[Row] = []
    print(" | ".join(f"{k}: {v}" for k, v in machine().items()))
    print(HEAD)
    try:
        for points in options.points:
            rows.append(measure(points, how, options))
            print(line(rows[-1]), flush=True)
            add_record(options, record(rows[-1], options), on_gpu=rows[-1].found.threads == 0)
    except dmr.DmrError as error:
        print(f"bench_scaling: {error}", file=sys.stderr)
        return error.exit_code
    times = [row.refine_ns for row in rows]
    print(f"ns/out, largest over smallest: {max(times) / min(times):.2f}")
    return 5 if any(row.found.valid is False or not row.found.complete for row in rows) else 0


def measure(points: int, how: dict[str, Any], options: argparse.Namespace) -> Row:
    """Makes an input and refines it in a separate process."""
    generating, mesh = timed(lambda: standard_input(f"random-{points}"))
    triangles = len(mesh.triangles)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "input.npz"
        dmr.write(path, mesh)
        del mesh  # frees memory for the other process
        found = refine_apart(
            path,
            how,
            repeats=options.repeats,
            validate=OUT_OVER_IN * triangles <= options.validate_up_to,
            hashed=not options.no_digest,
        )
    return Row(points=points, triangles_in=triangles, generating=generating, found=found)


# ---- Output --------------------------------------------------------------------------------------------------------

FORMAT = "{:>12} {:>12} {:>9} {:>9} {:>7} {:>8} {:>7} {:>9} {:>8} {:>9} {:>6} {:>7} {}"
HEAD = FORMAT.format(
    "triangles in", "out", "refine", "wall", "ns/out", "wall/out", "made in", "memory", "B/point", "process", "rounds",
    "accept", "checked",
)  # fmt: skip


def line(row: Row) -> str:
    """Table row of a size."""
    found = row.found
    memory = ["-"] * 3
    if found.memory is not None:
        memory = [
            f"{found.memory.taken / 2**20:,.0f}",
            f"{found.memory.a_point:.0f}",
            f"{found.memory.peak / 2**20:,.0f}",
        ]
    return FORMAT.format(
        f"{row.triangles_in:,}", f"{found.triangles:,}", f"{statistics.median(found.refine):.4f}",
        f"{statistics.median(found.wall):.4f}", f"{row.refine_ns:.2f}", f"{row.wall_ns:.2f}", f"{row.generating:.1f}",
        *memory, found.rounds, f"{found.acceptance:.1%}",
        "STOPPED" if not found.complete else {None: "-", True: "proved", False: "INVALID"}[found.valid],
    )  # fmt: skip


def record(row: Row, options: argparse.Namespace) -> dict[str, Any]:
    """The fields of a record of --json."""
    return {
        "options": {name: getattr(options, name) for name in ("min_angle", "repeats")},
        **asdict(row),
        "refine_ns_a_triangle": row.refine_ns,
    }


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = benchmark_parser(__doc__, "size")
    add = found.add_argument
    add("--points", nargs="+", type=positive, default=list(POINTS), metavar="N",
        help=f"points of the inputs (default: {' '.join(map(str, POINTS))})")  # fmt: skip
    add("-q", "--min-angle", type=float, default=30.0, metavar="DEG", help="default: 30")
    add("--device", default="cpu", metavar="NAME", help="cpu, cuda, cuda:1, ... (default: cpu)")
    add("--threads", type=int, metavar="N", help="CPU threads (default: all cores)")
    add("--repeats", type=positive, default=3, metavar="N", help="timed runs of each size (default: 3)")
    add("--validate-up-to", type=float, default=2e7, metavar="TRIANGLES",
        help="prove results of up to about this many triangles (default: 2e7)")  # fmt: skip
    add("--no-digest", action="store_true", help="do not compute the results' digests")
    add("--folder", type=Path, metavar="FOLDER", help="folder for temporary inputs, 40 bytes per point")
    return found


if __name__ == "__main__":
    sys.exit(main())
