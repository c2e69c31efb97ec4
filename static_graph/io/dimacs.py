"""DIMACS graphs of the 9th implementation challenge (shortest paths): `p sp n m`, then `a source target weight`."""

from __future__ import annotations

import re
from typing import BinaryIO

import numpy as np

from dmr.common.text import counted
from static_graph.graph.checks import MOST
from static_graph.graph.csr import CsrGraph
from static_graph.io.inputs import Input
from static_graph.io.text import Grammar, Lines, TextFile

_PROBLEM = re.compile(r"p\s+sp\s+(\d{1,18})\s+(\d{1,18})")


def read_dimacs(source: Input, threads: int | None = None) -> CsrGraph:
    """Reads the graph of a `.gr` file; its nodes 1 to n become 0 to n - 1.

    Raises:
        FileError: a line is wrong (the error names the first one), or the number of arcs differs from the header's.
    """
    text = TextFile(source, threads)
    number = 0
    for number, line, after in text.head():
        if not line or line.startswith("c"):
            continue
        found = _PROBLEM.fullmatch(line)
        if not found:
            raise text.fail("should be the problem line: p sp <nodes> <arcs>", number)
        nodes, arcs = int(found[1]), int(found[2])
        if nodes > MOST:
            raise text.fail(f"promises {nodes} nodes, more than the {MOST} that a graph can have", number)
        grammar = Grammar(comments="c", prefix="a", low=1, high=nodes, row="a <source> <target> <weight>")
        edges = text.edges(grammar, weighted=True, begin=after, line=number)
        if len(edges.sources) != arcs:
            raise text.fail(f"promises {counted(arcs, 'arc')}, but the file holds {len(edges.sources)}", number)
        return CsrGraph.from_edges(edges.sources, edges.targets, edges.weights, nodes, threads=threads)
    raise text.fail("has no problem line: p sp <nodes> <arcs>", max(number, 1))


def write_dimacs(file: BinaryIO, graph: CsrGraph) -> None:
    """Writes the graph; edges without weights get 1, and labels are left out."""
    weights = np.ones(graph.edges, np.int32) if graph.weights is None else graph.weights
    file.write(f"p sp {graph.nodes} {graph.edges}\n".encode())
    for lines in Lines(graph.sources(), graph.targets, weights, base=1, prefix="a"):
        file.write(lines)
