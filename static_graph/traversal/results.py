"""The result of a traversal."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import shortened, whole_option
from dmr.common.text import numbered
from static_graph.common.arrays import as_array, as_whole, described
from static_graph.common.pieces import bounds
from static_graph.common.results import checked_count, checked_mapping, checked_name
from static_graph.errors import GraphError, OptionError, WrongTypeError
from static_graph.graph.labels import NodeResult, checked_labels

COUNTS = ("threads", "rounds", "edges_followed", "launches")


@dataclass(frozen=True, eq=False)
class Traversal(NodeResult):
    """Distances from the sources, and statistics of the run. The arrays are read-only, also in copies and pickles.

    Attributes:
        distances: (n,) from the nearest source. For `bfs`: number of edges, int32, -1 for unreached nodes. For `sssp`:
            sum of the weights, int64 with -1, or float64 with inf, for unreached nodes.
        parents: (n,) int32: the predecessor of each node on a shortest path, -1 at sources and unreached nodes; None if
            not requested.
        order: (reached,) int32: the reached nodes in the order of a sequential breadth-first search; None if not
            requested.
        sources: the sources.
        balance: the scheme; device: the device; threads: CPU threads, 0 on a GPU.
        rounds: number of rounds of the scheme, such as levels.
        edges_followed: number of edges examined, with repetitions.
        launches: number of kernel launches in the rounds.
        seconds: per phase: "upload" (if the graph was not on the device), "prepare" (on the first traversal: data that
            the scheme needs and keeps with the graph), "rounds", "parents", "download".
        on_device: with keep_on_device, the arrays (`DeviceArray`) "distances" and, if requested, "parents"; the fields
            of these names are then downloaded when they are first read. Otherwise empty.
        figures: scheme-specific numbers: extra nodes of a split, children that ran, ...
        node_labels: (n,) the labels of the graph's nodes; None if their numbers are the labels.
    """

    distances: NDArray[Any]
    parents: NDArray[np.int32] | None
    sources: tuple[int, ...]
    balance: str
    device: str
    threads: int
    rounds: int
    edges_followed: int
    launches: int
    seconds: dict[str, float]
    figures: dict[str, int]
    # A factory, because a default would be an attribute of the class and hide an array that is frozen when it is read.
    order: NDArray[np.int32] | None = field(default_factory=lambda: None)
    node_labels: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        distances = np.array(as_array(self.distances, "distances"))
        if distances.ndim != 1 or distances.dtype not in (np.int32, np.int64, np.float64):
            raise GraphError(f"distances are int32, int64 or float64 in a row, not {described(distances)}")
        parents = None
        if self.parents is not None:
            given = as_whole(self.parents, "parents")
            low, high = bounds(given)
            if len(given) != len(distances) or low < -1 or high >= len(given):
                raise GraphError(f"parents are one node, or -1, for each of the {len(distances)} distances")
            parents = given.astype(np.int32)
        order = None if self.order is None else _checked_order(self.order, len(distances))
        if not isinstance(self.sources, (tuple, list)):
            raise WrongTypeError(f"sources = {shortened(self.sources)}: they must be a tuple of nodes")
        self._set(
            distances=distances,
            parents=parents,
            order=order,
            node_labels=None if self.node_labels is None else checked_labels(self.node_labels, len(distances)),
            sources=tuple(whole_option("source", node) for node in self.sources),
            **{name: checked_name(name, getattr(self, name)) for name in ("balance", "device")},
            **{name: checked_count(name, getattr(self, name)) for name in COUNTS},
            **{name: checked_mapping(name, getattr(self, name)) for name in ("seconds", "figures")},
        )

    def reached(self) -> NDArray[np.bool_]:
        """Returns which nodes are reached, (n,) bool."""
        real = self.distances.dtype == np.float64
        found: NDArray[np.bool_] = np.isfinite(self.distances) if real else self.distances >= 0
        return found

    def of(self, label: Hashable) -> int | float:
        """Returns the distance of the node with a label, as in `distances`.

        Raises:
            GraphError: there is no such node. WrongTypeError: a label cannot have this type.
        """
        distance: int | float = self.distances[self._node(label)].item()
        return distance

    def path_to(self, node: Hashable | None = None, *, label: Hashable | None = None) -> NDArray[Any] | None:
        """Returns a shortest path to a node.

        Args:
            node: the end of the path: a node's number, or its label if that is not an integer.
            label: the label of the end, instead of `node`.

        Returns:
            (k,) the nodes from a source to the end, both included: numbers (int32) if the end is given by its number,
            otherwise labels. None if the end is not reached.

        Raises:
            OptionError: parents were not requested; neither or both of the arguments are given; or a label cannot have
                this type (WrongTypeError).
            GraphError: there is no such node.
        """
        if self.parents is None:
            raise OptionError("paths follow the parents: ask for them with parents=True")
        if (node is None) is (label is None):
            raise OptionError("path_to needs a node's number, or a label")
        if isinstance(node, int | np.integer) or (label is None and self.node_labels is None):
            return self._path(whole_option("node", node))
        path = self._path(self._node(node if label is None else label))
        return None if path is None else self.labels_of(path)

    def _path(self, node: int) -> NDArray[np.int32] | None:
        assert self.parents is not None
        nodes = len(self.parents)
        if not 0 <= node < nodes:
            raise GraphError(f"there is no node {shortened(node)}: {numbered(nodes, 'node')}")
        if not self.reached()[node]:
            return None
        path: list[int] = []
        at = node
        while at >= 0:
            if len(path) == nodes:
                raise GraphError(f"the parents of node {node} form a cycle")
            path.append(at)
            at = int(self.parents[at])
        return np.array(path[::-1], np.int32)

    def _nodes(self) -> int:
        return len(self.distances)

    def __repr__(self) -> str:
        count = np.count_nonzero(self.reached())
        return f"Traversal({count} of {len(self.distances)} nodes reached from {_few(self.sources)}, {self.balance})"


def _checked_order(order: ArrayLike, nodes: int) -> NDArray[np.int32]:
    """Checks that an order contains different nodes, and copies it."""
    given = as_whole(order, "order")
    low, high = bounds(given)
    if low < 0 or high >= nodes or np.bincount(given, minlength=1).max() > 1:
        raise GraphError(f"an order has different nodes, from 0 to {nodes - 1}")
    return given.astype(np.int32)


def _few(sources: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, sources[:3]))
    return shown if len(sources) <= 3 else f"{shown} and {len(sources) - 3} more"
