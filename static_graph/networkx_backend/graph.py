"""Graphs of networkx as the backend's functions take them: converted when it is needed, and kept with the graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import networkx
import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from static_graph.errors import GraphError
from static_graph.graph.conversions import adjacency_rows, edge_values
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal import upload

EXACT = 2**53  # integers up to here are exact as float64


class Graph:
    """A graph of networkx, numbered: the CSR arrays of its edges in both directions, and their copies on a device.

    networkx keeps it in the original graph's `__networkx_cache__`, which it clears when a method changes the graph.
    Arrays are made when a function first needs them. Pickles and copies make them again.

    Attributes:
        nodes: the names of the nodes, in networkx's order.
    """

    __networkx_backend__ = "static_graph"

    def __init__(self, graph: networkx.Graph) -> None:
        """Refers to the adjacency of a networkx graph, but not to the graph itself, which would never be freed."""
        self.nodes: list[Hashable] = list(graph)
        self._adjacency: Mapping[Hashable, Mapping[Hashable, Any]] = graph._adj
        self._incoming: Mapping[Hashable, Mapping[Hashable, Any]] = graph._pred if graph.is_directed() else graph._adj
        self._directed: bool = graph.is_directed()
        self._multigraph: bool = graph.is_multigraph()
        self._uploaded: dict[Hashable, DeviceGraph] = {}

    def __getstate__(self) -> dict[str, Any]:
        kept = ("nodes", "_adjacency", "_incoming", "_directed", "_multigraph")
        return {name: getattr(self, name) for name in kept} | {"_uploaded": {}}

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.numbers
        except TypeError:  # not hashable
            return False

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether there may be parallel edges."""
        return self._multigraph

    def named(self, numbers: NDArray[np.integer[Any]]) -> list[Hashable]:
        """Returns the names of the nodes with the given numbers."""
        return list(map(self.nodes.__getitem__, numbers.tolist()))

    @cached_property
    def numbers(self) -> dict[Hashable, int]:
        """The number of each node by name."""
        return {name: number for number, name in enumerate(self.nodes)}

    @cached_property
    def forward(self) -> CsrGraph:
        """The edges that leave each node, in networkx's order."""
        return self._graph(self._adjacency)

    @cached_property
    def backward(self) -> CsrGraph:
        """The edges that lead to each node, in networkx's order."""
        return self._graph(self._incoming)

    def ordered(self, sort_neighbors: Callable[..., Any], *, reverse: bool) -> CsrGraph:
        """Returns the edges of each node in the order of `sort_neighbors`, a function of an iterator over names."""
        rows = self._rows(self._incoming if reverse else self._adjacency)
        offsets, targets = adjacency_rows([list(sort_neighbors(iter(row))) for row in rows], self.numbers)
        return CsrGraph(offsets, targets)

    def weighted(self, weight: Hashable | Callable[..., Any]) -> CsrGraph:
        """Returns the graph with the weights of networkx's shortest paths and PageRank.

        Args:
            weight: an edge attribute, 1 for edges without it; or a function of both ends and the data of the edge (for
                a multigraph, of all parallel edges), None for an edge that is hidden.

        Raises:
            NotImplementedError: the weights are not numbers that the package can add.
        """
        with declining():
            if callable(weight):
                return self._weighted_by(weight)
            values = edge_values(self._rows(self._adjacency), weight, 1, self._multigraph)
            return CsrGraph(self.forward.offsets, self.forward.targets, _numbers(values))

    def _weighted_by(self, weight: Callable[..., Any]) -> CsrGraph:
        rows = [
            [(end, cost) for end, data in row.items() if (cost := weight(name, end, data)) is not None]
            for name, row in zip(self.nodes, self._rows(self._adjacency), strict=True)
        ]
        offsets, targets = adjacency_rows([[end for end, _ in row] for row in rows], self.numbers)
        return CsrGraph(offsets, targets, _numbers([cost for row in rows for _, cost in row]))

    def on_device(self, make: Callable[[], CsrGraph], key: Hashable | None = None) -> DeviceGraph:
        """Copies the graph that `make` returns to the configured device, and keeps the copy if it has a key."""
        device, threads = _configuration()
        if key is None:
            return upload(make(), device, threads)
        place = (key, device, threads)
        if place not in self._uploaded:
            self._uploaded[place] = upload(make(), device, threads)
        return self._uploaded[place]

    def searchable(self, *, reverse: bool = False) -> DeviceGraph:
        """The graph without weights on the configured device; `reverse`: with the edges that lead to each node."""
        if reverse and self._directed:
            return self.on_device(lambda: self.backward, "backward")
        return self.on_device(lambda: self.forward, "forward")

    def to_networkx(self) -> networkx.Graph:
        """Returns a networkx graph with the same nodes and edges, and with the edges' data."""
        kinds = networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph
        graph = kinds[2 * self._multigraph + self._directed]()
        graph.add_nodes_from(self.nodes)
        for name, row in zip(self.nodes, self._rows(self._adjacency), strict=True):
            if self._multigraph:
                graph.add_edges_from((name, end, *edge) for end, parallel in row.items() for edge in parallel.items())
            else:
                graph.add_edges_from((name, *edge) for edge in row.items())
        return graph

    def _graph(self, adjacency: Mapping[Hashable, Mapping[Hashable, Any]]) -> CsrGraph:
        return CsrGraph(*adjacency_rows(self._rows(adjacency), self.numbers, self._multigraph))

    def _rows(self, adjacency: Mapping[Hashable, Mapping[Hashable, Any]]) -> Sequence[Mapping[Hashable, Any]]:
        return [adjacency[name] for name in self.nodes]


def convert_from_nx(graph: networkx.Graph, **preserved: Any) -> Graph:
    """Prepares a networkx graph for the backend's functions.

    Args:
        graph: the graph; it must not change while the result is in use.
        preserved: the attributes that networkx wants kept; they are read from the graph when a function needs them.
    """
    if hasattr(graph, "_graph"):  # a view: networkx does not clear its cache when the graph below changes
        graph.__networkx_cache__ = None
    return Graph(graph)


def convert_to_nx(result: Any, **context: Any) -> Any:
    """Returns a result of the backend as networkx's own functions take it; only a `Graph` is converted."""
    return result.to_networkx() if isinstance(result, Graph) else result


@contextmanager
def declining(*kinds: type[Exception]) -> Iterator[None]:
    """Turns a GraphError, or an error of `kinds`, into NotImplementedError: networkx then asks the next backend."""
    declined: tuple[type[Exception], ...] = (GraphError, *kinds)
    try:
        yield
    except declined as error:
        raise NotImplementedError(str(error)) from error


def _numbers(values: Sequence[Any]) -> NDArray[Any]:
    """Converts weights to an array that holds them exactly.

    Raises:
        NotImplementedError: a weight is not a number (None hides an edge), or an array cannot hold it.
    """
    try:
        numbers = np.asarray(values if values else np.empty(0, np.int32))
    except ValueError:  # sequences of different lengths
        numbers = np.empty(0, object)
    if numbers.dtype == np.bool_:
        numbers = numbers.astype(np.int32)
    if numbers.dtype.kind not in "iuf" or numbers.dtype.itemsize > 8:
        raise NotImplementedError("a weight is not a number of 64 bits")
    if numbers.dtype.kind == "f" and np.abs(numbers).max() >= EXACT and any(isinstance(each, int) for each in values):
        raise NotImplementedError(f"the weights are integers from {EXACT} and floats together")
    return numbers


def _configuration() -> tuple[str, int | None]:
    """Returns `device` and `threads` of `networkx.config.backends.static_graph`."""
    chosen = getattr(networkx.config.backends, "static_graph", None)
    return ("auto", None) if chosen is None else (chosen.device, chosen.threads)
