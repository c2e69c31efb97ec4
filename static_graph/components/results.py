"""The result of a search for components."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import shortened, whole_option
from dmr.common.cached import cached_property
from dmr.common.frozen import frozen
from dmr.common.text import counted, numbered
from static_graph.common.arrays import as_whole
from static_graph.common.pieces import bounds
from static_graph.common.results import checked_count, checked_mapping, checked_name
from static_graph.errors import GraphError
from static_graph.graph.labels import NodeResult, checked_labels

NAMES = ("connection", "method", "balance", "device")
COUNTS = ("threads", "rounds")


@dataclass(frozen=True, eq=False)
class Components(NodeResult):
    """Connected components, and statistics of the run. The arrays are read-only, also in copies and pickles.

    Attributes:
        labels: (n,) int32: the label of each node's component, which is the smallest node in it.
        connection: "weak" or "strong".
        method: the method; balance: how edges are distributed over threads.
        seconds: per phase: "upload" (if the graph was not on the device), "prepare" (data that the method keeps with
            the graph), the method's steps, "download".
        figures: method-specific numbers, which may depend on the order of the threads.
        rounds: number of rounds of the method; it may depend on the device and on the order of its threads, too.
        device: the device; threads: CPU threads, 0 on a GPU.
        node_labels: (n,) the labels of the graph's nodes, other than those of the components; None if the numbers of
            the nodes are their labels.
    """

    # The report of a run, as in `Traversal`; fields without defaults come first, so a base class cannot hold them.
    labels: NDArray[np.int32]
    connection: str
    method: str
    balance: str
    device: str
    threads: int
    rounds: int
    seconds: dict[str, float]
    figures: dict[str, int]
    node_labels: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        given = as_whole(self.labels, "labels")
        low, high = bounds(given)
        if low < 0 or high >= len(given):
            raise GraphError(f"labels are nodes of the graph, {numbered(len(given), 'node')}, not {low} to {high}")
        labels = given.astype(np.int32)
        if not (np.array_equal(labels[labels], labels) and (labels <= np.arange(len(labels))).all()):
            raise GraphError("a label is the smallest node of its component")
        self._set(
            labels=labels,
            node_labels=None if self.node_labels is None else checked_labels(self.node_labels, len(labels)),
            **{name: checked_name(name, getattr(self, name)) for name in NAMES},
            **{name: checked_count(name, getattr(self, name)) for name in COUNTS},
            **{name: checked_mapping(name, getattr(self, name)) for name in ("seconds", "figures")},
        )

    def of(self, label: Hashable) -> int:
        """Returns the label of the component of a node, as in `labels`.

        Args:
            label: the label of the node in the graph.

        Raises:
            GraphError: there is no such node. WrongTypeError: a label cannot have this type.
        """
        return int(self.labels[self._node(label)])

    @cached_property
    def component_labels(self) -> NDArray[np.int32]:
        """The labels of the components in ascending order, (count,) int32."""
        nodes = np.arange(len(self.labels), dtype=np.int32)
        return frozen(nodes[self.labels == nodes])

    @property
    def count(self) -> int:
        """Number of components."""
        return len(self.component_labels)

    @cached_property
    def _numbers(self) -> NDArray[np.int32]:
        places = np.zeros(len(self.labels), np.int32)
        places[self.component_labels] = np.arange(self.count, dtype=np.int32)
        return frozen(places[self.labels])

    def numbers(self) -> NDArray[np.int32]:
        """Returns the number of each node's component, (n,) int32: k for the k-th smallest label."""
        return self._numbers

    def sizes(self) -> NDArray[np.int64]:
        """Returns the number of nodes of each component, (count,) int64, in the order of `component_labels`."""
        return np.bincount(self._numbers, minlength=self.count)

    def largest(self) -> int:
        """Returns the label of the largest component, of several the smallest label.

        Raises:
            GraphError: the graph has no nodes.
        """
        if not self.count:
            raise GraphError("a graph without nodes has no largest component")
        return int(self.component_labels[self.sizes().argmax()])

    def members(self, label: int) -> NDArray[np.int32]:
        """Returns the nodes of a component in ascending order, (k,) int32.

        Args:
            label: the label of the component: its smallest node.

        Raises:
            GraphError: there is no such component. WrongTypeError: `label` is not an integer.
        """
        node, nodes = whole_option("label", label), len(self.labels)
        if not 0 <= node < nodes:
            raise GraphError(f"there is no node {shortened(node)}: {numbered(nodes, 'node')}")
        if self.labels[node] != node:
            raise GraphError(f"{node} is not a label: node {node} is in the component {self.labels[node]}")
        return np.flatnonzero(self.labels == node).astype(np.int32)

    def _nodes(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        nodes = counted(len(self.labels), "node")
        return f"Components({counted(self.count, f'{self.connection} component')} of {nodes}, {self.method})"
