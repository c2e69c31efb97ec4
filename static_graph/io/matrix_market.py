"""Matrix Market (`.mtx`): a sparse adjacency matrix; entry (i, j) is an edge from node i to node j."""

from __future__ import annotations

import re
from typing import BinaryIO

import numpy as np

from dmr.common.text import counted
from static_graph.graph.checks import MOST
from static_graph.graph.csr import CsrGraph
from static_graph.io.inputs import Input
from static_graph.io.text import Grammar, Lines, TextFile

_BANNER = re.compile(r"%%MatrixMarket\s+matrix\s+(\w+)\s+(\w+)\s+([\w-]+)", re.IGNORECASE)
_SIZES = re.compile(r"(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})")


def read_matrix_market(source: Input, threads: int | None = None) -> CsrGraph:
    """Reads the graph of a square matrix in coordinate format: general or symmetric; integer, real or pattern.

    An off-diagonal entry of a symmetric matrix becomes an edge in both directions: all stored edges come first, then
    all reversed ones. Entries are weights; a pattern gives no weights.

    Raises:
        FileError: a line is wrong (the error names the first one), or the matrix does not describe a graph.
    """
    text = TextFile(source, threads)
    lines = text.head()
    _, banner, _ = next(lines, (1, "", 0))
    found = _BANNER.fullmatch(banner)
    if not found:
        raise text.fail("should be: %%MatrixMarket matrix coordinate <real|integer|pattern> <general|symmetric>", 1)
    layout, field, symmetry = (word.lower() for word in found.groups())
    for word, known in ((layout, ["coordinate"]), (field, ["real", "integer", "pattern"])):
        if word not in known:
            raise text.fail(f"the matrix is {word!r}; a graph is read from {' or '.join(known)}", 1)
    if symmetry not in ("general", "symmetric"):
        raise text.fail(f"the matrix is {symmetry!r}; a graph is read from general or symmetric", 1)
    number = 1
    for number, line, after in lines:
        if not line or line.startswith("%"):
            continue
        sizes = _SIZES.fullmatch(line)
        if not sizes:
            raise text.fail("should have three numbers: <rows> <columns> <entries>", number)
        rows, columns, entries = map(int, sizes.groups())
        if rows != columns:
            raise text.fail(f"a graph's matrix is square, not {rows} by {columns}", number)
        if rows > MOST:
            raise text.fail(f"promises {rows} nodes, more than the {MOST} that a graph can have", number)
        weighted = field != "pattern"
        form = "<row> <column> <value>" if weighted else "<row> <column>"
        grammar = Grammar(comments="%", low=1, high=rows, row=form, whole=field == "integer")
        edges = text.edges(grammar, weighted=weighted, begin=after, line=number)
        if len(edges.sources) != entries:
            raise text.fail(f"promises {counted(entries, 'entry')}, but the file holds {len(edges.sources)}", number)
        sources, targets, weights = edges.sources, edges.targets, edges.weights
        if weights is not None and field == "real":
            weights = weights.astype(np.float64)
        if symmetry == "symmetric":
            back = sources != targets
            sources, targets = np.concatenate([sources, targets[back]]), np.concatenate([targets, sources[back]])
            weights = None if weights is None else np.concatenate([weights, weights[back]])
        return CsrGraph.from_edges(sources, targets, weights, rows, threads=threads)
    raise text.fail("ends before the line with three numbers: <rows> <columns> <entries>", number)


def write_matrix_market(file: BinaryIO, graph: CsrGraph) -> None:
    """Writes the graph as a general matrix; labels are left out."""
    field = "pattern" if graph.weights is None else "real" if graph.weights.dtype == np.float64 else "integer"
    file.write(f"%%MatrixMarket matrix coordinate {field} general\n".encode())
    file.write(f"{graph.nodes} {graph.nodes} {graph.edges}\n".encode())
    for lines in Lines(graph.sources(), graph.targets, graph.weights, base=1):
        file.write(lines)
