"""Times `dmr.refine` on the standard inputs, beside Triangle in the same run, and proves the results.

    python scripts/bench_refine.py                                    # the two small inputs: a minute on two cores
    python scripts/bench_refine.py --inputs thesis-1.1m thesis-5.6m --device cuda --json results.jsonl
    python scripts/bench_refine.py --inputs thesis-1.1m --device cpu --threads 1 2 --repeats 5

Inputs are Delaunay meshes of uniform random points in the unit square, seed 12345. Of each configuration the first run
is a warm-up that does not count; the table has the median of the others, in seconds, and their range:

    refine    what Triangle's figure covers, too: the phases of a run but the mesh's way in (ordering, linking,
              checking that it is Delaunay) and its way out
    wall      the whole call, from numpy arrays to numpy arrays
    ratio     `refine` over Triangle's time; size: triangles of the result over Triangle's

Triangle's time is that of `rq30` less that of `r`, which only rebuilds the mesh; medians as well. It comes with the
extra [triangle], whose licence allows non-commercial use only; --no-triangle does without.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from machines import commit, machine
from measuring import INPUTS, digest, refinement_phases, standard_input

import dmr
from dmr.errors import DmrError
from dmr.options import BALANCES, MARKINGS, STEINER_RULES


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Triangle on one input: seconds of the runs with and without refinement, triangles of the result."""

    refining: list[float]
    rebuilding: list[float]
    triangles: int

    @property
    def seconds(self) -> float:
        """What refinement alone takes."""
        return statistics.median(self.refining) - statistics.median(self.rebuilding)


@dataclass(kw_only=True)
class Row:
    """One configuration on one input; the fields of a record of --json."""

    input: str
    triangles_in: int
    device: str
    threads: int
    wall: list[float]
    refine: list[float]
    phases: dict[str, float]
    triangles: int
    rounds: int
    acceptance: float
    unrefined: dict[str, int]
    sha256: str
    valid: bool | None = None
    ratio: float | None = None
    size: float | None = None
    peer: dict[str, Any] = field(default_factory=dict)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what was asked for; returns the exit code: 5 where a result is invalid."""
    options = parser().parse_args(arguments)
    rows: list[Row] = []
    print(" | ".join(f"{k}: {v}" for k, v in machine().items()))
    print(HEAD)
    try:
        for name in options.inputs:
            mesh = load(name, options.folder)
            peer = None if options.no_triangle else time_triangle(mesh, options.min_angle, options.repeats)
            if peer is not None:
                print(peer_line(name, len(mesh.triangles), peer))
            proved: dict[str, bool] = {}
            for device in options.device:
                for threads in options.threads if device == "cpu" else [None]:
                    row = measure(name, mesh, device, threads, peer, options, proved)
                    rows.append(row)
                    print(line(row), flush=True)
                    if options.json is not None:
                        append(options.json, row, options)
    except DmrError as error:
        print(f"bench_refine: {error}", file=sys.stderr)
        return error.exit_code
    return 5 if any(row.valid is False for row in rows) else 0


def load(name: str, folder: Path | None) -> dmr.Mesh:
    """One of the standard inputs, kept in `folder` where there is one."""
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


def time_triangle(mesh: dmr.Mesh, min_angle: float, repeats: int) -> Peer:
    """Runs Triangle with and without refinement, in turn."""
    import triangle

    given = mesh.to_triangle()
    refining, rebuilding, triangles = [], [], 0
    for _ in range(repeats):
        seconds, _ = timed(lambda: triangle.triangulate(given, "r"))
        rebuilding.append(seconds)
        seconds, result = timed(lambda: triangle.triangulate(given, f"rq{min_angle:.17g}"))
        refining.append(seconds)
        triangles = len(result["triangles"])
    return Peer(refining=refining, rebuilding=rebuilding, triangles=triangles)


def measure(
    name: str,
    mesh: dmr.Mesh,
    device: str,
    threads: int | None,
    peer: Peer | None,
    options: argparse.Namespace,
    proved: dict[str, bool],
) -> Row:
    """Runs one configuration; results that were proved before (by their digest) are not proved again."""

    def run() -> dmr.Refinement:
        return dmr.refine(
            mesh,
            min_angle=options.min_angle,
            steiner=options.steiner,
            marking=options.marking,
            balance=options.balance,
            device=device,
            threads=threads,
        )

    result = run()
    wall, refine = [], []
    phases: dict[str, list[float]] = {}
    for _ in range(options.repeats):
        seconds, result = timed(run)
        wall.append(seconds)
        refine.append(sum(refinement_phases(result.seconds).values()))
        for phase, s in result.seconds.items():
            phases.setdefault(phase, []).append(s)
    row = Row(
        input=name,
        triangles_in=len(mesh.triangles),
        device=result.device,
        threads=result.threads,
        wall=wall,
        refine=refine,
        phases={phase: statistics.median(values) for phase, values in phases.items()},
        triangles=len(result.mesh.triangles),
        rounds=result.rounds,
        acceptance=result.acceptance,
        unrefined=dict(result.unrefined),
        sha256=digest(result.mesh),
    )
    if peer is not None:
        row.ratio = statistics.median(refine) / peer.seconds
        row.size = row.triangles / peer.triangles
        row.peer = {**asdict(peer), "seconds": peer.seconds}
    if not options.no_validate:
        if row.sha256 not in proved:
            proved[row.sha256] = dmr.validate(result.mesh, input=mesh, min_angle=options.min_angle).ok
        row.valid = proved[row.sha256]
    return row


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and the result."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


# ---- What is printed, and what is kept ---------------------------------------------------------------------------

FORMAT = "{:12} {:>9} {:20} {:>7} {:>15} {:>7} {:>10} {:>6} {:>6} {:>6} {:>7} {:>7}"
HEAD = FORMAT.format(
    "input", "triangles", "where", "refine", "min..max", "wall", "out", "size", "ratio", "rounds", "accept", "valid"
)


def line(row: Row) -> str:
    """The row of a configuration."""
    where = row.device if row.threads == 0 else f"{row.device}, {row.threads} thread{'s'[: row.threads != 1]}"
    return FORMAT.format(
        row.input,
        f"{row.triangles_in:,}",
        where,
        f"{statistics.median(row.refine):.4f}",
        f"{min(row.refine):.4f}..{max(row.refine):.4f}",
        f"{statistics.median(row.wall):.4f}",
        f"{row.triangles:,}",
        "-" if row.size is None else f"{row.size:.3f}",
        "-" if row.ratio is None else f"{row.ratio:.2f}",
        row.rounds,
        f"{row.acceptance:.1%}",
        {None: "-", True: "proved", False: "INVALID"}[row.valid],
    )


def peer_line(name: str, triangles: int, peer: Peer) -> str:
    """The row of Triangle."""
    base = statistics.median(peer.rebuilding)
    spread = f"{min(peer.refining) - base:.4f}..{max(peer.refining) - base:.4f}"
    wall = f"{statistics.median(peer.refining):.4f}"
    return FORMAT.format(
        name, f"{triangles:,}", "Triangle", f"{peer.seconds:.4f}", spread, wall, f"{peer.triangles:,}",
        "1", "1", "", "", "",
    )  # fmt: skip


def append(path: Path, row: Row, options: argparse.Namespace) -> None:
    """Adds a record to a file of one JSON object a line."""
    record = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "version": dmr.__version__,
        "commit": commit(),
        "machine": machine(),
        "options": {name: getattr(options, name) for name in ("min_angle", "steiner", "marking", "balance", "repeats")},
        **asdict(row),
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("--inputs", nargs="+", choices=INPUTS, default=["random-0.1m", "thesis-0.5m"], metavar="NAME",
        help=f"of {', '.join(INPUTS)}")  # fmt: skip
    add("-q", "--min-angle", type=float, default=30.0, metavar="DEG", help="default: 30")
    add("--device", nargs="+", default=["cpu"], metavar="NAME", help="cpu, cuda, cuda:1, ... (default: cpu)")
    add(
        "--threads", nargs="+", type=int, default=[1, None], metavar="N", help="CPU threads (default: 1, and all cores)"
    )
    add("--repeats", type=int, default=3, metavar="N", help="timed runs of each configuration (default: 3)")
    add("--steiner", choices=STEINER_RULES, default=STEINER_RULES[0])
    add("--marking", choices=MARKINGS, default=MARKINGS[0])
    add("--balance", choices=BALANCES, default=BALANCES[0])
    add("--no-triangle", action="store_true", help="do not run Triangle")
    add("--no-validate", action="store_true", help="do not prove the results")
    add("--folder", type=Path, metavar="FOLDER", help="keep the inputs there, and take them from there")
    add("--json", type=Path, metavar="FILE", help="append a record of each configuration, one JSON object a line")
    return found


if __name__ == "__main__":
    sys.exit(main())
