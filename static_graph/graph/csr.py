"""The public graph type: an immutable graph in compressed sparse rows (CSR; thesis, figure 4.1)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import shortened, switch, whole_option
from dmr.common.available import require_memory
from dmr.common.cached import cached_property
from dmr.common.frozen import freeze, frozen
from dmr.common.text import counted, numbered
from static_graph.common.arrays import as_whole
from static_graph.common.memory_estimates import from_edges_bytes, graph_bytes, reversed_bytes, symmetrised_bytes
from static_graph.common.pieces import PIECE, pieces
from static_graph.errors import GraphError
from static_graph.graph.building import rows_of_edges
from static_graph.graph.checks import (
    MOST,
    Whole,
    check_ends,
    check_offsets,
    checked_copy,
    checked_nodes,
    checked_weights,
)
from static_graph.graph.conversions import build_networkx, plain, read_matrix, read_networkx
from static_graph.graph.labels import as_labels, checked_labels, find_node, number_by_label


@dataclass(frozen=True, eq=False)
class CsrGraph:
    """A directed graph. Its arrays are checked copies and read-only; the same holds for copies and pickles of it.

    ::

        offsets  0   2   3   3           The edges that leave node v have the indices offsets[v] (included) to
                 |   |   |   |           offsets[v + 1] (excluded); they lead to targets[...] with weights[...].
        targets  1 2 | 2 |   |           Here: 0 -> 1, 0 -> 2, 1 -> 2, and none from node 2.

    Self loops, parallel edges, zero weights and isolated nodes are allowed. An undirected graph has each edge in both
    directions.

    Attributes:
        offsets: (n + 1,) int32, or int64 for more than 2^31 - 1 edges.
        targets: (m,) int32.
        weights: (m,) int32 if integers fit, otherwise int64; float64 for other numbers. Weights are finite and not
            negative. None for a graph without weights.
        labels: (n,) the users' names of the nodes, if these are not 0 to n - 1; otherwise None. Labels are int64,
            strings, or hashable Python objects (such as the tuples of networkx's grids), which files cannot hold. They
            are unique.

    Raises:
        GraphError: a wrong shape or dtype, an index out of range, or an invalid weight; the error names the edge.
    """

    offsets: Whole
    targets: NDArray[np.int32]
    weights: NDArray[Any] | None = None
    labels: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        offsets, targets = as_whole(self.offsets, "offsets"), as_whole(self.targets, "targets")
        nodes, edges = len(offsets) - 1, len(targets)
        require_memory(graph_bytes(nodes, edges, self.weights is not None), "a copy of the graph's arrays")
        fields = {
            "offsets": checked_copy(offsets, np.int32 if edges <= MOST else np.int64, check_offsets, edges),
            "targets": checked_copy(targets, np.int32, check_ends, nodes, "leads to"),
            "weights": None if self.weights is None else checked_weights(self.weights, edges),
            "labels": None if self.labels is None else checked_labels(self.labels, nodes),
        }
        freeze(self, fields)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and unpickled graphs go through the constructor: they are checked and frozen, as any other graph.
        return type(self), (self.offsets, self.targets, self.weights, self.labels)

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
        """Builds a graph from edges. The edges of each node keep the given order.

        Args:
            sources, targets: (m,) integers from 0: the node that each edge leaves, and the node that it leads to.
            weights: (m,) numbers, or None.
            nodes: number of nodes (default: one more than the largest number in `sources` and `targets`).
            labels: (n,) the users' names of the nodes.
            threads: CPU threads (default: all cores).

        Raises:
            GraphError: arrays of different lengths, an invalid node or weight (the error names the edge), or more than
                2^31 - 1 edges; for more edges, pass CSR arrays to the constructor.
        """
        source, target = as_whole(sources, "sources"), as_whole(targets, "targets")
        if len(source) != len(target):
            raise GraphError(
                f"{counted(len(source), 'source')}, but {counted(len(target), 'target')}: their numbers must be equal"
            )
        if len(source) > MOST:
            raise GraphError(f"{len(source)} edges are more than the {MOST} that can be sorted")
        if nodes is None:
            nodes = 1 + max(int(ends.max()) for ends in (source, target)) if len(source) else 0
        nodes = checked_nodes(nodes)
        need = from_edges_bytes(nodes, len(source), weights is not None)
        require_memory(need, f"a graph of {counted(nodes, 'node')} and {counted(len(source), 'edge')}")
        leaving = checked_copy(source, np.int32, check_ends, nodes, "leaves")
        reached = checked_copy(target, np.int32, check_ends, nodes, "leads to")
        weight = None if weights is None else checked_weights(weights, len(source))
        names = None if labels is None else checked_labels(labels, nodes)
        return unchecked_graph(*rows_of_edges(leaving, reached, weight, nodes, threads), labels=names)

    @classmethod
    def from_scipy(cls, matrix: Any, *, weighted: bool = True) -> CsrGraph:
        """Builds a graph from a sparse adjacency matrix: an edge i -> j for each stored entry (i, j).

        Entries are weights, including stored zeros. Duplicate entries become parallel edges. The entries of a row keep
        their order.

        Args:
            matrix: a square scipy sparse matrix or array, in any format.
            weighted: whether the entries are weights; those of a boolean matrix never are.

        Raises:
            GraphError: the matrix is not square, or has an entry that is not a valid weight.
        """
        source, target, data, nodes, is_csr = read_matrix(matrix, switch("weighted", weighted))
        return cls(source, target, data) if is_csr else cls.from_edges(source, target, data, nodes)

    @classmethod
    def from_networkx(cls, graph: Any, *, weight: Hashable | None = "weight") -> CsrGraph:
        """Converts a networkx graph or multigraph, directed or undirected.

        The nodes are numbered 0, 1, ... in the order of networkx; their names are kept as `labels`. The edges of each
        node keep the order of networkx, too. An undirected edge becomes two edges; a self loop stays one.

        Args:
            graph: the networkx graph.
            weight: the edge attribute that holds the weight (1 for edges without it). If no edge has the attribute, or
                `weight` is None, the graph has no weights.

        Raises:
            GraphError: a weight is invalid.
            WrongTypeError: `graph` is not a networkx graph.
        """
        offsets, targets, weights, names = read_networkx(graph, weight)
        return cls(offsets, targets, weights, None if plain(names) else as_labels(names))

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        """Number of edges."""
        return len(self.targets)

    @cached_property
    def out_degrees(self) -> Whole:
        """Number of edges that leave each node, (n,), with the dtype of `offsets`."""
        return frozen(np.diff(self.offsets))

    @cached_property
    def in_degrees(self) -> Whole:
        """Number of edges that lead to each node, (n,), with the dtype of `offsets`."""
        degrees = np.zeros(self.nodes, np.int64)
        for part in pieces(self.edges):
            degrees += np.bincount(self.targets[part], minlength=self.nodes)
        return frozen(degrees.astype(self.offsets.dtype))

    def neighbors(self, node: int) -> NDArray[np.int32]:
        """Returns the nodes to which the edges of a node lead, (out-degree,) int32, with repetitions, in their order.

        Args:
            node: the number of the node; `node_of` finds it by label.

        Raises:
            GraphError: there is no such node.
            WrongTypeError: `node` is not an integer.
        """
        node = whole_option("node", node, "a node's number (graph.node_of finds it by label)")
        if not 0 <= node < self.nodes:
            raise GraphError(f"there is no node {shortened(node)}: {numbered(self.nodes, 'node')}")
        return self.targets[self.offsets[node] : self.offsets[node + 1]]

    def sources(self) -> NDArray[np.int32]:
        """Returns the node that each edge leaves, (m,) int32."""
        sources = np.empty(self.edges, np.int32)
        # Pieces have few nodes and few edges; a node with many edges forms a piece alone.
        cuts = np.searchsorted(self.offsets, np.arange(0, self.edges, PIECE)) if self.edges else np.empty(0, np.intp)
        edges = np.union1d(np.append(cuts, self.nodes), np.arange(0, self.nodes, PIECE))
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            first, last = int(self.offsets[begin]), int(self.offsets[end])
            sources[first:last] = np.repeat(np.arange(begin, end, dtype=np.int32), self.out_degrees[begin:end])
        return sources

    def reversed(self) -> CsrGraph:
        """Returns the transposed graph, cached after the first call; edges of a node are ordered by original source."""
        return self._reversed

    @cached_property
    def _reversed(self) -> CsrGraph:
        if self.edges > MOST:
            raise GraphError(f"{self.edges} edges are more than the {MOST} that can be sorted")
        require_memory(reversed_bytes(self.nodes, self.edges, self.weights is not None), "the reversed graph")
        rows = rows_of_edges(self.targets, self.sources(), self.weights, self.nodes)
        return unchecked_graph(*rows, labels=self.labels)

    def with_sorted_rows(self) -> CsrGraph:
        """Returns the same graph with the edges of each node sorted by target, for better cache locality of traversals.

        Edges to the same target keep their order. If the edges were unordered before, a search may take half the time.
        """
        return self.reversed().reversed()

    def symmetrised(self) -> CsrGraph:
        """Returns the graph with every edge in both directions, with the same weight; a self loop stays one edge.

        An edge whose opposite existed before appears twice. The original edges of a node precede the reversed ones.

        Raises:
            GraphError: the result would have more than 2^31 - 1 edges.
        """
        require_memory(symmetrised_bytes(self.nodes, self.edges, self.weights is not None), "the symmetrised graph")
        sources, targets, weights = self.sources(), self.targets, self.weights
        transposed = sources != targets
        return CsrGraph.from_edges(
            np.concatenate([sources, targets[transposed]]),
            np.concatenate([targets, sources[transposed]]),
            None if weights is None else np.concatenate([weights, weights[transposed]]),
            self.nodes,
            labels=self.labels,
        )

    def to_scipy(self) -> Any:
        """Returns the adjacency matrix as a scipy `csr_array` with copied arrays; without weights, entries are 1.

        Stored zeros and duplicate entries are kept; scipy's functions may add up the duplicates.
        """
        from scipy.sparse import csr_array

        data = np.ones(self.edges, np.int32) if self.weights is None else self.weights.copy()
        return csr_array((data, self.targets.copy(), self.offsets.copy()), shape=(self.nodes, self.nodes))

    def to_networkx(self, create_using: Any = None, *, weight: Hashable = "weight") -> Any:
        """Converts the graph to a networkx graph, whose nodes are the labels, or 0 to n - 1.

        Args:
            create_using: the class of the result (default: `networkx.DiGraph`). `networkx.MultiDiGraph` and
                `networkx.MultiGraph` keep parallel edges. Of an undirected graph, each edge must be there in both
                directions, with the same weight; a self loop once.
            weight: the edge attribute for the weights; graphs without weights get no attribute.

        Raises:
            GraphError: the class cannot represent the graph; the error names an edge.
            WrongTypeError: `create_using` is not a class of networkx graphs.
        """
        names = range(self.nodes) if self.labels is None else self.labels.tolist()
        return build_networkx((self.sources(), self.targets), self.weights, names, create_using, weight)

    def node_of(self, label: Hashable) -> int:
        """Returns the number of the node with the given label: an int, a string, a tuple or another object.

        Raises:
            GraphError: there is no such node.
            WrongTypeError: a label cannot have this type.
        """
        return find_node(label, self.nodes, self.labels, self._numbers)

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        """The nodes by label, if labels are Python objects."""
        return {} if self.labels is None or self.labels.dtype.kind != "O" else number_by_label(self.labels)

    def __repr__(self) -> str:
        kind = "no weights" if self.weights is None else f"weights of {self.weights.dtype}"
        return f"CsrGraph({counted(self.nodes, 'node')}, {counted(self.edges, 'edge')}, {kind})"


def unchecked_graph(
    offsets: Whole,
    targets: NDArray[np.int32],
    weights: NDArray[Any] | None = None,
    labels: NDArray[Any] | None = None,
) -> CsrGraph:
    """Makes a graph, without checks or copies, from arrays that are known to be valid and have no other owner."""
    graph = CsrGraph.__new__(CsrGraph)
    freeze(graph, {"offsets": offsets, "targets": targets, "weights": weights, "labels": labels})
    return graph
