"""Times `dmr.refine` on the standard inputs, with Triangle in the same run, and checks the results.

    python -m scripts.bench.refine                                    # the two small inputs: two minutes on two cores
    python -m scripts.bench.refine --inputs thesis-1.1m thesis-5.6m --device cuda --json results.jsonl
    python -m scripts.bench.refine --inputs thesis-1.1m --device cpu --threads 1 2 --repeats 5

Inputs are Delaunay meshes of uniform random points in the unit square, seed 12345. All configurations and Triangle run
in turn, so that other load on the machine affects all of them alike; the first turn is a warm-up that does not count.
The table has medians in seconds, and their range:

    refine    the phases that Triangle's figure also covers: all except input of the mesh (ordering, linking, checking
              that it is Delaunay) and output
    wall      the whole call, from numpy arrays to numpy arrays
    B/point   bytes that a run allocates, without the memory in use before it, per vertex of the result: main memory,
              or device memory on a GPU; measured in a separate process (scripts/lib/apart.py)
    size      triangles of the result over Triangle's; ratio: `refine` over Triangle's time
    checks    on the results of all timed runs: "proved" by the exact checker; the "same" bits as those of one CPU
              thread in a separate process

Triangle's time is that of `rq30` less that of `r`, which only rebuilds the mesh. Triangle comes with the extra
[triangle], whose licence allows non-commercial use only; --no-triangle omits it. If a result is invalid, has different
bits, was ended by a limit or is larger than 1.05 times Triangle's, stderr names it and the exit code is 5.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import dmr
from dmr.refinement import strategy_tables
from dmr.refinement.options import BALANCES, MARKINGS, STEINER_RULES
from scripts.lib.apart import refine_apart
from scripts.lib.cells import figure, median_and_range
from scripts.lib.machines import machine
from scripts.lib.measuring import (
    INPUTS,
    Refined,
    add_record,
    benchmark_parser,
    digest,
    points_of,
    positive,
    refinement_phases,
    run_benchmark,
    standard_input,
    timed,
)

LARGEST_SIZE = 1.05  # largest accepted size of a result over Triangle's
REPRODUCIBLE = [name for name, each in strategy_tables.MARKINGS.items() if not each.races]


@dataclass(kw_only=True)
class Peer:
    """Triangle on one input: seconds of the runs with and without refinement, triangles of the result."""

    refining: list[float] = field(default_factory=list)
    rebuilding: list[float] = field(default_factory=list)
    triangles: int = 0

    @property
    def seconds(self) -> float:
        """Seconds of the refinement alone."""
        return statistics.median(self.refining) - statistics.median(self.rebuilding)


@dataclass(kw_only=True)
class Row(Refined):
    """One configuration on one input; the fields of a record of --json, times in seconds, a list entry per run.

    Attributes:
        memory: memory of one run in a separate process (`apart.Memory`).
        same: whether all results equal that of one CPU thread.
    """

    input: str
    triangles_in: int
    refine: list[float]
    memory: dict[str, Any] | None = None

    def faults(self) -> list[str]:
        """Lists the faults of the results."""
        return [
            sentence
            for wrong, sentence in (
                (self.valid is False, "the checker refuses a result"),
                (self.same is False, "a result does not have the bits of one CPU thread"),
                (not self.complete, "a limit ended the run"),
                (self.size is not None and self.size > LARGEST_SIZE, f"more than {LARGEST_SIZE} of Triangle's size"),
            )
            if wrong
        ]


class Trial:
    """One configuration on one input, run by run.

    Attributes:
        how: arguments of `dmr.refine`; distinct: the distinct results, by digest.
    """

    def __init__(self, mesh: dmr.Mesh, how: dict[str, Any]) -> None:
        self.how = how
        self.distinct: dict[str, dmr.Mesh] = {}
        self._mesh = mesh
        self._wall: list[float] = []
        self._results: list[dict[str, float]] = []
        self._last: dmr.Refinement | None = None

    def run(self, counts: bool) -> None:
        """Runs once; a warm-up does not count."""
        seconds, result = timed(lambda: dmr.refine(self._mesh, **self.how))
        if counts:
            self._wall.append(seconds)
            self._results.append(result.seconds)
            self.distinct.setdefault(digest(result.mesh), result.mesh)
            self._last = result

    def row(self, name: str) -> Row:
        """Summarises the runs."""
        last = self._last
        assert last is not None
        return Row(
            input=name,
            triangles_in=len(self._mesh.triangles),
            wall=self._wall,
            refine=[sum(refinement_phases(seconds).values()) for seconds in self._results],
            unrefined=dict(last.unrefined),
            sha256=list(self.distinct),
            **Refined.figures(last, self._results),
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; returns the exit code, 5 if a result is wrong."""
    options = parser().parse_args(arguments)
    return run_benchmark("bench_refine", lambda faults: measure(options, faults))


def measure(options: argparse.Namespace, faults: list[str]) -> None:
    """Measures, prints and records all inputs; adds the faults of results to `faults`."""
    for name in options.inputs:
        points_of(name)
    asked = {name: getattr(options, name) for name in ("min_angle", "steiner", "marking", "balance", "repeats")}
    print(" | ".join(f"{k}: {v}" for k, v in machine().items()))
    print(HEAD)
    for name in options.inputs:
        mesh = load(name, options.folder)
        peer, rows = compete(name, mesh, options)
        if peer is not None:
            print(peer_line(name, len(mesh.triangles), peer))
        for row in rows:
            print(line(row), flush=True)
            faults += [f"{name}, {row.where}: {fault}" for fault in row.faults()]
            add_record(options, {"options": asked, **asdict(row)}, on_gpu=row.threads == 0)


def load(name: str, folder: Path | None) -> dmr.Mesh:
    """Loads one of the standard inputs, cached in `folder` if given."""
    kept = None if folder is None else folder / f"{name}.npz"
    if kept is not None and kept.is_file():
        found = dmr.read(kept)
        assert isinstance(found, dmr.Mesh)
        return found
    mesh = standard_input(name)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        dmr.write(kept, mesh)
    return mesh


def compete(name: str, mesh: dmr.Mesh, options: argparse.Namespace) -> tuple[Peer | None, list[Row]]:
    """Runs Triangle and all configurations in turn on one input, and checks the results."""
    shared = {key: getattr(options, key) for key in ("min_angle", "steiner", "marking", "balance")}
    trials = [
        Trial(mesh, {**shared, "device": device, "threads": threads})
        for device in options.device
        for threads in (options.threads if device == "cpu" else [None])
    ]
    peer = None if options.no_triangle else Peer()
    for turn in range(options.repeats + 1):
        if peer is not None:
            run_triangle(mesh, options.min_angle, peer, counts=turn > 0)
        for trial in trials:
            trial.run(counts=turn > 0)
    rows = [trial.row(name) for trial in trials]
    proved: dict[str, bool] = {}
    for trial, row in zip(trials, rows, strict=True):
        if peer is not None:
            row.ratio = statistics.median(row.refine) / peer.seconds
            row.size = row.triangles / peer.triangles
            row.peer = {**asdict(peer), "seconds": peer.seconds}
        if not options.no_validate:
            for key, result in trial.distinct.items():
                if key not in proved:
                    proved[key] = dmr.validate(result, input=mesh, min_angle=options.min_angle).ok
            row.valid = all(proved[key] for key in trial.distinct)
    check_apart(mesh, trials, rows, options)
    return peer, rows


def run_triangle(mesh: dmr.Mesh, min_angle: float, peer: Peer, *, counts: bool) -> None:
    """Runs Triangle with and without refinement."""
    import triangle

    given = mesh.to_triangle()
    rebuilding, _ = timed(lambda: triangle.triangulate(given, "r"))
    refining, result = timed(lambda: triangle.triangulate(given, f"rq{min_angle:.17g}"))
    peer.triangles = len(result["triangles"])
    if counts:
        peer.rebuilding.append(rebuilding)
        peer.refining.append(refining)


def check_apart(mesh: dmr.Mesh, trials: list[Trial], rows: list[Row], options: argparse.Namespace) -> None:
    """Adds measurements from separate processes: the memory of a run, and the comparison with one CPU thread."""
    compares = not options.no_reference and options.marking in REPRODUCIBLE
    if options.no_memory and not compares:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input.npz"
        dmr.write(path, mesh)
        one_thread = {**trials[0].how, "device": "cpu", "threads": 1}
        reference = refine_apart(path, one_thread) if compares else None
        for trial, row in zip(trials, rows, strict=True):
            if reference is not None:
                row.same = row.sha256 == [reference.sha256]
            if not options.no_memory:
                known = reference is not None and trial.how == one_thread
                found = reference if known else refine_apart(path, trial.how, hashed=False)
                assert found is not None
                row.memory = None if found.memory is None else asdict(found.memory)


# ---- Output ------------------------------------------------------------------------------------------------------

FORMAT = "{:12} {:>9} {:20} {:>7} {:>15} {:>7} {:>10} {:>7} {:>6} {:>6} {:>6} {:>7} {:>13}"
HEAD = FORMAT.format(
    "input", "triangles", "where", "refine", "min..max", "wall", "out", "B/point", "size", "ratio", "rounds", "accept",
    "checks",
)  # fmt: skip


def line(row: Row) -> str:
    """Table row of a configuration."""
    checks = {"valid": {None: "", True: "proved", False: "INVALID"}, "same": {None: "", True: "same", False: "OTHER"}}
    said = [words[getattr(row, name)] for name, words in checks.items()]
    bytes_per_point = None if row.memory is None else row.memory["taken"] / row.memory["points"]
    return FORMAT.format(
        row.input, f"{row.triangles_in:,}", row.where, *median_and_range(row.refine),
        f"{statistics.median(row.wall):.4f}", f"{row.triangles:,}", figure(bytes_per_point, ".0f"),
        figure(row.size, ".3f"), figure(row.ratio, ".2f"), row.rounds, f"{row.acceptance:.1%}",
        ", ".join(filter(None, said)) or "-",
    )  # fmt: skip


def peer_line(name: str, triangles: int, peer: Peer) -> str:
    """Table row of Triangle."""
    base = statistics.median(peer.rebuilding)
    spread = f"{min(peer.refining) - base:.4f}..{max(peer.refining) - base:.4f}"
    wall = f"{statistics.median(peer.refining):.4f}"
    return FORMAT.format(
        name, f"{triangles:,}", "Triangle", f"{peer.seconds:.4f}", spread, wall, f"{peer.triangles:,}", "", "1", "1",
        "", "", "",
    )  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = benchmark_parser(__doc__, "configuration")
    add = found.add_argument
    add("--inputs", nargs="+", default=["random-0.1m", "thesis-0.5m"], metavar="NAME",
        help=f"of {', '.join(INPUTS)}, and random-N (N points)")  # fmt: skip
    add("--folder", type=Path, metavar="FOLDER", help="folder in which inputs are cached")
    add("-q", "--min-angle", type=float, default=30.0, metavar="DEG", help="default: 30")
    add("--device", nargs="+", default=["cpu"], metavar="NAME", help="cpu, cuda, cuda:1, ... (default: cpu)")
    add(
        "--threads", nargs="+", type=int, default=[1, None], metavar="N", help="CPU threads (default: 1, and all cores)"
    )
    add("--repeats", type=positive, default=3, metavar="N", help="timed runs of each configuration (default: 3)")
    add("--no-triangle", action="store_true", help="do not run Triangle")
    add("--no-memory", action="store_true", help="do not measure memory, which takes an additional run")
    add("--steiner", choices=STEINER_RULES, default=STEINER_RULES[0])
    add("--marking", choices=MARKINGS, default=MARKINGS[0])
    add("--balance", choices=BALANCES, default=BALANCES[0])
    add("--no-validate", action="store_true", help="do not prove the results")
    add("--no-reference", action="store_true", help="do not compare the results with that of one CPU thread")
    return found


if __name__ == "__main__":
    sys.exit(main())
