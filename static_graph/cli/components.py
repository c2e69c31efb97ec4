"""The `components` command."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.command_line.console import Console
from dmr.common.command_line.parser import Arguments
from static_graph.cli.error_context import error_context
from static_graph.cli.inputs import read_graph
from static_graph.cli.outputs import check_output, place, show
from static_graph.components.connecting import connected_components
from static_graph.components.results import Components
from static_graph.graph.csr import CsrGraph
from static_graph.io import write_columns

OPTIONS = ("connection", "method", "balance", "trim", "search", "cutoff", "device", "threads")


def run(arguments: Arguments, console: Console) -> int:
    """Reads a graph, finds its components, and writes the results."""
    check_output(arguments)
    graph = read_graph(arguments)
    with error_context(arguments.graph):
        found = connected_components(graph, **{name: getattr(arguments, name) for name in OPTIONS})
    if arguments.output is not None:
        nodes = np.arange(graph.nodes, dtype=np.int32)
        columns = {"node": _names(graph, nodes), "component": _names(graph, found.labels)}
        write_columns(arguments.output, columns, "component", overwrite=arguments.force)
        console.note(f"wrote {arguments.output}")
    summary = _summary(arguments, graph, found)
    show(console, str(arguments.graph), summary, _lines(summary), as_json=arguments.json)
    return 0


def _names(graph: CsrGraph, nodes: NDArray[np.int32]) -> NDArray[Any]:
    """Returns the labels of nodes in the file."""
    return nodes if graph.labels is None else graph.labels[nodes]


def _summary(arguments: Arguments, graph: CsrGraph, found: Components) -> dict[str, Any]:
    """Returns the dictionary that --json prints."""
    order = np.argsort(-found.sizes(), kind="stable")[: arguments.top]
    labels = _names(graph, found.component_labels[order])
    return {
        "file": str(arguments.graph),
        "nodes": graph.nodes,
        "edges": graph.edges,
        "connection": found.connection,
        "components": found.count,
        "method": found.method,
        "device": found.device,
        "threads": found.threads,
        "rounds": found.rounds,
        "seconds": found.seconds,
        "figures": found.figures,
        "largest": [
            {"component": label, "size": size}
            for label, size in zip(labels.tolist(), found.sizes()[order].tolist(), strict=True)
        ],
    }


def _lines(summary: dict[str, Any]) -> list[list[str]]:
    """Returns the same as rows of text."""
    steps = {name: time for name, time in summary["seconds"].items() if name not in ("upload", "prepare", "download")}
    return [
        ["connection", summary["connection"]],
        ["components", f"{summary['components']:,}"],
        ["method", summary["method"]],
        ["device", place(summary)],
        ["seconds", f"{sum(steps.values()):.3g}"],
        *([f"component {each['component']}", f"{each['size']:,}"] for each in summary["largest"]),
    ]
