"""GraphML (`.graphml`): nodes and edges in XML, with named attributes (graphdrawing.org).

The file is parsed in pieces. Declarations of entities are refused, so that none can be expanded, and expat loads no
external files.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import shortened
from dmr.common.available import require_memory
from dmr.common.files.compressed import READ_BYTES
from static_graph.common.memory_estimates import from_edges_bytes
from static_graph.errors import DmrError, FileContentError, FileError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.labels import as_labels
from static_graph.io.inputs import Input

log = logging.getLogger("static_graph.io")

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
BATCH = 1 << 16  # lines written at a time
BYTES_PER_NODE, BYTES_PER_EDGE = 300, 120  # of the lists and dictionaries that hold a graph while it is read
NUMBERS: dict[str, Callable[[str], float]] = {"int": int, "long": int, "float": float, "double": float}

# The elements that are read, and where they may be; all others are skipped with what they contain.
_PLACES = {
    "graphml": (None,),
    "key": ("graphml",),
    "default": ("key",),
    "graph": ("graphml", "node", "edge"),
    "node": ("graph",),
    "edge": ("graph",),
    "hyperedge": ("graph",),
    "data": ("graphml", "graph", "node", "edge"),
}
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_LABEL = re.compile(r"0|-?[1-9][0-9]{0,18}")  # whole numbers in the form in which they are written
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2


def read_graphml(source: Input, threads: int | None = None, weight: str | None = None) -> CsrGraph:
    """Reads a graph; an undirected edge becomes an edge in both directions (all stored edges precede those).

    Nodes are numbered in the order of the file. Their ids are kept as labels, as integers if all of them are; unless
    they are 0, 1, ... in order.

    Args:
        source: the file; threads: CPU threads.
        weight: the name (`attr.name`) of the edges' attribute that holds the weights; edges without it have its
            default, or 1. By default it is "weight", if there is one.

    Raises:
        FileError: the file is not GraphML, or holds nested graphs or hyperedges; the error names the line.
    """
    parsing = _Parsing(source.path, weight)
    with source.unpacked() as file:
        while piece := file.read(READ_BYTES):
            parsing.feed(piece)
    parsing.feed(b"", last=True)
    return parsing.graph(threads)


def write_graphml(file: BinaryIO, graph: CsrGraph) -> None:
    """Writes the graph with directed edges; labels, or else the numbers of nodes, are the nodes' ids."""
    ids = list(map(_quoted, range(graph.nodes) if graph.labels is None else _writable(graph.labels)))
    file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{NAMESPACE}">\n'.encode())
    if graph.weights is not None:
        kind = "double" if graph.weights.dtype == np.float64 else "long"
        file.write(f'<key id="weight" for="edge" attr.name="weight" attr.type="{kind}"/>\n'.encode())
    file.write(b'<graph edgedefault="directed">\n')
    for begin in range(0, graph.nodes, BATCH):
        file.write("".join(f"<node id={name}/>\n" for name in ids[begin : begin + BATCH]).encode())
    sources = graph.sources()
    for begin in range(0, graph.edges, BATCH):
        ends = zip(sources[begin : begin + BATCH].tolist(), graph.targets[begin : begin + BATCH].tolist(), strict=True)
        heads = (f"<edge source={ids[a]} target={ids[b]}" for a, b in ends)
        if graph.weights is None:
            lines = [f"{head}/>\n" for head in heads]
        else:
            weights = graph.weights[begin : begin + BATCH].tolist()
            lines = [f'{a}><data key="weight">{w!r}</data></edge>\n' for a, w in zip(heads, weights, strict=True)]
        file.write("".join(lines).encode())
    file.write(b"</graph>\n</graphml>\n")


class _Parsing:
    """The parser of one file, and what it has found so far."""

    def __init__(self, path: Path, weight: str | None) -> None:
        self._path, self._weight = path, weight
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.EntityDeclHandler = self._refuse_entity
        self._begin = {
            "key": self._key,
            "default": self._text_begins,
            "graph": self._graph,
            "node": self._node,
            "edge": self._edge,
            "hyperedge": self._hyperedge,
            "data": self._data,
        }
        self._open: list[str | None] = [None]  # the elements that contain the current one
        self._skipped = 0  # number of open elements that are skipped
        self._local: dict[str, str] = {}  # names of elements, without GraphML's namespace
        self._text: list[str] | None = None  # the text of the current weight
        self._fed = False
        self._graphs = 0
        self._directed = True
        self._attributes: set[str] = set()  # names of the edges' attributes
        self._keys: dict[str, str] = {}  # types of the weights, by the key's id
        self._key_id = ""  # of the current weight
        self._defaults: dict[str, float] = {}  # by the key's id
        self._numbers: dict[str, int] = {}  # of the nodes, by id
        self._ends: list[int] = []  # source, target, source, ...; -1 - k for the k-th of `_unknown`
        self._unknown: list[tuple[str, int]] = []  # ends that were not declared before the edge, and the line
        self._undirected: list[int] = []  # indices of edges
        self._weights: list[float | None] = []

    def feed(self, piece: bytes, *, last: bool = False) -> None:
        """Parses a piece of the file; raises FileError if it is wrong."""
        self._fed = self._fed or not (piece == b"" or piece.isspace())
        if last and not self._fed:
            raise FileContentError("is empty", self._path)
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise FileContentError(f"is not well-formed XML: {reason}", self._path, error.lineno) from None
        except DmrError:
            raise
        except (LookupError, ValueError) as error:
            raise self._fault(f"has an encoding that is not read: {error}") from None
        nodes, edges = len(self._numbers), len(self._weights)
        held = BYTES_PER_NODE * nodes + BYTES_PER_EDGE * edges
        require_memory(from_edges_bytes(nodes, 2 * edges, True) + held // 4, str(self._path))

    def graph(self, threads: int | None) -> CsrGraph:
        """Makes the graph, after the last piece."""
        if not self._graphs:
            raise FileContentError("holds no graph", self._path)
        if self._weight is not None and self._weight not in self._attributes:
            known = ", ".join(map(shortened, sorted(self._attributes))) or "none"
            reason = f"its edges have no attribute {shortened(self._weight)}; their attributes: {known}"
            raise FileContentError(reason, self._path)
        for name, line in self._unknown:
            if name not in self._numbers:
                raise FileContentError(f"there is no node {shortened(name)}", self._path, line)
        numbers = [self._numbers[name] for name, _ in self._unknown]
        ends = np.array([end if end >= 0 else numbers[-1 - end] for end in self._ends], np.int64).reshape(-1, 2)
        sources, targets, weights = ends[:, 0], ends[:, 1], self._numeric_weights()
        undirected = np.array(self._undirected, np.int64)
        back = undirected[sources[undirected] != targets[undirected]]
        return CsrGraph.from_edges(
            np.concatenate([sources, targets[back]]),
            np.concatenate([targets, sources[back]]),
            None if weights is None else np.concatenate([weights, weights[back]]),
            len(self._numbers),
            labels=_labels(list(self._numbers)),
            threads=threads,
        )

    def _numeric_weights(self) -> NDArray[Any] | None:
        if not self._defaults and all(weight is None for weight in self._weights):
            return None
        other = next(iter(self._defaults.values()), 1)
        return np.array([other if weight is None else weight for weight in self._weights] or np.empty(0, np.int64))

    def _fault(self, reason: str) -> FileError:
        return FileContentError(reason, self._path, self._parser.CurrentLineNumber)

    def _refuse_entity(self, name: str, *_: Any) -> None:
        raise self._fault(f"declares the entity {shortened(name)}: a graph needs none")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = self._local.get(name)
        if local is None:
            space, _, local = name.rpartition(" ")
            if space and not space.startswith(NAMESPACE):
                local = name
            self._local[name] = local
        places = _PLACES.get(local)
        if self._skipped or places is None:
            if self._open == [None]:
                raise self._fault(f"begins with <{shortened(local)}>, not with <graphml>")
            self._skipped += 1
            return
        above = self._open[-1]
        if above not in places:
            inside = "at the beginning" if above is None else f"in <{above}>"
            raise self._fault(f"<{local}> is not an element {inside}")
        self._open.append(local)
        if local != "graphml":
            self._begin[local](attributes)

    def _end(self, name: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        self._open.pop()
        if self._text is None:
            return
        self._parser.CharacterDataHandler = None
        value = self._number("".join(self._text).strip())
        self._text = None
        if self._local[name] == "default":
            self._defaults[self._key_id] = value
        else:
            self._weights[-1] = value

    def _key(self, attributes: dict[str, str]) -> None:
        self._key_id = ""
        name = attributes.get("attr.name", "")
        if attributes.get("for", "all") not in ("edge", "all"):
            return
        self._attributes.add(name)
        if name != (self._weight or "weight"):
            return
        kind = attributes.get("attr.type", "string")
        if kind not in NUMBERS:
            if self._weight is not None:
                raise self._fault(f"the attribute {shortened(name)} is of the type {shortened(kind)}, not a number")
            log.warning("%s: the attribute %s is of the type %s; the graph has no weights", self._path, name, kind)
            return
        if self._graphs:
            raise self._fault(f"the attribute {shortened(name)} is declared after the graph that uses it")
        self._key_id = self._required(attributes, "key", "id")
        self._keys[self._key_id] = kind

    def _graph(self, attributes: dict[str, str]) -> None:
        if self._open[-2] != "graphml":
            raise self._fault(f"holds a graph within a <{self._open[-2]}>; nested graphs are not read")
        if self._graphs:
            raise self._fault("holds a second graph; one is read")
        self._graphs += 1
        self._directed = self._chosen(attributes, "edgedefault", "graph", ("directed", "undirected")) == "directed"

    def _node(self, attributes: dict[str, str]) -> None:
        name = self._required(attributes, "node", "id")
        if name in self._numbers:
            raise self._fault(f"there are two nodes {shortened(name)}")
        self._numbers[name] = len(self._numbers)

    def _edge(self, attributes: dict[str, str]) -> None:
        for end in ("source", "target"):
            name = self._required(attributes, "edge", end)
            number = self._numbers.get(name)
            if number is None:
                self._unknown.append((name, self._parser.CurrentLineNumber))
                number = -len(self._unknown)
            self._ends.append(number)
        directed = self._directed
        if "directed" in attributes:
            directed = self._chosen(attributes, "directed", "edge", ("true", "false")) == "true"
        if not directed:
            self._undirected.append(len(self._weights))
        self._weights.append(None)

    def _hyperedge(self, attributes: dict[str, str]) -> None:
        raise self._fault("has a hyperedge, which is not an edge between two nodes")

    def _data(self, attributes: dict[str, str]) -> None:
        self._key_id = attributes.get("key", "")
        if self._open[-2] == "edge":
            self._text_begins(attributes)

    def _text_begins(self, attributes: dict[str, str]) -> None:
        """Collects the text of the current element if it is a weight."""
        if self._key_id in self._keys:
            self._text = []
            self._parser.CharacterDataHandler = self._text.append

    def _required(self, attributes: dict[str, str], element: str, name: str) -> str:
        value = attributes.get(name)
        if value is None:
            raise self._fault(f"<{element}> has no {name}")
        return value

    def _chosen(self, attributes: dict[str, str], name: str, element: str, known: tuple[str, str]) -> str:
        value = self._required(attributes, element, name)
        if value not in known:
            raise self._fault(f"{name} is {shortened(value)}; it must be {known[0]} or {known[1]}")
        return value

    def _number(self, text: str) -> float:
        """Parses a weight of the current key."""
        kind = NUMBERS[self._keys[self._key_id]]
        try:
            value = kind(text) if kind is float or _WHOLE.fullmatch(text) else None
        except ValueError:
            value = None
        if value is None or "_" in text:
            what = "number" if kind is float else "whole number"
            raise self._fault(f"weight {shortened(text)} is not a {what}")
        if not math.isfinite(value):
            raise self._fault(f"weight {shortened(text)} is not finite")
        if value < 0:
            raise self._fault(f"weight {shortened(text)} is negative; distances need non-negative weights")
        if kind is int and value >= 2**63:
            raise self._fault(f"weight {shortened(text)} is too large")
        return value


def _labels(ids: list[str]) -> NDArray[Any] | None:
    """Returns the labels for ids: integers if all of them are; None for the numbers of the nodes."""
    numbers = [int(name) for name in ids if _LABEL.fullmatch(name)]
    if len(numbers) == len(ids) and all(-(2**63) <= number < 2**63 for number in numbers):
        return None if numbers == list(range(len(ids))) else as_labels(numbers)
    return as_labels(ids)


def _writable(labels: NDArray[Any]) -> list[Any]:
    """Returns labels as a list.

    Raises:
        ValueError: XML cannot hold them; the message is the end of a sentence that says why.
    """
    if labels.dtype.kind == "O":
        raise ValueError("its labels are objects of Python: use whole numbers or strings, or drop them (labels=None)")
    names = labels.tolist()
    if labels.dtype.kind == "U":
        bad = next((name for name in names if _FORBIDDEN.search(name)), None)
        if bad is not None:
            raise ValueError(f"the label {shortened(bad)} has a character that XML cannot hold")
    return list(names)


def _quoted(name: Any) -> str:
    return quoteattr(str(name))
