"""Times `static_graph.bfs` and `sssp` on the standard graphs, with scipy in the same run, and checks the results.

    python -m scripts.bench.traversal --graphs FOLDER --threads 1 2               # FOLDER has web-Stanford.txt.gz
    python -m scripts.bench.traversal --inputs gtgraph graph500 --device cuda --no-scipy --json results.jsonl
    python -m scripts.bench.traversal --inputs gtgraph-16000000-256000000 --device cuda --sources 16 --no-scipy

Inputs are web-Stanford (from node 21213), R-MAT graphs by the name of their parameters ("gtgraph", "graph500",
"thesis": 1,048,576 nodes and 8,000,000 edges, or as NAME-NODES-EDGES specifies), "random-NODES-EDGES", and files.
Weights are random integers from 1 to 100, of seed 1, and replace those of the graph. Other searches begin at the node
of the largest out-degree. With --sources N they begin at N random nodes of the largest strongly connected component,
which all reach the same nodes, and times are means.

The graph is on its device beforehand, as are the arrays that a first search leaves there. All configurations and scipy
run in turn, so that other load on the machine affects all of them alike; the first turn is a warm-up that does not
count. The table has the best times in milliseconds:

    search    the call without transfers: kernels, and the host's work for them
    call      the whole call, with the distances in a numpy array
    ratio     `call` over scipy's breadth_first_order or dijkstra
    GTEPS     edges of the nodes reached over `search`

Distances are compared with scipy's. If one differs, stderr names the search and the exit code is 5.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import static_graph
from scripts.lib.cells import figure
from scripts.lib.machines import machine
from scripts.lib.measuring import Configuration, add_record, benchmark_parser, positive, run_benchmark, timed
from scripts.lib.traversals.sources import largest_component
from static_graph import CsrGraph, DeviceGraph, Traversal
from static_graph.traversal.schemes.table import BALANCES

LARGEST_WEIGHT = 100
NODES, EDGES = 2**20, 8_000_000
PRESETS = ("gtgraph", "graph500", "thesis")
WEB, WEB_SOURCE = "web-Stanford", 21213
SEARCHES: dict[str, Callable[..., Traversal]] = {"bfs": static_graph.bfs, "sssp": static_graph.sssp}


@dataclass(kw_only=True)
class Row(Configuration):
    """One search of one graph on one device; the fields of a record of --json, times in seconds.

    Attributes:
        sources: source node of each search; search, call: mean times over the sources, per turn.
        reached_edges: edges of the nodes reached, mean over the sources; followed: edges examined, likewise.
        scipy: mean times over the sources, per turn; empty if scipy did not run.
        same: whether all distances equal scipy's.
    """

    input: str
    nodes: int
    edges: int
    searched: str
    balance: str
    sources: list[int]
    search: list[float] = field(default_factory=list)
    call: list[float] = field(default_factory=list)
    rounds: float = 0
    followed: float = 0
    reached_edges: float = 0
    scipy: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float | None:
        """Our best time over scipy's."""
        return min(self.call) / min(self.scipy) if self.scipy else None

    @property
    def gteps(self) -> float:
        """Edges of the nodes reached, in billions per second."""
        return self.reached_edges / min(self.search) / 1e9


class Peer:
    """scipy on one graph: its times and its distances, the reference for the comparison."""

    def __init__(self, graph: CsrGraph, sources: Sequence[int]) -> None:
        from scipy.sparse.csgraph import dijkstra

        self._matrix = _shortest_edges(graph)
        self._sources = sources
        self.times: dict[str, list[float]] = {name: [] for name in SEARCHES}
        self.distances = {
            name: [_whole(dijkstra(self._matrix, indices=source, unweighted=name == "bfs")) for source in sources]
            for name in SEARCHES
        }

    def run(self, name: str, counts: bool) -> None:
        """Runs one turn of one search."""
        from scipy.sparse.csgraph import breadth_first_order, dijkstra

        seconds = 0.0
        for source in self._sources:
            if name == "bfs":
                call = lambda: breadth_first_order(self._matrix, source, return_predecessors=False)  # noqa: B023, E731
            else:
                call = lambda: dijkstra(self._matrix, indices=source)  # noqa: B023, E731
            seconds += timed(call)[0] / len(self._sources)
        if counts:
            self.times[name].append(seconds)


class Trial:
    """One search of one graph on one device, turn by turn."""

    def __init__(self, graph: DeviceGraph, row: Row, options: dict[str, Any]) -> None:
        self.row = row
        self._graph, self._options = graph, options

    def run(self, counts: bool, expected: Sequence[NDArray[Any]] | None) -> None:
        """Runs one turn; a warm-up's time does not count, but its distances are compared."""
        row, mean = self.row, 1 / len(self.row.sources)
        search = call = followed = rounds = reached = 0.0
        degrees = None if counts else self._degrees()
        for k, source in enumerate(row.sources):
            seconds, found = timed(
                lambda: SEARCHES[row.searched](self._graph, source, balance=row.balance, **self._options)  # noqa: B023
            )
            call += seconds * mean
            search += (seconds - found.seconds["download"]) * mean
            followed, rounds = followed + found.edges_followed * mean, rounds + found.rounds * mean
            if degrees is not None:  # the same nodes are reached in every turn
                reached += float(degrees[found.reached()].sum()) * mean
            if expected is not None:
                row.same = row.same is not False and bool(np.array_equal(found.distances, expected[k]))
        if counts:
            row.call.append(call)
            row.search.append(search)
            row.followed, row.rounds = followed, rounds
        else:
            row.reached_edges = reached

    def _degrees(self) -> NDArray[Any]:
        assert self._graph.host is not None
        return self._graph.host.out_degrees


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; returns the exit code, 5 if distances differ from scipy's."""
    options = parser().parse_args(arguments)
    return run_benchmark("bench_traversal", lambda faults: measure(options, faults))


def measure(options: argparse.Namespace, faults: list[str]) -> None:
    """Measures, prints and records all inputs; adds the faults of results to `faults`."""
    print(" | ".join(f"{k}: {v}" for k, v in machine().items()))
    print(HEAD)
    for name in options.inputs:
        for row in compete(name, options):
            print(line(row), flush=True)
            if row.same is False:
                faults.append(f"{row.searched} on {name}, {row.where}: other distances")
            add_record(options, asdict(row), on_gpu=row.threads == 0)


def compete(name: str, options: argparse.Namespace) -> list[Row]:
    """Runs scipy and all configurations in turn on one graph."""
    graph = static_graph.with_random_weights(load(name, options.graphs), LARGEST_WEIGHT, seed=1)
    uploaded = [
        static_graph.upload(graph, device, threads, transposed=True)
        for device in options.device
        for threads in (options.threads if device == "cpu" else [None])
    ]
    sources = sources_of(name, uploaded[0], options.sources)
    peer = None if options.no_scipy else Peer(graph, sources)
    trials = []
    for on_device in uploaded:
        for searched in options.searches:
            row = Row(
                input=name,
                nodes=graph.nodes,
                edges=graph.edges,
                searched=searched,
                balance=options.balance,
                device=on_device.device.name,
                threads=on_device.device.threads,
                sources=sources,
            )
            more = {"delta": options.delta} if searched == "sssp" and options.delta else {}
            trials.append(Trial(on_device, row, more))
    for turn in range(options.repeats + 1):
        for searched in options.searches:
            if peer is not None:
                peer.run(searched, turn > 0)
            for trial in trials:
                if trial.row.searched == searched:
                    trial.run(turn > 0, None if peer is None else peer.distances[searched])
    for trial in trials:
        if peer is not None:
            trial.row.scipy = peer.times[trial.row.searched]
    return [trial.row for trial in trials]


def load(name: str, folder: Path) -> CsrGraph:
    """Loads or generates one of the inputs."""
    kind, *counts = name.split("-")
    if name != WEB and kind in (*PRESETS, "random") and all(count.isdigit() for count in counts):
        nodes, edges = (int(count) for count in counts) if counts else (NODES, EDGES)
        if kind == "random":
            return static_graph.generate_random(nodes, edges)
        return static_graph.generate_rmat(nodes, edges, preset=kind)
    return static_graph.read(folder / f"{WEB}.txt.gz" if name == WEB else name)


def sources_of(name: str, graph: DeviceGraph, count: int | None) -> list[int]:
    """Source nodes of the searches."""
    if count is not None:
        return largest_component(graph).draw(count, seed=1)
    host = graph.host
    assert host is not None
    return [host.node_of(WEB_SOURCE) if name == WEB else int(np.argmax(host.out_degrees))]


def _shortest_edges(graph: CsrGraph) -> Any:
    """Matrix of a graph with only the shortest of parallel edges, because scipy would sum their weights."""
    from scipy.sparse import csr_array

    assert graph.weights is not None
    sources = graph.sources()
    order = np.lexsort((graph.weights, graph.targets, sources))
    sources, targets, weights = sources[order], graph.targets[order], graph.weights[order]
    first = np.ones(graph.edges, bool)
    first[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    ends = sources[first], targets[first]
    return csr_array((weights[first].astype(np.float64), ends), shape=(graph.nodes, graph.nodes))


def _whole(distances: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.where(np.isfinite(distances), distances, -1).astype(np.int64)


# ---- Output ------------------------------------------------------------------------------------------------------

FORMAT = "{:26} {:5} {:20} {:>9} {:>9} {:>9} {:>6} {:>7} {:>7} {:>12} {:>6}"
HEAD = FORMAT.format(
    "input", "", "where", "search", "call", "scipy", "ratio", "GTEPS", "rounds", "followed", "checks"
)  # fmt: skip


def line(row: Row) -> str:
    """Table row of a configuration."""
    return FORMAT.format(
        row.input,
        row.searched,
        row.where,
        f"{1e3 * min(row.search):.3f}",
        f"{1e3 * min(row.call):.3f}",
        f"{1e3 * min(row.scipy):.3f}" if row.scipy else "-",
        figure(row.ratio, ".2f"),
        f"{row.gteps:.3f}",
        f"{row.rounds:.0f}",
        f"{row.followed:,.0f}",
        {None: "-", True: "same", False: "OTHER"}[row.same],
    )


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = benchmark_parser(__doc__, "configuration")
    add = found.add_argument
    add("--inputs", nargs="+", default=[WEB, "gtgraph", "graph500"], metavar="NAME", help="default: all three")
    add("--graphs", type=Path, default=Path(), metavar="FOLDER", help=f"folder of {WEB}.txt.gz (default: .)")
    add("--searches", nargs="+", choices=SEARCHES, default=list(SEARCHES), help="default: both")
    add("--balance", choices=BALANCES, default="auto")
    add("--delta", type=float, metavar="X", help="for auto: increment of the near-far threshold")
    add("--sources", type=positive, metavar="N", help="random nodes in the largest component (default: one, see above)")
    add("--device", nargs="+", default=["cpu"], metavar="NAME", help="cpu, cuda, cuda:1, ... (default: cpu)")
    add("--threads", nargs="+", type=int, default=[1, None], metavar="N",
        help="CPU threads (default: 1, and all cores)")  # fmt: skip
    add("--repeats", type=positive, default=5, metavar="N", help="timed turns (default: 5)")
    add("--no-scipy", action="store_true", help="compare neither times nor distances")
    return found


if __name__ == "__main__":
    sys.exit(main())
