"""METIS (`.graph`, `.metis`): an undirected graph, one line per node with its neighbours.

The header is `<nodes> <edges> [<fmt> [<ncon>]]`; nodes are numbered from 1. The digits of fmt say whether lines begin
with the node's size, then have its `ncon` weights, and whether each neighbour is followed by the edge's weight. (METIS
manual, version 5.1.0, section 4.1.1.)
"""

from __future__ import annotations

import logging
import re
from itertools import pairwise
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from dmr.common.text import counted
from static_graph.errors import FileError
from static_graph.graph.checks import MOST
from static_graph.graph.csr import CsrGraph
from static_graph.io.inputs import Input
from static_graph.io.text import Numbers, TextFile

log = logging.getLogger("static_graph.io")

FORM = "<nodes> <edges> [<fmt> [<ncon>]]"
BATCH = 1 << 16  # edges written at a time
_HEADER = re.compile(r"(\d{1,18})\s+(\d{1,18})(?:\s+([01]{1,3})(?:\s+(\d{1,9}))?)?")


def read_metis(source: Input, threads: int | None = None) -> CsrGraph:
    """Reads an undirected graph: each edge is in the lines of both its nodes, and becomes an edge in both directions.

    Sizes and weights of nodes are left out, with a warning.

    Raises:
        FileError: a line is wrong (the error names it): a self-loop, a neighbour that occurs twice, or one that does
            not have the node as a neighbour with the same weight; or the number of edges differs from the header's.
    """
    text = TextFile(source, threads)
    lines = (line for line in text.head() if line[1] and not line[1].startswith("%"))
    number, header, after = next(lines, (1, "", 0))
    found = _HEADER.fullmatch(header)
    if not found:
        raise text.fail(f"should be: {FORM}", number)
    nodes, edges, fmt = int(found[1]), int(found[2]), (found[3] or "0").zfill(3)
    if nodes > MOST:
        raise text.fail(f"promises {nodes} nodes, more than the {MOST} that a graph can have", number)
    if fmt[1] == "0" and int(found[4] or 0):
        raise text.fail(f"promises {found[4]} weights per node, but fmt = {found[3]} says that there are none", number)
    constraints = int(found[4] or 1) if fmt[1] == "1" else 0
    rows = text.numbers("%", after, number)
    if len(rows.places) <= nodes:
        lines_there = counted(len(rows.places) - 1, "line")
        raise text.fail(f"promises {counted(nodes, 'node')}, but has {lines_there} for them", number)
    degrees, targets, weights = _adjacency(text, rows, nodes, constraints + int(fmt[0]), weighted=fmt[2] == "1")
    if len(targets) != 2 * edges:
        entries = counted(len(targets), "neighbour")
        raise text.fail(f"promises {counted(edges, 'edge')}, each in two lines, but the lines have {entries}", number)
    if fmt[:2] != "00":
        log.warning("%s: the sizes and weights of nodes are left out", text.path)
    graph = CsrGraph.from_edges(np.repeat(np.arange(nodes), degrees), targets, weights, nodes, threads=threads)
    fault = _fault(graph)
    if fault is not None:
        node, reason = fault
        raise text.fail(reason, rows.line_of(node))
    return graph


def write_metis(file: BinaryIO, graph: CsrGraph) -> None:
    """Writes an undirected graph; labels are left out.

    Raises:
        ValueError: METIS cannot hold the graph; the message is the end of a sentence that says why.
    """
    weights = graph.weights
    if weights is not None and (weights.dtype == np.float64 or weights.min(initial=1) < 1):
        raise ValueError("its weights are not all positive whole numbers")
    fault = _fault(graph)
    if fault is not None:
        raise ValueError(f"the format is for undirected graphs without self-loops, and node {fault[0] + 1} {fault[1]}")
    file.write(f"{graph.nodes} {graph.edges // 2}{'' if weights is None else ' 001'}\n".encode())
    cuts = np.searchsorted(graph.offsets, np.arange(0, graph.edges, BATCH)) if graph.edges else np.empty(0, np.intp)
    ends = np.unique(np.concatenate([cuts, np.arange(0, graph.nodes, BATCH), [graph.nodes]]))
    step = 1 if weights is None else 2
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        first, last = int(graph.offsets[begin]), int(graph.offsets[end])
        numbers = np.empty(step * (last - first), np.int64)
        numbers[::step] = graph.targets[first:last]
        numbers[::step] += 1
        if weights is not None:
            numbers[1::2] = weights[first:last]
        words = list(map(str, numbers.tolist()))
        places = (step * (graph.offsets[begin : end + 1] - first)).tolist()
        lines = (" ".join(words[a:b]) for a, b in pairwise(places))
        file.write(("\n".join(lines) + "\n").encode())


def _adjacency(
    text: TextFile, rows: Numbers, nodes: int, ahead: int, *, weighted: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]:
    """Returns the degrees of the nodes, their neighbours from 0, and weights or None.

    Args:
        text, rows: the file, and its lines below the header.
        nodes: number of nodes; ahead: number of entries before the neighbours of a line.
        weighted: whether each neighbour is followed by a weight.
    """

    def fail(row: int, reason: str) -> FileError:
        return text.fail(reason, rows.line_of(row))

    entries = np.diff(rows.places)
    if entries[nodes:].any():
        row = nodes + int(np.flatnonzero(entries[nodes:])[0])
        raise fail(row, f"is a line too many: the header promises {counted(nodes, 'node')}")
    entries = entries[:nodes]
    short = np.flatnonzero((entries < ahead) | (weighted & ((entries - ahead) % 2 != 0)))
    if len(short):
        row = int(short[0])
        needed = f"{counted(ahead, 'entry')} for the node, and " if ahead else ""
        pairs = "pairs of a neighbour and a weight" if weighted else "neighbours"
        raise fail(row, f"has {counted(int(entries[row]), 'entry')}; a line should have {needed}{pairs}")
    kept = rows.values
    if ahead and nodes:  # without nodes, `ahead` may be any number
        of_edges = np.ones(len(kept), np.bool_)
        of_edges[(rows.places[:nodes, None] + np.arange(ahead)).reshape(-1)] = False
        kept = kept[of_edges]
    degrees = (entries - ahead) // (1 + weighted)
    targets = kept[:: 1 + weighted] - 1
    wrong = np.flatnonzero((targets < 0) | (targets >= nodes))
    if len(wrong):
        row = int(np.searchsorted(np.cumsum(degrees), wrong[0], "right"))
        raise fail(row, f"neighbour {targets[wrong[0]] + 1} is not a node; their numbers are from 1 to {nodes}")
    return degrees, targets, kept[1::2] if weighted else None


def _fault(graph: CsrGraph) -> tuple[int, str] | None:
    """Returns a node that keeps a graph from being undirected and simple, and why; None if the graph is both."""
    sources = graph.sources()
    loops = np.flatnonzero(sources == graph.targets)
    if len(loops):
        return int(sources[loops[0]]), "has itself as a neighbour"
    back = graph.reversed()  # whose rows are sorted, as those of `there`
    there = back.reversed()
    twice = np.flatnonzero((there.targets[1:] == there.targets[:-1]) & (sources[1:] == sources[:-1]))
    if len(twice):
        return int(sources[twice[0]]), f"has the neighbour {there.targets[twice[0]] + 1} twice"
    if not (np.array_equal(there.offsets, back.offsets) and np.array_equal(there.targets, back.targets)):
        keys = graph.nodes * sources.astype(np.int64) + there.targets
        mirrored = graph.nodes * there.targets.astype(np.int64) + sources
        source, target = divmod(int(np.setdiff1d(keys, mirrored, assume_unique=True)[0]), graph.nodes)
        return source, f"has the neighbour {target + 1}, which does not have {source + 1} as a neighbour"
    if there.weights is not None and back.weights is not None:
        unlike = np.flatnonzero(there.weights != back.weights)
        if len(unlike):
            edge = int(unlike[0])
            ends = f"{there.weights[edge]} to neighbour {there.targets[edge] + 1}, but {back.weights[edge]} back"
            return int(sources[edge]), f"has an edge with weight {ends}"
    return None
