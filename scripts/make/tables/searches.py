"""Table of the page on the performance of graph searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scripts.lib.markdown import table
from scripts.make.tables.records import Record, bench, middle, significant

CORES, H200 = "2026-11-22-2-cores-traversal", "2026-11-22-h200-traversal"
GRAPHS = {"web-Stanford": "web-Stanford", "gtgraph": "R-MAT, GTgraph", "graph500": "R-MAT, Graph500"}
PEERS = {"bfs": "breadth_first_order", "sssp": "dijkstra"}  # of scipy
# Milliseconds on an H200 that were required, and aimed at, by search and graph.
TARGETS = {
    "bfs": {"web-Stanford": (1.7, 1.0), "gtgraph": (0.8, 0.25), "graph500": (0.8, 0.25)},
    "sssp": {"web-Stanford": (4.0, 2.0), "gtgraph": (4.0, 1.5), "graph500": (4.0, 1.5)},
}


def searches() -> str:
    """Best times of searches on two cores and on a GPU, relative to scipy and to the targets."""
    cores, gpu = _found(CORES, 2), _found(H200, 0)
    body = []
    for search, peer in PEERS.items():
        name = search.upper()
        rows = [(cores[search, graph], gpu[search, graph], TARGETS[search][graph]) for graph in GRAPHS]
        body += [
            [f"{name}, 2 cores (AMD EPYC)", *(_best(row) for row, _, _ in rows)],
            [f"... relative to scipy's `{peer}` in the same run", *(_relative(row) for row, _, _ in rows)],
            [f"{name}, H200: required, aim", *(f"{must:g}, {aim:g}" for _, _, (must, aim) in rows)],
            [f"{name}, H200: best, median", *(f"{_best(row)}, {_median(row)}" for _, row, _ in rows)],
        ]
    return table(("milliseconds", *GRAPHS.values()), body, right=True)


def _found(name: str, threads: int) -> dict[tuple[str, str], Record]:
    """Records by search and graph."""
    return {(row["searched"], row["input"]): row for row in bench(name) if row["threads"] == threads}


def _best(row: Record) -> str:
    return significant(1000 * min(row["search"]), 3)


def _median(row: Record) -> str:
    return significant(1000 * middle(row["search"]), 3)


def _relative(row: Record) -> str:
    return f"{min(row['search']) / min(row['scipy']):.2f}"


TABLES: Mapping[str, Callable[[], str]] = {"graph-searches": searches}
