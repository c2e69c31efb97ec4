"""Study of PageRank: the tables of the PageRank report on a current machine, and what the report does not measure.

    python -m scripts.study.pagerank --graphs FOLDER                         # FOLDER has p2p-Gnutella04.txt.gz, ...
    python -m scripts.study.pagerank --graphs FOLDER --device cuda --largest 24
    python -m scripts.study.pagerank --redraw study/pagerank-h200.json       # the page again, no run

PARTS: runs (tables 3.1 and 3.2: 10 iterations with d = 0.85, by the dense matrix of float32 as in the report and by
sparse rows, on one thread, on all of them and on the GPU; the seconds of a phase end when the device has finished it,
and copies are apart), rules (the report's rule beside that of Brin and Page: the first five nodes, and the distance),
tolerances (iterations by tolerance), sizes (pull, push and propagation blocking by size, on R-MAT graphs of 8 edges per
node).

FOLDER gets NAME.json after each part, and at the end NAME.csv and NAME.md, which is also printed. Exit code 5: two
sparse methods, or two devices, gave different bits.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from dmr.memory import Device, OptionError, OutOfMemoryError, available_threads, open_device
from scripts.study.common import Record, Study, add_common, add_parts
from scripts.study.files import say
from scripts.study.pagerank import report
from static_graph import CsrGraph, PageRank, generate_rmat, pagerank, read, upload

DATASETS = ("p2p-Gnutella08", "p2p-Gnutella04", "p2p-Gnutella30", "p2p-Gnutella31")
ITERATIONS = 10  # of the report
METHODS = ("dense", "dense-atomic", "dense-sub-scores", "pull", "push", "blocked", "sequential")
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
SMALLEST, EDGES_PER_NODE = 14, 8
STUDY = Study("pagerank", "pagerank 1", "parts", report.to_markdown, report.to_csv, lambda record: {})


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs or draws the study; returns the exit code, 5 if bits differ."""
    return STUDY.main(parser(), arguments, run, report.agree)


def run(options: argparse.Namespace, arguments: Sequence[str]) -> Record:
    """Measures the chosen parts. Writes the record after each part, and the derived files at the end."""
    device = open_device(options.device, options.threads)
    record = STUDY.begin(device, options, arguments, {})
    needs_graphs = set(options.parts) - {"sizes"}
    if needs_graphs and options.graphs is None:
        raise OptionError("--graphs FOLDER is missing: the folder of p2p-Gnutella04.txt.gz, ...")
    graphs = {name: read(options.graphs / f"{name}.txt.gz") for name in DATASETS} if needs_graphs else {}
    for part in dict.fromkeys(options.parts):
        rows = record["parts"].setdefault(part, [])
        for row in PARTS[part](graphs, device, options):
            rows.append(row)
            say(f"{part}: {row}")
        STUDY.keep(record, options.output)
    STUDY.draw(record, options.output)
    return record


Graphs = dict[str, CsrGraph]


def digest(found: PageRank) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the scores."""
    return hashlib.sha256(found.scores.tobytes()).hexdigest()[:16]


def ten_iterations(graph: CsrGraph, method: str, place: str, threads: int | None) -> PageRank:
    """Computes as the report does; a matrix is of float32."""
    precision = "float32" if method.startswith("dense") else "fixed"
    return pagerank(graph, iterations=ITERATIONS, method=method, precision=precision, device=place, threads=threads)


def runs(graphs: Graphs, device: Device, options: argparse.Namespace) -> Iterator[Record]:
    """Times every method on every graph and device, from a graph on the host to scores on the host."""
    places: list[tuple[str, int | None]] = [("cpu", 1), ("cpu", available_threads())]
    if device.threads == 0:
        places.append((device.name, None))
    for (name, graph), (place, threads), method in product(graphs.items(), dict.fromkeys(places), METHODS):
        if method == "sequential" and threads != 1:
            continue
        row = {
            "graph": name, "nodes": graph.nodes, "edges": graph.edges, "device": place, "threads": threads or 0,
            "method": method,
        }  # fmt: skip

        if method.startswith("dense") and place == "cpu" and graph.nodes > options.largest_dense:
            yield {**row, "left_out": f"more than {options.largest_dense:,} nodes"}
            continue
        try:
            found = [ten_iterations(graph, method, place, threads) for _ in range(1 + options.repeats)]
        except OutOfMemoryError as error:
            yield {**row, "left_out": str(error)}
            continue
        phases = {name: [each.seconds[name] for each in found[1:]] for name in found[0].seconds}
        sparse = not method.startswith("dense")
        yield {**row, "seconds": phases, "digest": digest(found[-1]), "sparse": sparse}


def rules(graphs: Graphs, device: Device, options: argparse.Namespace) -> Iterator[Record]:
    """Compares the report's rule, after its 10 iterations, with PageRank."""
    for name, graph in graphs.items():
        there = upload(graph, device.name, device.threads or None)
        brin_page = pagerank(there, tol=1e-12, max_iter=1000)
        for iterations in (ITERATIONS, 1000):
            theirs = pagerank(there, rule="report", iterations=iterations)
            labels = np.arange(graph.nodes) if graph.labels is None else graph.labels
            yield {
                "graph": name, "iterations": iterations, "change": theirs.error,
                "distance": float(np.abs(theirs.scores - brin_page.scores).sum()),
                "top_report": labels[theirs.top(5)].tolist(), "top_brin_page": labels[brin_page.top(5)].tolist(),
            }  # fmt: skip


def tolerances(graphs: Graphs, device: Device, options: argparse.Namespace) -> Iterator[Record]:
    """Counts iterations by tolerance."""
    for name, graph in graphs.items():
        there = upload(graph, device.name, device.threads or None)
        counts = [pagerank(there, tol=tol, max_iter=2000).iterations for tol in TOLERANCES]
        yield {"graph": name, "iterations": dict(zip(map(str, TOLERANCES), counts, strict=True))}


def sizes(graphs: Graphs, device: Device, options: argparse.Namespace) -> Iterator[Record]:
    """Times an iteration of the sparse methods by size."""
    for log_nodes, preset in product(range(SMALLEST, options.largest + 1, 2), ("gtgraph", "graph500")):
        graph = generate_rmat(2**log_nodes, EDGES_PER_NODE * 2**log_nodes, preset=preset, device=device.name)
        there = upload(graph, device.name, device.threads or None)
        for method, precision in product(("pull", "push", "blocked"), ("fixed", "float32")):
            found = [pagerank(there, iterations=ITERATIONS, method=method, precision=precision) for _ in range(4)]
            yield {
                "preset": preset, "nodes": graph.nodes, "edges": graph.edges, "method": method, "precision": precision,
                "seconds": [each.seconds["iterations"] / ITERATIONS for each in found[1:]],
                "digest": digest(found[-1]),
            }  # fmt: skip


PARTS: dict[str, Callable[[Graphs, Device, argparse.Namespace], Iterator[Record]]] = {
    "runs": runs,
    "rules": rules,
    "tolerances": tolerances,
    "sizes": sizes,
}


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("--graphs", type=Path, metavar="FOLDER", help="where the graphs of the report are")
    add("--largest", type=int, default=20, metavar="K", help="sizes: up to 2^K nodes (default: 20)")
    add("--largest-dense", type=int, default=11_000, metavar="N",
        help="runs: the most nodes of a matrix on a CPU (default: 11000)")  # fmt: skip
    add_common(found, "pagerank-DEVICE")
    add_parts(found, PARTS)
    return found


if __name__ == "__main__":
    sys.exit(main())
