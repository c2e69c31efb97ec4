"""Times `dmr.triangulate` and Triangle's `-p` in the same run, without refinement: one thread each by default.

    python -m scripts.bench.triangulate                                   # a million points: a few minutes
    python -m scripts.bench.triangulate --points 100000 --repeats 7 --json results.jsonl
    python -m scripts.bench.triangulate --inputs points --device cuda     # points by rounds of kernels
    python -m scripts.bench.triangulate --points 200000 --peers all      # other programs, too

Inputs, generated from a seed: uniform random points in the unit square; the same with n / 10 segments among them, of
random direction, that do not cross (one in each cell of a grid); a polygon of n / 5 vertices with a fractal outline.

    native      dmr: the native library and the copies of its arrays, without carving, markers and the Mesh
    whole       dmr: `dmr.triangulate`, from a `dmr.Pslg` of numpy arrays to a `dmr.Mesh`, including conflict detection,
                on the device and the threads that the options name
    Triangle    `triangle.triangulate` with `p` (which its wrapper turns into `Qzp`) and with `pNEP`, which writes no
                arrays for nodes, elements and segments: the least that can be measured through Python. The wrapper
                still copies the given arrays, which takes a few percent and is measured separately (`copy in`).

The peers (scripts/lib/triangulators.py) go from numpy arrays to their own result, mostly with the convex hull, whose
triangles are counted. Those whose packages are not installed are left out, and named; `--peers all` asks for all.

The ratios are times of dmr over Triangle's: `native` over `pNEP`, `whole` over `p`. The programs run in turn; the table
has medians of the repeats after a warm-up run. Triangle comes with the extra [triangle], for non-commercial use only.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dmr
from dmr.mesh.edges import unique_edges
from dmr.triangulation.native import triangulate_plane
from scripts.lib.machines import commit, machine
from scripts.lib.triangulators import PEERS, installed

SEED = 12345


@dataclass(kw_only=True)
class Row:
    """One input; the fields of a record of --json. `seconds` has one entry per repeat."""

    input: str
    vertices: int
    segments: int
    triangles: int
    same: bool
    seconds: dict[str, list[float]]
    peer_triangles: dict[str, int] = field(default_factory=dict)

    def median(self, name: str) -> float:
        """Median seconds of one of the measured calls."""
        return statistics.median(self.seconds[name])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; returns 1 if the two programs disagree, else 0."""
    options = parser().parse_args(arguments)
    logging.getLogger("dmr").setLevel(logging.ERROR)
    peers = installed(PEERS if "all" in options.peers else options.peers)
    print(" | ".join(f"{k}: {v}" for k, v in machine().items()))
    print(HEAD)
    agreed = True
    for name in options.inputs:
        pslg = INPUTS[name](options.points, options.seed)
        row = measure(name, pslg, options.repeats, device=options.device, threads=options.threads, peers=peers)
        agreed &= row.same
        print(line(row), flush=True)
        for peer, count in row.peer_triangles.items():
            ratio = row.median("whole") / row.median(peer)
            print(f"    {peer}: {row.median(peer):.3f} s, {count:,} triangles, whole / {peer}: {ratio:.2f}", flush=True)
        if options.json is not None:
            record: dict[str, Any] = {
                "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
                "version": dmr.__version__,
            }
            record |= {"commit": commit(), "machine": machine(), "seed": options.seed, **asdict(row)}
            with options.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
    return int(not agreed)


# ---- Inputs --------------------------------------------------------------------------------------------------------


def points(n: int, seed: int) -> dmr.Pslg:
    """Uniform random points in the unit square."""
    return dmr.Pslg(np.random.default_rng(seed).random((n, 2)), np.empty((0, 2), np.int32))


def crossed(n: int, seed: int) -> dmr.Pslg:
    """The same points and n / 10 segments, each within a separate grid cell."""
    rng = np.random.default_rng(seed)
    loose = rng.random((n, 2))
    columns = math.isqrt(n // 10)
    cells = np.arange(columns * columns)
    low = np.stack([cells % columns, cells // columns], axis=1)
    ends = (low[:, None] + rng.uniform(0.02, 0.98, (len(cells), 2, 2))) / columns
    spans = n + np.arange(2 * len(cells)).reshape(-1, 2)
    box = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float)
    first = n + 2 * len(cells)
    outline = first + np.array([(0, 1), (1, 2), (2, 3), (3, 0)])
    return dmr.Pslg(np.vstack([loose, ends.reshape(-1, 2), box]), np.vstack([spans, outline]))


def polygon(n: int, seed: int) -> dmr.Pslg:
    """A star-shaped outline of n / 5 vertices, rough at every scale."""
    rng = np.random.default_rng(seed)
    count = max(n // 5, 8)
    away = np.ones(4)
    while len(away) < count:
        middles = (away + np.roll(away, -1)) / 2 + rng.uniform(-0.5, 0.5, len(away)) * (2.0 / len(away)) ** 0.9
        away = np.stack([away, middles], axis=1).reshape(-1)
    away = np.maximum(away[:count], 0.1)
    turn = np.arange(count) * (2 * math.pi / count)
    ring = np.stack([np.cos(turn) * away, np.sin(turn) * away], axis=1)
    index = np.arange(count)
    return dmr.Pslg(ring, np.stack([index, (index + 1) % count], axis=1))


INPUTS: dict[str, Callable[[int, int], dmr.Pslg]] = {"points": points, "segments": crossed, "polygon": polygon}


# ---- Measuring -----------------------------------------------------------------------------------------------------


def measure(
    name: str,
    pslg: dmr.Pslg,
    repeats: int,
    *,
    device: str = "cpu",
    threads: int | None = 1,
    peers: Sequence[str] = (),
) -> Row:
    """Times the programs on one input in turn; the first round does not count."""
    import triangle

    given: dict[str, NDArray[Any]] = {"vertices": pslg.vertices.copy()}
    if len(pslg.segments):
        given["segments"] = pslg.segments.copy()
    p = "p" if len(pslg.segments) else ""
    calls: dict[str, Callable[[], Any]] = {
        "native": lambda: triangulate_plane(pslg),
        "whole": lambda: dmr.triangulate(pslg, device=device, threads=threads),
        "triangle bare": lambda: triangle.triangulate(given, f"{p}NEP"),
        "triangle": lambda: triangle.triangulate(given, p),
        "copy in": lambda: [np.ascontiguousarray(array).copy() for array in given.values()],
    }
    for peer in peers:
        if PEERS[peer].takes(pslg):
            calls[peer] = partial(PEERS[peer], pslg)
    seconds: dict[str, list[float]] = {label: [] for label in calls}
    made: dict[str, Any] = {}
    for k in range(repeats + 1):
        for label, call in calls.items():
            started = time.perf_counter()
            made[label] = call()
            if k:
                seconds[label].append(time.perf_counter() - started)
    ours, theirs = made["whole"], dmr.Mesh(made["triangle"]["vertices"], made["triangle"]["triangles"])
    # Delaunay triangulations of points in general position are the same, edge by edge.
    same = np.array_equal(unique_edges(ours)[0], unique_edges(theirs)[0])
    return Row(
        input=name,
        vertices=len(pslg.vertices),
        segments=len(pslg.segments),
        triangles=len(ours.triangles),
        same=same,
        seconds=seconds,
        peer_triangles={peer: made[peer] for peer in peers if peer in made},
    )


FORMAT = "{:9} {:>10} {:>9} {:>10} | {:>7} {:>7} | {:>8} {:>8} {:>8} | {:>13} {:>9} | {}"
HEAD = FORMAT.format(
    "input", "vertices", "segments", "triangles", "native", "whole", "Tri pNEP", "Tri p", "copy in",
    "native / pNEP", "whole / p", "edges",
)  # fmt: skip


def line(row: Row) -> str:
    """Table row of an input."""
    native, whole, bare, full = (row.median(name) for name in ("native", "whole", "triangle bare", "triangle"))
    return FORMAT.format(
        row.input, f"{row.vertices:,}", f"{row.segments:,}", f"{row.triangles:,}", f"{native:.3f}", f"{whole:.3f}",
        f"{bare:.3f}", f"{full:.3f}", f"{row.median('copy in'):.3f}", f"{native / bare:.2f}", f"{whole / full:.2f}",
        "the same" if row.same else "DIFFERENT",
    )  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS), metavar="NAME", help=f"of {', '.join(INPUTS)}")
    add("--points", type=int, default=1_000_000, metavar="N", help="default: 1000000")
    add("--seed", type=int, default=SEED, metavar="S", help=f"default: {SEED}")
    add("--device", default="cpu", help="of `whole` (default: cpu)")
    add("--threads", type=int, default=1, metavar="N", help="of `whole`, on the CPU (default: 1)")
    add(
        "--peers",
        nargs="+",
        choices=[*PEERS, "all"],
        default=[],
        metavar="NAME",
        help=f"others to time: all, or of {', '.join(PEERS)}",
    )
    add("--repeats", type=int, default=5, metavar="N", help="timed runs of each (default: 5)")
    add("--json", type=Path, metavar="FILE", help="append a record of each input, one JSON object per line")
    return found


if __name__ == "__main__":
    sys.exit(main())
