"""Times the phases of `dmr.validate` on a large refined mesh, with one thread and with more.

    python -m scripts.bench.validate                              # 12 million triangles, 1 thread and all cores
    python -m scripts.bench.validate --points 275000 --threads 1 2
    python -m scripts.bench.validate --device cuda --repeats 3 --json results.jsonl

The mesh is the refinement to 30 degrees of a Delaunay mesh of uniform random points in the unit square. It is validated
without input, and with the unrefined mesh as input. The runs take turns; the table has the fastest of each, in seconds
by phase. "outside pieces" is the time outside the parallel parts, which more threads cannot shorten. Peak memory is
that of the process, including the meshes, after the runs of each row.

Exit code: 0, or 5 if a mesh is invalid or a report differs between numbers of threads.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import dmr
from dmr.common.threads import available_threads
from dmr.validation import checker
from dmr.validation.arrays.pieces import Workers
from scripts.lib.machines import machine
from scripts.lib.measuring import append_record, circumstances, positive, standard_input

# Timed functions of `dmr.validation`, by the name of their phase.
PHASES = {
    "triangles": ("TriangleShapes", "of"),
    "half-edges": ("Topology", "of"),
    "stars": ("check_stars",),
    "duplicates": ("check_duplicates",),
    "segments": ("check_segments",),
    "overlap": ("check_overlap",),
    "delaunay": ("check_delaunay",),
    "input": ("Origin", "compare"),
    "angles": ("check_angles",),
}
MINIMUM_ANGLE = 30.0


class Stopwatch:
    """Seconds of the validating thread by phase, and within `Workers.map`."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def timed(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps a function so that its time is added to a phase."""

        def call(*arguments: Any, **options: Any) -> Any:
            start = perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - start

        return call


@contextmanager
def watching() -> Iterator[Stopwatch]:
    """Times the phases of all validations within the context."""
    watch = Stopwatch()
    replaced: list[tuple[Any, str, Any]] = []

    def replace(owner: Any, name: str, phase: str) -> None:
        original = vars(owner)[name]
        replaced.append((owner, name, original))
        bound = original.__get__(None, owner) if isinstance(original, classmethod) else original
        timed = watch.timed(phase, bound)
        setattr(owner, name, staticmethod(timed) if isinstance(original, classmethod) else timed)

    try:
        for phase, (first, *rest) in PHASES.items():
            owner = getattr(checker, first) if rest else checker
            replace(owner, rest[0] if rest else first, phase)
        replace(Workers, "map", "pieces")
        yield watch
    finally:
        for owner, name, original in replaced:
            setattr(owner, name, original)


def run_once(mesh: dmr.Mesh, original: dmr.Mesh | None, threads: int) -> tuple[dict[str, float], dmr.Report]:
    """Validates once; returns the seconds by phase, and the report."""
    with watching() as watch:
        cpu, start = process_time(), perf_counter()
        report = dmr.validate(mesh, input=original, min_angle=MINIMUM_ANGLE, threads=threads)
        wall = perf_counter() - start
    seconds = {"all": wall, "cpu": process_time() - cpu}
    seconds["outside pieces"] = wall - watch.seconds.pop("pieces", 0.0)
    return seconds | watch.seconds, report


def make_meshes(points: int, device: str, threads: int) -> tuple[dmr.Mesh, dmr.Mesh]:
    """Makes a Delaunay mesh of random points and its refinement."""
    original = standard_input(f"random-{points}")
    limit = threads if device == "cpu" else None
    return original, dmr.refine(original, min_angle=MINIMUM_ANGLE, device=device, threads=limit).mesh


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, usage="%(prog)s [options]", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--points", type=positive, default=2_740_000, help="random points (default: %(default)s, 12 million triangles)")
    add("--device", default="cpu", help="device of the refinement (default: %(default)s)")
    add("--threads", type=positive, nargs="+", default=sorted({1, available_threads()}), help="threads of the checker")
    add("--repeats", type=positive, default=2, help="runs of each (default: %(default)s)")
    add("--json", metavar="FILE", type=Path, help="append one record per row")
    options = parser.parse_args(arguments)
    original, mesh = make_meshes(options.points, options.device, max(options.threads))
    print(
        f"{len(mesh.triangles):,} triangles, {len(mesh.vertices):,} vertices; {', '.join(map(str, machine().values()))}"
    )
    reports: dict[str, dmr.Report] = {}
    best: dict[tuple[str, int], dict[str, float]] = {}
    faults: list[str] = []
    for _ in range(options.repeats):
        for given in (None, original):
            for threads in options.threads:
                row = ("no input" if given is None else "with input", threads)
                seconds, report = run_once(mesh, given, threads)
                seconds["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                if row not in best or seconds["all"] < best[row]["all"]:
                    best[row] = seconds
                if not report.ok:
                    faults.append(f"{row[0]}, {threads} threads: {', '.join(report.counts)}")
                if reports.setdefault(row[0], report) != report:
                    faults.append(
                        f"{row[0]}: the report of {threads} threads differs from that of {options.threads[0]}"
                    )
    print_table(best)
    for (given_input, threads), seconds in best.items():
        if options.json:
            record = {"input": given_input, "triangles": len(mesh.triangles), "threads": threads, "seconds": seconds}
            append_record(options.json, circumstances(options.device != "cpu") | record)
    for fault in faults:
        print(f"bench_validate: {fault}", file=sys.stderr)
    return 5 if faults else 0


def print_table(best: dict[tuple[str, int], dict[str, float]]) -> None:
    """Prints a table with one column per input and number of threads."""
    names = ["all", "cpu", "outside pieces", *PHASES, "peak MB"]
    print(" " * 16 + "".join(f"{kind + ', ' + str(threads):>16}" for kind, threads in best))
    for name in names:
        digits = 0 if name == "peak MB" else 3
        print(f"{name:16}" + "".join(f"{seconds.get(name, 0.0):16.{digits}f}" for seconds in best.values()))


if __name__ == "__main__":
    sys.exit(main())
