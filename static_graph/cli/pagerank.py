"""The `pagerank` command."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dmr.common.command_line.console import Console
from dmr.common.command_line.parser import Arguments
from dmr.common.errors import DONE, STOPPED
from static_graph.cli.error_context import error_context
from static_graph.cli.inputs import read_graph
from static_graph.cli.outputs import check_output, place, show
from static_graph.graph.csr import CsrGraph
from static_graph.io import write_columns
from static_graph.link_analysis.ranking import pagerank
from static_graph.link_analysis.results import PageRank

OPTIONS = ("alpha", "tol", "max_iter", "iterations", "weighted", "method", "balance", "rule", "precision")


def run(arguments: Arguments, console: Console) -> int:
    """Reads a graph, ranks its nodes, and writes the results; the exit code says whether the iterations converged."""
    check_output(arguments)
    graph = read_graph(arguments)
    with error_context(arguments.graph):
        found = pagerank(
            graph,
            device=arguments.device,
            threads=arguments.threads,
            **{name: getattr(arguments, name) for name in OPTIONS},
        )
    if arguments.output is not None:
        nodes = np.arange(graph.nodes, dtype=np.int32) if graph.labels is None else graph.labels
        write_columns(arguments.output, {"node": nodes, "score": found.scores}, "score", overwrite=arguments.force)
        console.note(f"wrote {arguments.output}")
    summary = _summary(arguments, graph, found)
    show(console, str(arguments.graph), summary, _lines(summary), as_json=arguments.json)
    return DONE if found.converged or arguments.iterations is not None else STOPPED


def _summary(arguments: Arguments, graph: CsrGraph, found: PageRank) -> dict[str, Any]:
    """Returns the dictionary that --json prints."""
    top = found.top(arguments.top)
    return {
        "file": str(arguments.graph),
        "nodes": graph.nodes,
        "edges": graph.edges,
        "iterations": found.iterations,
        "error": found.error if math.isfinite(found.error) else None,
        "converged": found.converged,
        "method": found.method,
        "balance": found.balance,
        "rule": found.rule,
        "precision": found.precision,
        "device": found.device,
        "threads": found.threads,
        "seconds": found.seconds,
        "top": [
            {"node": node, "score": score}
            for node, score in zip(
                (top if graph.labels is None else graph.labels[top]).tolist(), found.scores[top].tolist(), strict=True
            )
        ],
    }


def _lines(summary: dict[str, Any]) -> list[list[str]]:
    """Returns the same as rows of text."""
    error = summary["error"]
    return [
        ["iterations", f"{summary['iterations']:,}"],
        ["last change", "-" if error is None else f"{error:.3g}"],
        ["converged", "yes" if summary["converged"] else "no"],
        ["method", summary["method"]],
        ["device", place(summary)],
        ["seconds", f"{summary['seconds'].get('iterations', 0):.3g}"],
        *([f"node {entry['node']}", f"{entry['score']:.9f}"] for entry in summary["top"]),
    ]
