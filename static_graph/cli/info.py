"""The `info` command."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dmr.common.command_line.console import Console, aligned
from dmr.common.command_line.parser import Arguments
from dmr.common.text import counted
from static_graph.cli.inputs import read_graph
from static_graph.cli.outputs import checked_target
from static_graph.graph.csr import CsrGraph
from static_graph.graph.degree_plots import check_picture_target, plot_degrees
from static_graph.graph.degrees import (
    BUCKETS,
    automatic_mda,
    degree_distribution,
    degree_histogram,
    degree_statistics,
    in_degrees,
    isolated_nodes,
    split_distribution,
)

BAR_WIDTH = 40


def run(arguments: Arguments, console: Console) -> int:
    """Reads a graph and prints its statistics."""
    if arguments.plot is not None:
        checked_target(arguments.plot, arguments.force, check_picture_target)
    graph = read_graph(arguments)
    found = describe(graph, arguments.mda)
    if arguments.plot is not None:
        mda = found["split"]["mda"] if "split" in found else None
        title = Path(arguments.graph).name
        plot_degrees(graph, arguments.plot, mda=mda, title=title, overwrite=arguments.force)
        console.note(f"wrote {arguments.plot}")
    if arguments.json:
        console.emit_json({"file": str(arguments.graph), **found})
        return 0
    console.emit(str(arguments.graph), "1")
    for line in aligned(_counts(found), left=(0, 1)):
        console.emit(line)
    if graph.edges:  # without edges, all degrees are 0
        console.emit()
        for line in aligned(_statistics(found)):
            console.emit(line)
        console.emit()
        console.emit("  nodes by out-degree (bars: logarithmic)", "1")
        for line in _histogram(found):
            console.emit(line)
    return 0


def describe(graph: CsrGraph, mda: int | str | None = None) -> dict[str, Any]:
    """Collects what `info` reports about a graph; `--json` prints this dictionary."""
    loops = int(np.count_nonzero(graph.sources() == graph.targets))
    found: dict[str, Any] = {
        "nodes": graph.nodes,
        "edges": graph.edges,
        "labels": graph.labels is not None,
        "weights": _weights(graph),
        "isolated": isolated_nodes(graph),
        "self_loops": loops,
        "out_degree": _degrees(graph, graph.out_degrees),
        "in_degree": _degrees(graph, in_degrees(graph)),
        "histogram": degree_histogram(graph.out_degrees).tolist(),
        "automatic_mda": automatic_mda(graph),
    }
    if mda is not None:
        level = found["automatic_mda"] if mda == "auto" else int(mda)
        after = split_distribution(degree_distribution(graph.out_degrees), level)
        found["split"] = {"mda": level, "nodes": int(after.sum()), "extra_nodes": int(after.sum()) - graph.nodes}
    return found


def _degrees(graph: CsrGraph, degrees: Any) -> dict[str, Any]:
    """Statistics of degrees; the node of the largest degree is given by its label."""
    found = asdict(degree_statistics(degrees))
    if not graph.nodes:
        found["largest"] = None
    elif graph.labels is not None:
        label = graph.labels[found["largest"]]
        found["largest"] = label.item() if isinstance(label, np.generic) else str(label)
    return found


def _weights(graph: CsrGraph) -> dict[str, Any] | None:
    if graph.weights is None:
        return None
    low, high = (graph.weights.min().item(), graph.weights.max().item()) if graph.edges else (None, None)
    return {"dtype": graph.weights.dtype.name, "minimum": low, "maximum": high}


def _counts(found: dict[str, Any]) -> list[list[str]]:
    weights = found["weights"]
    between = f", {weights['minimum']} to {weights['maximum']}" if weights and found["edges"] else ""
    rows = [
        ["nodes", f"{found['nodes']:,}" + (" (their ids have gaps)" if found["labels"] else "")],
        ["edges", f"{found['edges']:,}"],
        ["weights", "none" if weights is None else weights["dtype"] + between],
        ["self loops", f"{found['self_loops']:,}"],
        ["isolated nodes", f"{found['isolated']:,}"],
        ["automatic MDA", f"{found['automatic_mda']:,}"],
    ]
    if "split" in found:
        split = found["split"]
        rows.append(
            [
                f"split at MDA {split['mda']:,}",
                f"{counted(split['nodes'], 'node')}, {split['extra_nodes']:,} of them extra",
            ]
        )
    return rows


def _statistics(found: dict[str, Any]) -> list[list[str]]:
    rows = [["", "smallest", "mean", "largest", "of node", "variance", "nodes with 0"]]
    for name, key in (("out-degree", "out_degree"), ("in-degree", "in_degree")):
        d = found[key]
        middle = [f"{d['mean']:.4g}", f"{d['maximum']:,}", str(d["largest"]), f"{d['variance']:.4g}"]
        rows.append([name, f"{d['minimum']:,}", *middle, f"{d['zero']:,}"])
    return rows


def _histogram(found: dict[str, Any]) -> list[str]:
    """Lines of the histogram with ten buckets (thesis, section 4.2.1); bar lengths are logarithms of the counts."""
    width = max(found["out_degree"]["maximum"], 1) / BUCKETS
    counts = found["histogram"]
    longest = np.log1p(max(*counts, 1))
    rows = [
        [f"up to {(k + 1) * width:,.6g}", f"{count:,}", "#" * round(BAR_WIDTH * float(np.log1p(count) / longest))]
        for k, count in enumerate(counts)
    ]
    return aligned(rows, left=(0, 2))
