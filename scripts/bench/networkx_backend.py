"""Times functions of networkx, by networkx and by the backend of static_graph.

    python -m scripts.bench.networkx_backend                                # 125 to 8,000 nodes: two minutes
    python -m scripts.bench.networkx_backend --nodes 100000 --functions pagerank bfs_edges

The backend runs on the device that it chooses: a GPU if one works, otherwise all cores.

Random graphs with four edges per node, weights from 1 to 100; the best of several calls, in milliseconds:

    networkx     networkx's own function
    first        the backend with a graph that it has not seen: conversion, upload and the call
    later        the backend with a graph that is already converted

The last table has, for each function, the numbers of nodes and edges from which the backend is faster.
`SMALLEST` of static_graph/networkx_backend/dispatching.py, below which networkx keeps a call, is the median of the
column `later`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import networkx

from scripts.lib.machines import machine
from static_graph import networkx_backend
from static_graph.networkx_backend.info import FUNCTIONS

NODES = (125, 250, 500, 1000, 2000, 4000, 8000)
SECONDS = 0.3  # of repetitions
UNDIRECTED = ("connected_components", "is_connected", "node_connected_component", "number_connected_components")
OF_THE_GRAPH = ("condensation", "pagerank", *(name for name, home in FUNCTIONS.items() if home == "components"))
ARGUMENTS = {
    **dict.fromkeys(OF_THE_GRAPH, ()),
    "descendants_at_distance": (0, 2),
    "has_path": (0, 1),
    "multi_source_dijkstra_path_length": ([0, 1],),
    "node_connected_component": (0,),
}


def random_graph(nodes: int, *, directed: bool) -> networkx.Graph:
    """Returns a graph with weights."""
    graph = networkx.gnm_random_graph(nodes, 4 * nodes, seed=nodes, directed=directed)
    for number, (_, _, data) in enumerate(graph.edges(data=True)):
        data["weight"] = 1 + number * 7919 % 100
    return graph


def best(call: Callable[[], Any]) -> float:
    """Returns the seconds of the fastest of several calls."""
    fastest, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        begin = time.perf_counter()
        found = call()
        if hasattr(found, "__next__"):
            for _ in found:
                pass
        fastest = min(fastest, time.perf_counter() - begin)
    return fastest


def measure(function: str, graph: networkx.Graph) -> tuple[float, float, float]:
    """Returns the seconds of networkx, of a first call of the backend, and of a later one."""
    rest: tuple[Any, ...] = ARGUMENTS.get(function, (0,))
    own, theirs = getattr(networkx_backend, function), getattr(networkx, function)
    converted = networkx_backend.convert_from_nx(graph)
    own(converted, *rest)
    return (
        best(lambda: theirs(graph, *rest)),
        best(lambda: own(networkx_backend.convert_from_nx(graph), *rest)),
        best(lambda: own(converted, *rest)),
    )


def main(options: Sequence[str] | None = None) -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=NODES)
    known = [name for name in FUNCTIONS if not name.startswith("all_pairs")]  # which are searches from each node
    parser.add_argument("--functions", nargs="+", choices=known, default=known, metavar="NAME")
    chosen = parser.parse_args(options)
    print(*machine().values(), f"networkx {networkx.__version__}")
    faster: dict[str, list[int | None]] = {}
    for function in chosen.functions:
        crossings: list[int | None] = [None, None]
        for nodes in sorted(chosen.nodes):
            graph = random_graph(nodes, directed=function not in UNDIRECTED)
            theirs, *ours = measure(function, graph)
            size = nodes + graph.number_of_edges()
            times = "".join(f"{1000 * each:11.3f}" for each in (theirs, *ours))
            print(f"{function:36} {size:9,}{times}", flush=True)
            crossings = [(old or size) if each < theirs else None for old, each in zip(crossings, ours, strict=True)]
        faster[function] = crossings
    print(f"\n{'faster from nodes and edges on':36} {'first':>9} {'later':>9}")
    for function, crossings in faster.items():
        print(f"{function:36} " + " ".join(f"{'-' if each is None else format(each, ','):>9}" for each in crossings))
    later = [each for _, each in faster.values() if each is not None]
    if later:
        print(f"{'median':36} {'':9} {statistics.median(later):9,}")


if __name__ == "__main__":
    main()
