"""The value object that users hold: a graph as compressed sparse rows (CSR; thesis, figure 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from static_graph.building import rows_of_edges
from static_graph.errors import GraphError, WrongTypeError
from static_graph.list_checking import as_array
from static_graph.options import whole
from static_graph.wording import counted, numbered

MOST = 2**31 - 1  # nodes of a graph, and edges that offsets of 32 bits can count

Whole = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class CsrGraph:
    """A directed graph. The arrays are checked, copied and read-only.

    ::

        offsets  0   2   3   3           The edges that leave node v are those from offsets[v] up to, but without,
                 |   |   |   |           offsets[v + 1]; they lead to targets[...] with weights[...].
        targets  1 2 | 2 |   |           Here: 0 -> 1, 0 -> 2, 1 -> 2, and none from node 2.

    Self loops, several edges between the same nodes, weights of zero and nodes without edges are all graphs. An
    undirected graph has each edge in both directions.

    Attributes:
        offsets: (n + 1,) int32, or int64 for more than 2^31 - 1 edges.
        targets: (m,) int32.
        weights: (m,) int32 where whole numbers fit, else int64; float64 for other numbers; none of them negative,
            infinite or NaN. None for a graph without weights.
        labels: (n,) what users call the nodes (int64, or strings), where that is not 0 to n - 1; else None. No two
            nodes have the same.

    Raises:
        GraphError: a wrong shape or dtype, an index out of range, a weight that cannot be; it names the edge.
    """

    offsets: Whole
    targets: NDArray[np.int32]
    weights: NDArray[Any] | None = None
    labels: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        offsets, targets = _whole(self.offsets, "offsets"), _whole(self.targets, "targets")
        _check_offsets(offsets, len(targets))
        nodes, edges = len(offsets) - 1, len(targets)
        _check_ends(targets, nodes, "leads to")
        fields = {
            "offsets": _copied(offsets, np.int32 if edges <= MOST else np.int64),
            "targets": _copied(targets, np.int32),
            "weights": None if self.weights is None else checked_weights(self.weights, edges),
            "labels": None if self.labels is None else _checked_labels(self.labels, nodes),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, None if value is None else _frozen(value))

    @classmethod
    def sound(
        cls,
        offsets: Whole,
        targets: NDArray[np.int32],
        weights: NDArray[Any] | None = None,
        labels: NDArray[Any] | None = None,
    ) -> CsrGraph:
        """A graph whose maker answers for the arrays: they are neither checked nor copied."""
        graph = cls.__new__(cls)
        for name, value in (("offsets", offsets), ("targets", targets), ("weights", weights), ("labels", labels)):
            object.__setattr__(graph, name, None if value is None else _frozen(value))
        return graph

    @classmethod
    def from_edges(
        cls,
        sources: ArrayLike,
        targets: ArrayLike,
        weights: ArrayLike | None = None,
        nodes: int | None = None,
        *,
        labels: ArrayLike | None = None,
        threads: int | None = None,
    ) -> CsrGraph:
        """The graph of some edges. Those of a node keep the order in which they are given.

        Args:
            sources, targets: (m,) whole numbers from 0, the nodes that each edge leaves and leads to.
            weights: (m,) numbers, or None.
            nodes: how many there are; by default one more than the largest number that an edge names.
            labels: (n,) what users call the nodes.
            threads: CPU threads (default: all cores).

        Raises:
            GraphError: arrays of different lengths, a node or a weight that cannot be (it names the edge), or more than
                2^31 - 1 edges: for those, give the arrays of CSR to the constructor.
        """
        source, target = _whole(sources, "sources"), _whole(targets, "targets")
        if len(source) != len(target):
            raise GraphError(
                f"{counted(len(source), 'source')}, but {counted(len(target), 'target')}: there must be as many of each"
            )
        if len(source) > MOST:
            raise GraphError(f"{len(source)} edges are more than the {MOST} that can be sorted")
        if nodes is None:
            nodes = 1 + max(int(source.max(initial=-1)), int(target.max(initial=-1)))
        nodes = _checked_nodes(nodes)
        _check_ends(source, nodes, "leaves")
        _check_ends(target, nodes, "leads to")
        weight = None if weights is None else checked_weights(weights, len(source))
        rows = rows_of_edges(
            np.ascontiguousarray(source, np.int32), np.ascontiguousarray(target, np.int32), weight, nodes, threads
        )
        return cls.sound(*rows, labels=None if labels is None else _checked_labels(labels, nodes))

    @classmethod
    def from_scipy(cls, matrix: Any, *, weighted: bool = True) -> CsrGraph:
        """The graph of a sparse adjacency matrix: an edge i -> j for each entry (i, j) that is stored.

        Entries are weights, also those that are stored as 0. Entries of the same place are several edges. Those of a
        row keep their order.

        Args:
            matrix: a square sparse matrix or array of scipy's, in any format.
            weighted: whether the entries are weights; those of a boolean matrix never are.

        Raises:
            GraphError: it is not square, or has an entry that is no weight.
        """
        from scipy.sparse import issparse

        if not issparse(matrix):
            raise GraphError(f"an adjacency matrix must be a sparse matrix or array of scipy's, not {type(matrix)}")
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"an adjacency matrix must be square, not of shape {tuple(matrix.shape)}")
        data = None
        if matrix.format != "csr":  # scipy adds up entries of the same place when it makes rows of them; we do not
            matrix = matrix.tocoo()
            data = matrix.data if weighted and matrix.dtype != np.bool_ else None
            return cls.from_edges(matrix.row, matrix.col, data, matrix.shape[0])
        if weighted and matrix.dtype != np.bool_:
            data = matrix.data[: matrix.indptr[-1]]
        return cls(matrix.indptr, matrix.indices[: matrix.indptr[-1]], data)

    @classmethod
    def from_networkx(cls, graph: Any, *, weight: str | None = "weight") -> CsrGraph:
        """The graph of networkx's: directed or not, with several edges between the same nodes or not.

        Its nodes get the numbers 0, 1, ... in its order; what it calls them is kept as `labels`. An edge without
        direction becomes two; a self loop stays one.

        Args:
            graph: networkx's graph.
            weight: the attribute of an edge that is its weight, 1 where an edge has none. Where no edge has it, the
                graph has no weights; nor with None.

        Raises:
            GraphError: a weight that cannot be.
            WrongTypeError: it is no graph of networkx's.
        """
        if not hasattr(graph, "is_directed"):
            raise WrongTypeError(f"graph must be a graph of networkx's, not {type(graph).__name__}")
        names = list(graph.nodes)
        number = {name: k for k, name in enumerate(names)}
        edges = list(graph.edges(data=weight, default=None) if weight is not None else graph.edges(data=False))
        sources = np.array([number[edge[0]] for edge in edges], np.int64)
        targets = np.array([number[edge[1]] for edge in edges], np.int64)
        weights = None
        if weight is not None and any(edge[2] is not None for edge in edges):
            weights = np.array([1 if edge[2] is None else edge[2] for edge in edges])
        if not graph.is_directed():
            back = sources != targets
            sources, targets = np.concatenate([sources, targets[back]]), np.concatenate([targets, sources[back]])
            weights = None if weights is None else np.concatenate([weights, weights[back]])
        plain = all(name == k and isinstance(name, int) for k, name in enumerate(names))
        return cls.from_edges(sources, targets, weights, len(names), labels=None if plain else _names(names))

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.targets)

    @cached_property
    def out_degrees(self) -> Whole:
        """(n,), of the dtype of `offsets`: how many edges leave each node."""
        return _frozen(np.diff(self.offsets))

    def sources(self) -> NDArray[np.int32]:
        """(m,) int32: the node that each edge leaves."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), self.out_degrees)

    def reversed(self) -> CsrGraph:
        """The graph with all edges turned round, kept once it was made; the edges of a node come by their sources."""
        return self._reversed

    @cached_property
    def _reversed(self) -> CsrGraph:
        if self.edges > MOST:
            raise GraphError(f"{self.edges} edges are more than the {MOST} that can be sorted")
        rows = rows_of_edges(self.targets, self.sources(), self.weights, self.nodes)
        return CsrGraph.sound(*rows, labels=self.labels)

    def with_sorted_rows(self) -> CsrGraph:
        """The same graph with the edges of each node by their targets, which traversals find sooner in their caches.

        Edges to the same target keep their order. Where edges were in no order before, a search may take half the time.
        """
        return self.reversed().reversed()

    def symmetrised(self) -> CsrGraph:
        """The graph with every edge in both directions, with the same weight; a self loop stays one edge.

        Edges that had their opposite before are there twice. Those of a node come as they were, then turned round.

        Raises:
            GraphError: more than 2^31 - 1 edges would come out.
        """
        sources, targets, weights = self.sources(), self.targets, self.weights
        turned = sources != targets
        return CsrGraph.from_edges(
            np.concatenate([sources, targets[turned]]),
            np.concatenate([targets, sources[turned]]),
            None if weights is None else np.concatenate([weights, weights[turned]]),
            self.nodes,
            labels=self.labels,
        )

    def to_scipy(self) -> Any:
        """The adjacency matrix as scipy's `csr_array`, of copies; entries are 1 where there are no weights.

        Entries of weight 0 and entries of the same place stay as they are; scipy's own functions may add those up.
        """
        from scipy.sparse import csr_array

        data = np.ones(self.edges, np.int32) if self.weights is None else self.weights.copy()
        return csr_array((data, self.targets.copy(), self.offsets.copy()), shape=(self.nodes, self.nodes))

    def node_of(self, label: int | str) -> int:
        """The number of the node that users call `label`.

        Raises:
            GraphError: there is no such node.
        """
        if self.labels is None:
            node = whole("label", label) if not isinstance(label, str) else -1
            if 0 <= node < self.nodes:
                return node
            raise GraphError(f"the graph has no node {label}: {numbered(self.nodes, 'node')}")
        found = np.flatnonzero(self.labels == label)
        if len(found) == 0:
            raise GraphError(f"the graph has no node {label}: {self._called()}")
        return int(found[0])

    def _called(self) -> str:
        """What the nodes are called, where that is not 0 to n - 1."""
        if self.labels is None or not self.nodes:
            return "there are no nodes"
        if self.nodes == 1:
            return f"its only node is {self.labels[0]}"
        if self.labels.dtype.kind != "i":
            return f"its {self.nodes} nodes are called by names, the first one {self.labels[0]}"
        return f"the numbers of its {self.nodes} nodes have gaps, from {self.labels.min()} to {self.labels.max()}"

    def __repr__(self) -> str:
        kind = "no weights" if self.weights is None else f"weights of {self.weights.dtype}"
        return f"CsrGraph({counted(self.nodes, 'node')}, {counted(self.edges, 'edge')}, {kind})"


def checked_weights(values: ArrayLike, edges: int) -> NDArray[Any]:
    """A copy of weights as int32, int64 or float64.

    Raises:
        GraphError: not one an edge, or one that cannot be; it names the edge.
    """
    given = as_array(values, "weights")
    if given.shape != (edges,):
        raise GraphError(f"weights must have shape ({edges},), one an edge, not {given.shape}")
    if edges == 0 and given.dtype.kind not in "iuf":
        given = given.astype(np.int32)
    if given.dtype.kind == "b" or given.dtype.kind not in "iuf":
        raise GraphError(f"weights must be whole or real numbers, not {given.dtype}")
    if given.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            sound = edges == 0 or (np.isfinite(given.max()) and given.min() >= 0)
        if not sound:
            index = int(np.flatnonzero(~(np.isfinite(given) & (given >= 0)))[0])
            raise GraphError(_weight_fault(given[index]), "edge", index)
        weights = given.astype(np.float64)
        if not np.isfinite(weights.max(initial=0)):  # a long double
            raise GraphError("has a weight beyond float64", "edge", int(np.flatnonzero(~np.isfinite(weights))[0]))
        return weights + 0.0  # -0.0 becomes 0.0
    low, high = int(given.min(initial=0)), int(given.max(initial=0))
    if low < 0 or high > 2**63 - 1:
        index = int(np.flatnonzero((given < 0) | (given > 2**63 - 1))[0])
        raise GraphError(_weight_fault(given[index]), "edge", index)
    return given.astype(np.int32 if high <= MOST else np.int64)


def _weight_fault(weight: Any) -> str:
    if weight < 0:
        return f"has the negative weight {weight}; distances need weights from 0"
    kind = "above 2^63 - 1" if isinstance(weight, np.integer) else "which is not finite"
    return f"has the weight {weight}, {kind}"


def _whole(values: ArrayLike, name: str) -> Whole:
    array = as_array(values, name)
    if array.size == 0 and array.ndim == 1 and array.dtype.kind == "f":
        array = array.astype(np.int32)  # an empty list
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise GraphError(
            f"{name} must be a list of whole numbers, not an array of {array.dtype} of shape {array.shape}"
        )
    return array


def _check_offsets(offsets: Whole, edges: int) -> None:
    if len(offsets) == 0:
        raise GraphError("offsets must have one number more than there are nodes: at least a 0")
    _checked_nodes(len(offsets) - 1)
    if offsets[0] != 0:
        raise GraphError(f"offsets must begin with 0, not {offsets[0]}")
    falls = offsets[1:] < offsets[:-1]
    if falls.any():
        node = int(np.flatnonzero(falls)[0])
        raise GraphError(f"its edges end at {offsets[node + 1]}, before they begin at {offsets[node]}", "node", node)
    if offsets[-1] != edges:
        raise GraphError(
            f"offsets end with {offsets[-1]}, but with {counted(edges, 'target')} they must end with {edges}"
        )


def _checked_nodes(nodes: int) -> int:
    nodes = whole("nodes", nodes)
    if not 0 <= nodes <= MOST:
        raise GraphError(f"a graph has 0 to {MOST} nodes, not {nodes}")
    return nodes


def _check_ends(ends: Whole, nodes: int, verb: str) -> None:
    if len(ends) == 0 or (ends.min() >= 0 and ends.max() < nodes):
        return
    index = int(np.flatnonzero((ends < 0) | (ends >= nodes))[0])
    raise GraphError(f"{verb} node {ends[index]}, but {numbered(nodes, 'node')}", "edge", index)


def _checked_labels(values: ArrayLike, nodes: int) -> NDArray[Any]:
    labels = as_array(values, "labels")
    if labels.shape != (nodes,):
        raise GraphError(f"labels must have shape ({nodes},), one a node, not {labels.shape}")
    if labels.dtype.kind in "iu":
        if labels.max(initial=0) > 2**63 - 1:
            raise GraphError(f"has the label {labels.max()}, above 2^63 - 1", "node", int(labels.argmax()))
        labels = labels.astype(np.int64)
    elif labels.dtype.kind not in "UO":
        raise GraphError(f"labels must be whole numbers or strings, not {labels.dtype}")
    if len(set(labels.tolist()) if labels.dtype.kind == "O" else np.unique(labels)) != nodes:
        raise GraphError("labels must differ: two nodes have the same")
    return labels.copy()


def _names(names: list[Any]) -> NDArray[Any]:
    """Labels out of networkx's names: whole numbers, strings, or objects of any other kind."""
    if all(type(name) is int for name in names) and all(-(2**63) <= name < 2**63 for name in names):
        return np.array(names, np.int64)
    if all(isinstance(name, str) for name in names):
        return np.array(names)
    labels = np.empty(len(names), object)
    for k, name in enumerate(names):  # a tuple is one name
        labels[k] = name
    return labels


def _copied(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    return np.array(array, dtype, order="C")


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
