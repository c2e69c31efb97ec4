"""Times an iteration of `static_graph.pagerank` on the standard graphs, by method, balance and precision.

    python -m scripts.bench.pagerank --graphs FOLDER --threads 1 2               # FOLDER has web-Stanford.txt.gz
    python -m scripts.bench.pagerank --inputs gtgraph graph500-16000000-256000000 --device cuda --json results.jsonl

Inputs are web-Stanford, R-MAT graphs by the name of their parameters ("gtgraph", "graph500", "thesis": 1,000,000 nodes
and 8,000,000 edges, or as NAME-NODES-EDGES specifies), and files. The graph is on its device beforehand, with the data
that a first computation leaves there. The table has the least time of an iteration over several computations, in
milliseconds; all scores are compared with those of the first configuration, and the exit code is 5 if a bit differs.

--peer times scipy's product of the transposed graph, as a CSR matrix of float32 ones, with a vector, in turn with the
computations. On one thread, it reads what a plain float32 iteration of PageRank reads, and 4 bytes more per edge.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import static_graph
from scripts.lib.measuring import append_record, benchmark_parser, circumstances
from static_graph import CsrGraph

NODES, EDGES = 1_000_000, 8_000_000
WEB = "web-Stanford"


def load(name: str, folder: Path | None, device: str) -> CsrGraph:
    """Reads or generates a graph."""
    if name == WEB:
        if folder is None:
            raise SystemExit(f"{WEB} needs --graphs FOLDER")
        return static_graph.read(folder / f"{WEB}.txt.gz")
    preset, *sizes = name.split("-")
    if preset in ("gtgraph", "graph500", "thesis"):
        nodes, edges = map(int, sizes) if sizes else (NODES, EDGES)
        return static_graph.generate_rmat(nodes, edges, preset=preset, device=device)
    return static_graph.read(name)


class Peer:
    """scipy's one-thread product of the transposed graph with a vector, float32."""

    def __init__(self, graph: CsrGraph) -> None:
        from scipy.sparse import csr_array

        ones = np.ones(graph.edges, np.float32)
        nodes = graph.nodes
        self.matrix = csr_array((ones, graph.targets, graph.offsets), shape=(nodes, nodes)).T.tocsr()
        self.vector = np.full(nodes, 1 / max(nodes, 1), np.float32)

    def seconds(self) -> float:
        """Times one product."""
        begun = time.perf_counter()
        self.matrix @ self.vector
        return time.perf_counter() - begun


def measured(arguments: argparse.Namespace, name: str) -> Iterator[dict[str, Any]]:
    """Yields a record per configuration of one graph."""
    graph = load(name, arguments.graphs, arguments.device)
    expected: dict[str, Any] = {}
    peer = Peer(graph) if arguments.peer else None
    for threads in arguments.threads:
        on_device = static_graph.upload(graph, arguments.device, threads)
        for method, precision in product(arguments.methods, arguments.precisions):
            method, _, balance = method.partition("/")
            options = {"method": method, "balance": balance or "auto", "precision": precision}
            found, of_peer = [], []
            for _ in range(arguments.repeats + 1):
                found.append(static_graph.pagerank(on_device, iterations=arguments.iterations, **options))
                of_peer += [peer.seconds() for _ in range(arguments.iterations)] if peer else []
            scores = expected.setdefault(precision, found[0].scores)
            seconds = [each.seconds["iterations"] / arguments.iterations for each in found[1:]]
            yield {
                "input": name,
                "nodes": graph.nodes,
                "edges": graph.edges,
                **options,
                "device": found[0].device,
                "threads": found[0].threads,
                "seconds": seconds,
                "peer": min(of_peer, default=None),
                "first_prepare": found[0].seconds["prepare"],
                "prepare": min(each.seconds["prepare"] for each in found[1:]),
                "same": bool(np.array_equal(scores, found[-1].scores)),
            }


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the benchmark."""
    parser = benchmark_parser(__doc__, "configuration")
    add = parser.add_argument
    add("--inputs", nargs="+", default=[WEB, "gtgraph", "graph500"], metavar="NAME")
    add("--graphs", type=Path, metavar="FOLDER", help="where web-Stanford.txt.gz is")
    add("--methods", nargs="+", default=["pull"], metavar="METHOD[/BALANCE]")
    add("--precisions", nargs="+", default=["fixed", "float32"])
    add("--device", default="cpu")
    add("--threads", nargs="+", type=int, default=[None], metavar="N")
    add("--iterations", type=int, default=20)
    add("--repeats", type=int, default=5)
    add("--peer", action="store_true", help="also time scipy's product, in turn")
    arguments = parser.parse_args(argv)
    about = circumstances(arguments.device != "cpu", arguments.commit)
    same = True
    for name in arguments.inputs:
        for record in measured(arguments, name):
            same &= record["same"]
            where = f"{record['device']} {record['threads'] or ''}".strip()
            over = "" if record["peer"] is None else f", {min(record['seconds']) / record['peer']:.2f} of the peer"
            method = record["method"] + (f"/{record['balance']}" if record["balance"] != "auto" else "")
            print(
                f"{name:24} {method:24} {record['precision']:8} {where:8} {1e3 * min(record['seconds']):9.4f} ms, "
                f"first prepare {record['first_prepare']:.3f} s, later {record['prepare']:.4f} s"
                f"{over}"
                f"{'' if record['same'] else '  OTHER BITS'}",
                flush=True,
            )
            if arguments.json is not None:
                append_record(arguments.json, {**about, **record})
    return 0 if same else 5


if __name__ == "__main__":
    sys.exit(main())
