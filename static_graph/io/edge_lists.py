"""Edge lists as distributed by SNAP (one edge per line, blanks or tabs between, comments with # or %), and `.csv`."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from dmr.common.text import counted
from static_graph.common.pieces import bounds
from static_graph.errors import FileContentError
from static_graph.graph.checks import MOST
from static_graph.graph.csr import CsrGraph
from static_graph.io.headings import is_edge, read_heading
from static_graph.io.inputs import Input
from static_graph.io.numbering import without_gaps
from static_graph.io.text import Edges, Grammar, Lines, TextFile

log = logging.getLogger("static_graph.io")

BLANKS = Grammar(comments="#%", row="<source> <target> [<weight>]")
COMMAS = Grammar(comments="#%", row="<source>,<target>[,<weight>]", commas=True)

_DECLARATION = re.compile(r"^[#%]\s*Nodes:\s*(\d{1,18})\b(?:\s+Edges:\s*(\d{1,18})\b)?", re.IGNORECASE)


def read_edge_list(source: Input, threads: int | None = None) -> CsrGraph:
    """Reads the graph of an edge list; a third column holds weights.

    Nodes are numbered 0, 1, ... in the order of their ids. The ids are kept as labels, unless they equal these numbers,
    or all are below the number of nodes that a comment declares (`# Nodes: 5 Edges: 4`); then ids are node numbers.

    Raises:
        FileError: a line is wrong; the error names the first one.
    """
    text = TextFile(source, threads)
    return _graph_of_text(text, text.edges(BLANKS, weighted=None), threads)


def read_csv(source: Input, threads: int | None = None) -> CsrGraph:
    """Reads an edge list with commas between fields; fields may be quoted.

    A first row that does not begin with a number is a heading, which names the columns (`headings`). Without a heading,
    the columns are source, target, and optionally weight.

    Raises:
        FileError: a line is wrong (the error names the first one), or the heading is not understood.
    """
    text = TextFile(source, threads)
    for number, line, after in text.head():
        if line and not line.startswith(tuple(COMMAS.comments)):
            if is_edge(line):
                break
            try:
                grammar, weighted = read_heading(line, COMMAS)
            except ValueError as error:
                raise text.fail(str(error), number) from None
            return _graph_of_text(text, text.edges(grammar, weighted=weighted, begin=after, line=number), threads)
    return _graph_of_text(text, text.edges(COMMAS, weighted=None), threads)


def write_edge_list(file: BinaryIO, graph: CsrGraph) -> None:
    """Writes the edges as SNAP does, with a header that preserves nodes without edges."""
    weight = "" if graph.weights is None else "\tWeight"
    file.write(f"# Nodes: {graph.nodes} Edges: {graph.edges}\n# FromNodeId\tToNodeId{weight}\n".encode())
    for lines in Lines(graph.sources(), graph.targets, graph.weights, labels=whole_labels(graph), separator="\t"):
        file.write(lines)


def write_csv(file: BinaryIO, graph: CsrGraph) -> None:
    """Writes the edges as comma-separated values below a heading."""
    file.write(f"# Nodes: {graph.nodes} Edges: {graph.edges}\n".encode())
    file.write(b"source,target\n" if graph.weights is None else b"source,target,weight\n")
    for lines in Lines(graph.sources(), graph.targets, graph.weights, labels=whole_labels(graph), separator=","):
        file.write(lines)


def whole_labels(graph: CsrGraph) -> NDArray[np.int64] | None:
    """Returns the labels if an edge list can hold them: non-negative integers, one per node, if each node has an edge.

    Raises:
        ValueError: the labels cannot be kept; the message is the end of a sentence that says why.
    """
    if graph.labels is None:
        return None
    if graph.labels.dtype != np.int64 or graph.labels.min(initial=0) < 0:
        objects = graph.labels.dtype.kind == "O"
        way = "drop them (labels=None)" if objects else "drop them (labels=None), or use .npz"
        raise ValueError(f"its labels are not all non-negative whole numbers: {way}")
    return graph.labels


def graph_of_ids(edges: Edges, declared: int | None, path: Path, threads: int | None) -> CsrGraph:
    """Makes a graph of edges between nodes with ids from 0.

    Args:
        edges: the edges.
        declared: the number of nodes that the file declares, or None; if all ids are below it, they are node numbers.
        path: the file, for errors; threads: CPU threads.

    Raises:
        FileError: there are too many nodes.
    """
    largest = max(bounds(edges.sources)[1], bounds(edges.targets)[1])
    labels = None
    sources, targets, nodes = edges.sources, edges.targets, largest + 1
    if declared is not None and largest < declared <= MOST:
        nodes = declared
    else:
        sources, targets, labels = without_gaps(sources, targets, largest)
        nodes = nodes if labels is None else len(labels)
        if nodes > MOST:
            raise FileContentError(f"names {nodes} nodes, more than the {MOST} that a graph can have", path)
    return CsrGraph.from_edges(sources, targets, edges.weights, nodes, labels=labels, threads=threads)


def _graph_of_text(text: TextFile, edges: Edges, threads: int | None) -> CsrGraph:
    """Makes the graph of a text, with the number of nodes that a comment declares."""
    nodes, declared = _declared_counts(text) or (None, None)
    if declared is not None and declared != len(edges.sources):
        log.warning("%s promises %s, but holds %d", text.path, counted(declared, "edge"), len(edges.sources))
    return graph_of_ids(edges, nodes, text.path, threads)


def _declared_counts(text: TextFile) -> tuple[int, int | None] | None:
    """Returns the numbers of nodes and edges that a comment at the beginning declares."""
    for _, line, _ in text.head():
        if line and not line.startswith(("#", "%")):
            return None
        if found := _DECLARATION.match(line):
            return int(found[1]), None if found[2] is None else int(found[2])
    return None
