"""Times two threads and one thread in turn while another program keeps one of their two cores busy.

    python -m scripts.study.busy_core
    python -m scripts.study.busy_core --only coast bfs --repeats 15 --json results.jsonl

The study runs on two of the cores that it may use, and a program that never waits on the second of them; `--idle`
leaves that program out. Work is shared in pieces that any free thread takes, so two threads should take no more
time than one does under the same load. The table has the medians of the calls in milliseconds, and their ratio.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

import dmr
import static_graph
from dmr.domains.generation import THESIS_SEED
from scripts.lib import measuring, outlines

POINTS = 200_000
NODES, EDGES = 200_000, 1_600_000
SETTLING = 0.2  # seconds for the scheduler to see the load

Work = Callable[[int], Any]


def refined(name: str) -> Work:
    """Refines a domain of `scripts.lib.outlines` by a number of threads."""
    case = outlines.case(name)
    domain = outlines.clean(outlines.outline(case, None))
    return lambda threads: dmr.refine(
        domain, device="cpu", threads=threads, min_angle=case.min_angle, max_area=case.max_area
    )


def refined_points() -> Work:
    """Refines a mesh of random points."""
    mesh = dmr.triangulate(np.random.default_rng(THESIS_SEED).random((POINTS, 2)))
    return lambda threads: dmr.refine(mesh, device="cpu", threads=threads)


def triangulated() -> Work:
    """Triangulates random points."""
    points = np.random.default_rng(THESIS_SEED).random((5 * POINTS, 2))
    return lambda threads: dmr.triangulate(points, device="cpu", threads=threads)


def searched(algorithm: Callable[..., Any], **options: Any) -> Work:
    """Runs an algorithm on an R-MAT graph with weights."""
    graph = static_graph.with_random_weights(static_graph.generate_rmat(NODES, EDGES, seed=0), seed=0)
    return lambda threads: algorithm(graph, device="cpu", threads=threads, **options)


WORKS: dict[str, Callable[[], Work]] = {
    "points": refined_points,
    "coast": lambda: refined("coast-20000"),
    "circle": lambda: refined("circle-5000"),
    "plate": lambda: refined("plate-1e-4"),
    "triangulate": triangulated,
    "bfs": lambda: searched(static_graph.bfs, source=0),
    "sssp": lambda: searched(static_graph.sssp, source=0),
    "pagerank": lambda: searched(static_graph.pagerank),
    "strong": lambda: searched(static_graph.connected_components, connection="strong"),
    "weak": lambda: searched(static_graph.connected_components),
}


@contextmanager
def busy(core: int) -> Iterator[None]:
    """Keeps a core busy with a separate process."""
    command = f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True:\n    pass"
    with subprocess.Popen([sys.executable, "-c", command]) as process:
        try:
            time.sleep(SETTLING)
            yield
        finally:
            process.kill()


def in_turn(work: Work, repeats: int) -> tuple[float, float]:
    """Returns the median seconds of one thread and of two, which take turns."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for threads in (1, 2):
        work(threads)
    for _ in range(repeats):
        for threads, taken in seconds.items():
            taken.append(measuring.timed(partial(work, threads))[0])
    return statistics.median(seconds[1]), statistics.median(seconds[2])


def measure(options: argparse.Namespace, cores: list[int]) -> None:
    """Prints a row per work, and records it."""
    print(f"{'work':12} {'1 thread':>10} {'2 threads':>10} {'ratio':>6}")
    for name in options.only:
        work = WORKS[name]()
        if options.idle:
            one, two = in_turn(work, options.repeats)
        else:
            with busy(cores[1]):
                one, two = in_turn(work, options.repeats)
        print(f"{name:12} {1e3 * one:10.1f} {1e3 * two:10.1f} {two / one:6.2f}", flush=True)
        fields = {"study": "busy-core", "work": name, "busy": not options.idle, "one_thread": one, "two_threads": two}
        measuring.add_record(options, fields, on_gpu=False)


def main(arguments: list[str] | None = None) -> int:
    """Runs the study; returns 4 where the process may not use two cores."""
    parser = measuring.benchmark_parser(__doc__, "work")
    parser.add_argument("--only", nargs="+", choices=WORKS, default=list(WORKS), metavar="WORK", help="default: all")
    parser.add_argument("--repeats", type=measuring.positive, default=7)
    parser.add_argument("--idle", action="store_true", help="leave the other program out")
    options = parser.parse_args(arguments)
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        print("the study needs two cores", file=sys.stderr)
        return 4
    os.sched_setaffinity(0, cores)
    measure(options, cores)
    return 0


if __name__ == "__main__":
    sys.exit(main())
