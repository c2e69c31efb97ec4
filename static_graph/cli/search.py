"""The `bfs` and `sssp` commands."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.command_line.console import Console
from dmr.common.command_line.parser import Arguments
from dmr.common.command_line.values import count
from static_graph.cli.inputs import read_graph
from static_graph.cli.outputs import check_output, place, show
from static_graph.errors import FileError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.generation import with_random_weights
from static_graph.io import write_columns
from static_graph.traversal.results import Traversal
from static_graph.traversal.schemes.table import OPTIONS as SCHEME_OPTIONS
from static_graph.traversal.search import bfs, sssp

# Options with the same name on the command line and in the functions.
OPTIONS = (*SCHEME_OPTIONS, "depth_limit", "distance_limit")
LONGEST_PATH = 20  # nodes of a path that are shown at most


def run(arguments: Arguments, console: Console) -> int:
    """Reads a graph, searches it, and writes the results."""
    check_output(arguments)
    search: Callable[..., Traversal] = sssp if hasattr(arguments, "distance_limit") else bfs
    graph = read_graph(arguments)
    if getattr(arguments, "random_weights", None) is not None:
        graph = with_random_weights(graph, arguments.random_weights, seed=arguments.seed, threads=arguments.threads)
    if search is sssp and graph.weights is None:
        raise FileError("has no weights: --random-weights W draws some, and bfs counts edges", arguments.graph)
    sources = [_node(graph, text) for text in arguments.source]
    end = None if arguments.path_to is None else _node(graph, arguments.path_to)
    found = search(
        graph,
        sources,
        balance=arguments.balance,
        parents=arguments.parents or end is not None,
        **({"order": arguments.order} if search is bfs else {}),
        device=arguments.device,
        threads=arguments.threads,
        **{name: getattr(arguments, name) for name in OPTIONS if hasattr(arguments, name)},
    )
    path = None if end is None else found.path_to(end)
    if arguments.output is not None:
        write_columns(arguments.output, _columns(graph, found), "distance", overwrite=arguments.force)
        console.note(f"wrote {arguments.output}")
    summary = _summary(arguments, graph, found)
    if end is not None:
        summary["path"] = None if path is None else _names(graph, path).tolist()
    show(console, str(arguments.graph), summary, _lines(summary), as_json=arguments.json)
    return 0


def _node(graph: CsrGraph, text: str) -> int:
    """Returns the number of the node with a label of the file."""
    if graph.labels is not None and graph.labels.dtype.kind != "i":
        return graph.node_of(text)
    try:
        label: int | str = int(text)
    except ValueError:
        label = _whole(text)
    return graph.node_of(label)


def _whole(text: str) -> int | str:
    """Parses a number such as 1e6; returns other text unchanged."""
    try:
        return count(text)
    except ArgumentTypeError:
        return text


def _names(graph: CsrGraph, nodes: NDArray[np.int32]) -> NDArray[Any]:
    """Returns the labels of nodes in the file."""
    return nodes if graph.labels is None else graph.labels[nodes]


def _columns(graph: CsrGraph, found: Traversal) -> dict[str, NDArray[Any]]:
    """Returns the results as columns with one entry per node."""
    columns: dict[str, NDArray[Any]] = {"node": _names(graph, np.arange(graph.nodes, dtype=np.int32))}
    columns["distance"] = found.distances
    if found.parents is not None:
        columns["parent"] = found.parents if graph.labels is None else _named(graph.labels, found.parents)
    if found.order is not None:
        columns["rank"] = np.full(graph.nodes, -1, np.int32)
        columns["rank"][found.order] = np.arange(len(found.order), dtype=np.int32)
    return columns


def _named(labels: NDArray[Any], parents: NDArray[np.int32]) -> NDArray[Any]:
    """Returns the labels of parents; for no parent, -1, or an empty string if labels are strings."""
    none = -1 if labels.dtype.kind in "iu" else ""
    return np.where(parents >= 0, labels[parents], np.array(none, labels.dtype))


def _summary(arguments: Arguments, graph: CsrGraph, found: Traversal) -> dict[str, Any]:
    """Returns the dictionary that --json prints."""
    reached = found.reached()
    followed = int(graph.out_degrees[reached].sum())
    seconds = found.seconds["rounds"]
    return {
        "file": str(arguments.graph),
        "nodes": graph.nodes,
        "edges": graph.edges,
        "source": _names(graph, np.array(found.sources, np.int32)).tolist(),
        "balance": found.balance,
        "device": found.device,
        "threads": found.threads,
        "reached": int(np.count_nonzero(reached)),
        "reached_edges": followed,
        "largest_distance": found.distances[reached].max().item() if reached.any() else None,
        "rounds": found.rounds,
        "edges_followed": found.edges_followed,
        "launches": found.launches,
        "seconds": found.seconds,
        "gteps": followed / seconds / 1e9 if seconds else None,
        "figures": found.figures,
    }


def _lines(summary: dict[str, Any]) -> list[list[str]]:
    """Returns the same as rows of text."""
    largest, gteps = summary["largest_distance"], summary["gteps"]
    rows = [
        ["nodes reached", f"{summary['reached']:,} of {summary['nodes']:,}"],
        ["their edges", f"{summary['reached_edges']:,} of {summary['edges']:,}"],
        ["largest distance", "-" if largest is None else f"{largest:,}"],
        ["balance", summary["balance"]],
        ["rounds", f"{summary['rounds']:,}"],
        ["edges followed", f"{summary['edges_followed']:,}"],
        ["device", place(summary)],
        ["seconds", f"{summary['seconds']['rounds']:.3g}"],
        ["GTEPS", "-" if gteps is None else f"{gteps:.3g}"],
        *([name.replace("_", " "), f"{value:,}"] for name, value in summary["figures"].items()),
    ]
    if "path" in summary:
        rows.append(["path", "none" if summary["path"] is None else _short(summary["path"])])
    return rows


def _short(path: list[Any]) -> str:
    """Formats a path on one line; a long path is shown by its two ends."""
    if len(path) <= LONGEST_PATH:
        return " ".join(map(str, path))
    half = LONGEST_PATH // 2
    return f"{' '.join(map(str, path[:half]))} ... {' '.join(map(str, path[-half:]))} ({len(path)} nodes)"
