"""Times `dmr.refine` on realistic domains, and Triangle on the same outlines in the same run.

    python -m scripts.bench.domains --folder DOMAINS --threads 1 2 --json results.jsonl
    python -m scripts.bench.domains --folder DOMAINS --device cuda --json results.jsonl
    python -m scripts.bench.domains --domains coast-10000 channel-1e4@20 plate-1e-4 --repeats 5

scripts/lib/outlines.py defines the domains and their names. Each outline is cleaned once by dmr's conflict resolution,
and both programs get the same arrays. All configurations run in turn with Triangle's `-pq`, so that other load on the
machine affects all of them alike. Before the first domain, each configuration refines a small mesh as a warm-up. The
table has medians of the whole call, from numpy arrays to numpy arrays, in seconds:

    ratio     time over Triangle's; size: triangles over Triangle's
    checks    on the results of all timed runs: "proved" by the exact checker, with the bounds; "valid" if the run
              ended unfinished, so that bounds are missed; the "same" bits in all configurations and runs

Triangle runs on one thread in a separate process, which ends after --triangle-limit seconds. Runs of dmr end unfinished
after --limit seconds. If the first turn of a domain takes longer than --long, it is the only one. If the checker
refuses a result, or its bits differ between configurations, stderr names it and the exit code is 5. An unfinished run
is not an error: its row of the table states the reason.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dmr
from dmr.refinement.options import MARKINGS
from scripts.lib.cells import figure, median_and_range
from scripts.lib.guarded import Guarded
from scripts.lib.machines import machine
from scripts.lib.measuring import Refined, add_record, benchmark_parser, digest, positive, run_benchmark, timed, where
from scripts.lib.outlines import STANDARD, Case, case, clean, outline
from scripts.lib.sides import geometric_mean

ENDED_BY = ("budget", "time")  # reasons of triangles left unrefined by a limit


@dataclass(kw_only=True)
class Peer:
    """Triangle on one outline: seconds of each run and triangles of the result, or the failure."""

    seconds: list[float] = field(default_factory=list)
    triangles: int = 0
    failure: str = ""


@dataclass(kw_only=True)
class Row(Refined):
    """One configuration on one domain; the fields of a record of --json, times in seconds, a list entry per run.

    Attributes:
        ended: the limit that ended the run; empty if it is complete.
        same: whether all configurations have the same digest.
        valid: unfinished results are proved without the bounds; ratio: of the whole call.
    """

    domain: str
    min_angle: float
    max_area: float | None
    vertices_in: int
    segments_in: int
    outcomes: dict[str, int]
    ended: str

    def faults(self) -> list[str]:
        """Lists the faults of the results."""
        wrong = {
            "the checker refuses a result": self.valid is False,
            "results have different bits": self.same is False,
        }
        return [sentence for sentence, holds in wrong.items() if holds]


class Trial:
    """One configuration on one domain, run by run.

    Attributes:
        distinct: the distinct results, by digest.
    """

    def __init__(self, case: Case, drawn: dmr.Pslg, how: dict[str, Any]) -> None:
        self.distinct: dict[str, dmr.Refinement] = {}
        self._case, self._drawn = case, drawn
        self._how = {**how, "min_angle": case.min_angle, "max_area": case.max_area}
        self._wall: list[float] = []
        self._phases: list[dict[str, float]] = []
        self._last: dmr.Refinement | None = None

    def run(self) -> float:
        """Runs once and returns the seconds."""
        seconds, result = timed(lambda: dmr.refine(self._drawn, **self._how))
        self._wall.append(seconds)
        self._phases.append(dict(result.seconds))
        self.distinct.setdefault(digest(result.mesh), result)
        self._last = result
        return seconds

    def proved(self, result: dmr.Refinement) -> bool:
        """Whether the exact checker accepts a result; the bounds are checked only if the run is complete."""
        bounds: dict[str, Any] = {"min_angle": 0.0}
        if result.complete:
            bounds = {"min_angle": self._case.min_angle, "max_area": self._case.max_area}
            bounds["unrefined"] = result.unrefined_triangles
        return bool(dmr.validate(result.mesh, input=self._drawn, **bounds).ok)

    def row(self) -> Row:
        """Summarises the runs."""
        last = self._last
        assert last is not None
        left = {reason: count for reason, count in last.unrefined.items() if count}
        ended = next((reason for reason in ENDED_BY if reason in left), "limit")
        return Row(
            domain=self._case.name,
            min_angle=self._case.min_angle,
            max_area=self._case.max_area,
            vertices_in=len(self._drawn.vertices),
            segments_in=len(self._drawn.segments),
            wall=self._wall,
            outcomes=dict(last.outcomes),
            ended="" if last.complete else ended,
            unrefined=left,
            sha256=list(self.distinct),
            **Refined.figures(last, self._phases),
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; returns the exit code, 5 if a result is wrong."""
    options = parser().parse_args(arguments)
    logging.getLogger("dmr").setLevel(logging.ERROR)
    return run_benchmark("bench_domains", lambda faults: measure(options, faults))


def measure(options: argparse.Namespace, faults: list[str]) -> None:
    """Measures, prints and records all inputs; adds the faults of results to `faults`."""
    rows: list[Row] = []
    cases = [case(name) for name in options.domains]
    print(" | ".join(f"{k}: {v}" for k, v in machine().items()))
    print(HEAD)
    hows = configurations(options)
    for how in hows:
        dmr.refine(dmr.generate("random", 2000, 1), **how)
    with Guarded(refined_by_triangle, options.triangle_limit) as triangle:
        for one in cases:
            found = compete(one, hows, None if options.no_triangle else triangle, options)
            rows += found
            for row in found:
                faults += [f"{row.domain}, {row.where}: {fault}" for fault in row.faults()]
    for line in summary(rows):
        print(line)


def configurations(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Arguments of `dmr.refine` for each configuration, without the bounds."""
    shared = {"marking": options.marking, "max_seconds": options.limit}
    return [
        {**shared, "device": device, "threads": threads}
        for device in options.device
        for threads in (options.threads if device == "cpu" else [None])
    ]


def compete(case: Case, hows: list[dict[str, Any]], triangle: Guarded | None, options: argparse.Namespace) -> list[Row]:
    """Runs Triangle and all configurations in turn on one domain; checks, prints and records the results."""
    drawn = clean(outline(case, options.folder))
    trials = [Trial(case, drawn, how) for how in hows]
    peer = None if triangle is None else Peer()
    turns = options.repeats
    while turns > 0:
        spent = 0.0
        if peer is not None and triangle is not None and not peer.failure:
            spent += run_triangle(triangle, case, drawn, peer)
        spent += sum(trial.run() for trial in trials)
        turns = 0 if spent > options.long else turns - 1
    rows = [trial.row() for trial in trials]
    digests = {key for trial in trials for key in trial.distinct}
    proved: dict[str, bool] = {}
    if peer is not None:
        print(peer_line(case, drawn, peer))
    for trial, row in zip(trials, rows, strict=True):
        # The result of a run that a time limit ended is not reproducible.
        row.same = None if row.ended == "time" else len(digests) == 1
        if not options.no_validate:
            for key, result in trial.distinct.items():
                if key not in proved:
                    proved[key] = trial.proved(result)
            row.valid = all(proved[key] for key in trial.distinct)
        if peer is not None:
            row.peer = asdict(peer)
            if peer.triangles:
                row.ratio = statistics.median(row.wall) / statistics.median(peer.seconds)
                row.size = row.triangles / peer.triangles
        print(line(row), flush=True)
        add_record(options, record(row, options), on_gpu=row.threads == 0)
    return rows


def run_triangle(triangle: Guarded, case: Case, drawn: dmr.Pslg, peer: Peer) -> float:
    """Runs Triangle once and returns its seconds."""
    answer = triangle(drawn.vertices, drawn.segments, drawn.holes, case.switches)
    if answer.failure or not answer.value[1]:
        peer.failure = answer.failure or "no triangles"
        peer.seconds, peer.triangles = [answer.seconds], 0
        return answer.seconds
    seconds, peer.triangles = answer.value
    peer.seconds.append(seconds)
    return float(seconds)


def refined_by_triangle(
    vertices: NDArray[np.float64], segments: NDArray[np.int32], holes: NDArray[np.float64], switches: str
) -> tuple[float, int]:
    """Seconds that Triangle takes for an outline, and its triangles. Call only in a guarded process."""
    import triangle

    given = {"vertices": vertices.copy(), "segments": segments.copy()}
    if len(holes):
        given["holes"] = holes.copy()
    seconds, made = timed(lambda: triangle.triangulate(given, switches))
    return seconds, len(made.get("triangles", ()))


# ---- Output ------------------------------------------------------------------------------------------------------

FORMAT = "{:18} {:>8} {:20} {:>9} {:>19} {:>10} {:>6} {:>6} {:>7} {:>13} {}"
HEAD = FORMAT.format(
    "domain", "segments", "where", "seconds", "min..max", "triangles", "size", "ratio", "rounds", "checks", "ended by"
)


def line(row: Row) -> str:
    """Table row of a configuration."""
    proof = {None: "", True: "proved" if row.complete else "valid", False: "INVALID"}[row.valid]
    same = {None: "", True: "same", False: "OTHER"}[row.same]
    left = ", ".join(f"{count} {reason}" for reason, count in row.unrefined.items() if reason == row.ended)
    return FORMAT.format(
        row.domain, f"{row.segments_in:,}", row.where, *median_and_range(row.wall), f"{row.triangles:,}",
        figure(row.size, ".3f"), figure(row.ratio, ".2f"), row.rounds,
        ", ".join(filter(None, (proof, same))) or "-", left or row.ended,
    ).rstrip()  # fmt: skip


def peer_line(case: Case, drawn: dmr.Pslg, peer: Peer) -> str:
    """Table row of Triangle."""
    return FORMAT.format(
        case.name, f"{len(drawn.segments):,}", f"Triangle -{case.switches}"[:20], *median_and_range(peer.seconds),
        f"{peer.triangles:,}" if peer.triangles else "-", *("", "", "", ""), peer.failure,
    ).rstrip()  # fmt: skip


def summary(rows: list[Row]) -> list[str]:
    """For each configuration, the number of finished domains and geometric means over Triangle's figures."""
    lines = [""]
    for device, threads in dict.fromkeys((row.device, row.threads) for row in rows):
        own = [row for row in rows if (row.device, row.threads) == (device, threads)]
        text = f"{where(device, threads)}: {sum(row.complete for row in own)} of {len(own)} finished"
        sizes = [row.size for row in own if row.size is not None]
        ratios = [row.ratio for row in own if row.ratio is not None]
        if sizes:
            losing = sum(ratio > 1 for ratio in ratios)
            text += f"; size {geometric_mean(sizes):.3f}, ratio {geometric_mean(ratios):.2f}, geometric means of "
            text += f"{len(sizes)}; slower than Triangle on {losing}"
        lines.append(text)
    return lines


def record(row: Row, options: argparse.Namespace) -> dict[str, Any]:
    """The fields of a record of --json."""
    asked = {name: getattr(options, name) for name in ("marking", "repeats", "limit", "triangle_limit", "long")}
    note = {} if options.note is None else {"note": options.note}
    return {**note, "options": asked, **asdict(row)}


def seconds(text: str) -> float:
    """Parses a number above 0 for argparse."""
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"must be above 0, not {text}")
    return number


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = benchmark_parser(__doc__, "configuration")
    add = found.add_argument
    add("--domains", nargs="+", default=list(STANDARD), metavar="NAME", help=f"default: {' '.join(STANDARD)}")
    add("--folder", type=Path, metavar="FOLDER", help="folder of land-50m.geojson.gz and us-counties.geojson.gz")
    add("--device", nargs="+", default=["cpu"], metavar="NAME", help="cpu, cuda, cuda:1, ... (default: cpu)")
    add(
        "--threads", nargs="+", type=int, default=[1, None], metavar="N", help="CPU threads (default: 1, and all cores)"
    )
    add("--repeats", type=positive, default=3, metavar="N", help="timed runs of each configuration (default: 3)")
    add("--marking", choices=MARKINGS, default=MARKINGS[0])
    add("--limit", type=seconds, default=120.0, metavar="S", help="seconds per run of dmr (default: 120)")
    add("--triangle-limit", type=seconds, default=60.0, metavar="S", help="seconds per run of Triangle (default: 60)")
    add("--long", type=seconds, default=20.0, metavar="S", help="a turn that takes longer is the last (default: 20)")
    add("--no-triangle", action="store_true", help="do not run Triangle")
    add("--no-validate", action="store_true", help="do not prove the results")
    add("--note", metavar="TEXT", help="note to record, such as other load on the machine")
    return found


if __name__ == "__main__":
    sys.exit(main())
