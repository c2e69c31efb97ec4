"""The value object that users hold: a graph as compressed sparse rows (CSR; thesis, figure 4.1)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.memory import cached_property, freeze, frozen, require_memory
from static_graph.building import rows_of_edges
from static_graph.conversions import plain, read_matrix, read_networkx
from static_graph.errors import GraphError
from static_graph.graph_checks import (
    MOST,
    Whole,
    as_whole,
    check_ends,
    check_offsets,
    checked_copy,
    checked_nodes,
    checked_weights,
)
from static_graph.labels import as_labels, checked_labels, find_node, number_by_label
from static_graph.options import flag
from static_graph.pieces import PIECE
from static_graph.sizes import from_edges_bytes, graph_bytes, reversed_bytes, symmetrised_bytes
from static_graph.wording import counted


@dataclass(frozen=True, eq=False)
class CsrGraph:
    """A directed graph. The arrays are checked, copied and read-only; so are those of its copies and pickles.

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
        labels: (n,) what users call the nodes, where that is not 0 to n - 1; else None. int64, strings, or hashable
            objects of Python (such as the tuples of networkx's grids), which files cannot hold. No two nodes have the
            same.

    Raises:
        GraphError: a wrong shape or dtype, an index out of range, a weight that cannot be; it names the edge.
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
        # Copies and what is read from a pickle are made by the constructor: checked and frozen, as any other graph.
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
        source, target = as_whole(sources, "sources"), as_whole(targets, "targets")
        if len(source) != len(target):
            raise GraphError(
                f"{counted(len(source), 'source')}, but {counted(len(target), 'target')}: there must be as many of each"
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
        """The graph of a sparse adjacency matrix: an edge i -> j for each entry (i, j) that is stored.

        Entries are weights, also those that are stored as 0. Entries of the same place are several edges. Those of a
        row keep their order.

        Args:
            matrix: a square sparse matrix or array of scipy's, in any format.
            weighted: whether the entries are weights; those of a boolean matrix never are.

        Raises:
            GraphError: it is not square, or has an entry that is no weight.
        """
        source, target, data, nodes, is_csr = read_matrix(matrix, flag("weighted", weighted))
        return cls(source, target, data) if is_csr else cls.from_edges(source, target, data, nodes)

    @classmethod
    def from_networkx(cls, graph: Any, *, weight: Hashable | None = "weight") -> CsrGraph:
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
        sources, targets, weights, names = read_networkx(graph, weight)
        return cls.from_edges(sources, targets, weights, len(names), labels=None if plain(names) else as_labels(names))

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
        return frozen(np.diff(self.offsets))

    def sources(self) -> NDArray[np.int32]:
        """(m,) int32: the node that each edge leaves."""
        sources = np.empty(self.edges, np.int32)
        # Cut into pieces of few nodes, and of few edges: a node of many edges is a piece of its own.
        cuts = np.searchsorted(self.offsets, np.arange(0, self.edges, PIECE)) if self.edges else np.empty(0, np.intp)
        edges = np.union1d(np.append(cuts, self.nodes), np.arange(0, self.nodes, PIECE))
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            first, last = int(self.offsets[begin]), int(self.offsets[end])
            sources[first:last] = np.repeat(np.arange(begin, end, dtype=np.int32), self.out_degrees[begin:end])
        return sources

    def reversed(self) -> CsrGraph:
        """The graph with all edges turned round, kept once it was made; the edges of a node come by their sources."""
        return self._reversed

    @cached_property
    def _reversed(self) -> CsrGraph:
        if self.edges > MOST:
            raise GraphError(f"{self.edges} edges are more than the {MOST} that can be sorted")
        require_memory(reversed_bytes(self.nodes, self.edges, self.weights is not None), "the reversed graph")
        rows = rows_of_edges(self.targets, self.sources(), self.weights, self.nodes)
        return unchecked_graph(*rows, labels=self.labels)

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
        require_memory(symmetrised_bytes(self.nodes, self.edges, self.weights is not None), "the symmetrised graph")
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

    def node_of(self, label: Hashable) -> int:
        """The number of the node that users call `label`: an int, a string, a tuple, or whatever labels there are.

        Raises:
            GraphError: there is no such node.
            WrongTypeError: nothing of that kind can be a label.
        """
        return find_node(label, self.nodes, self.labels, self._numbers)

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        """The nodes by label, where labels are objects of Python."""
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
    """A graph of arrays that are known to be valid, and that nobody else holds: they are neither checked nor copied."""
    graph = CsrGraph.__new__(CsrGraph)
    freeze(graph, {"offsets": offsets, "targets": targets, "weights": weights, "labels": labels})
    return graph
