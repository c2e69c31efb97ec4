"""Labels: the users' names of a graph's nodes, if these are not 0 to n - 1.

Names that are all integers, or all strings, are stored as an array of int64 or strings. Other names, such as the tuples
of networkx's grids, are Python objects; they must be hashable, and cannot be written to files.

As the argument of a search, or of a path, an integer is a node's number; a parameter `label` is always a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import shortened, whole_option
from dmr.common.available import require_memory
from dmr.common.cached import cached_property
from dmr.common.text import numbered
from static_graph.common.arrays import as_array, as_whole
from static_graph.common.results import Result
from static_graph.errors import GraphError, WrongTypeError

BYTES_PER_CHARACTER = 4  # of numpy's strings, all of which have the length of the longest one


def checked_labels(values: ArrayLike | Sequence[Any], nodes: int) -> NDArray[Any]:
    """Copies labels to int64, strings or objects.

    Raises:
        GraphError: there is not one label per node, two labels are the same, or one is not hashable.
    """
    if isinstance(values, (list, tuple)) and any(isinstance(value, tuple) for value in values):
        labels = _objects(values)  # numpy would convert the tuples to rows
    else:
        labels = as_array(values, "labels")
    if labels.shape != (nodes,):
        raise GraphError(f"labels must have shape ({nodes},), one per node, not {labels.shape}")
    if labels.dtype.kind == "O":
        labels = as_labels(labels.tolist())
    elif labels.dtype.kind in "iu":
        if labels.max(initial=0) > 2**63 - 1:
            raise GraphError(f"has the label {labels.max()}, above 2^63 - 1", "node", int(labels.argmax()))
        labels = labels.astype(np.int64)
    elif labels.dtype.kind == "U":
        labels = np.array(labels, labels.dtype.newbyteorder("=")) if nodes else np.empty(0, np.int64)
    elif nodes == 0:
        labels = np.empty(0, np.int64)
    else:
        raise GraphError(f"labels must be whole numbers or strings, not {labels.dtype}")
    if _distinct(labels) != nodes:
        raise GraphError("labels must differ: two nodes have the same")
    return labels


def as_labels(names: Sequence[Any]) -> NDArray[Any]:
    """Converts names to labels: int64 or strings if all of them are, otherwise objects."""
    if all(type(name) is int for name in names) and all(-(2**63) <= name < 2**63 for name in names):
        return np.array(names, np.int64)
    if all(isinstance(name, str) and name[-1:] != "\0" for name in names):  # numpy drops zeros at the end of a string
        require_memory(BYTES_PER_CHARACTER * len(names) * max(map(len, names), default=0), "an array of labels")
        return np.array(names, np.str_)
    return _objects(names)


def number_by_label(labels: NDArray[Any]) -> dict[Any, int]:
    """Returns a dictionary from labels that are objects to nodes."""
    return {label: node for node, label in enumerate(labels.tolist())}


def find_node(label: Any, nodes: int, labels: NDArray[Any] | None, numbers: Mapping[Any, int]) -> int:
    """Returns the number of the node with a label.

    Args:
        label: the label.
        nodes: number of nodes.
        labels: the labels of all nodes; None if the numbers are the labels.
        numbers: the nodes by label, if labels are objects; otherwise unused.

    Raises:
        GraphError: there is no such node. WrongTypeError: a label cannot have this type.
    """
    if labels is not None and labels.dtype.kind == "O":
        try:
            node = numbers.get(label, -1)
        except Exception:  # not hashable
            raise WrongTypeError(f"label = {shortened(label)}: it must be hashable, as names of nodes are") from None
    elif isinstance(label, str) or (labels is not None and labels.dtype.kind == "U"):
        node = -1
        if isinstance(label, str) and labels is not None and labels.dtype.kind == "U" and label[-1:] != "\0":
            node = _first(labels == label)
    else:
        node = whole_option("label", label)
        if labels is not None:
            node = _first(labels == node) if -(2**63) <= node < 2**63 else -1
    if not 0 <= node < nodes:
        raise GraphError(f"the graph has no node {_name(label)}: {_called(nodes, labels)}")
    return node


def _called(nodes: int, labels: NDArray[Any] | None) -> str:
    """Describes the nodes of a graph by their labels."""
    if labels is None or not nodes:
        return numbered(nodes, "node")
    if nodes == 1:
        return f"its only node is {_name(labels[0])}"
    if labels.dtype.kind != "i":
        return f"its {nodes} nodes have names, the first of which is {_name(labels[0])}"
    return f"the numbers of its {nodes} nodes have gaps, from {labels.min()} to {labels.max()}"


def _name(label: Any) -> str:
    """Formats a label for a message; plain strings have no quotes."""
    text = str(label) if isinstance(label, (str, np.integer)) else shortened(label)
    return text if text.isprintable() and 0 < len(text) <= 60 else shortened(label)


def _first(matches: Any) -> int:
    found = np.flatnonzero(matches)
    return int(found[0]) if len(found) else -1


def _distinct(labels: NDArray[Any]) -> int:
    """Returns the number of different labels."""
    if labels.dtype.kind != "O":
        return len(np.unique(labels))
    names = labels.tolist()
    try:
        return len(set(names))
    except Exception:  # a list, or an object whose __hash__ fails
        node = next(node for node, name in enumerate(names) if not _hashable(name))
        raise GraphError(f"has the label {shortened(names[node])}, which is not hashable", "node", node) from None


def _hashable(name: Any) -> bool:
    try:
        hash(name)
    except Exception:
        return False
    return True


def _objects(names: Sequence[Any]) -> NDArray[Any]:
    labels = np.empty(len(names), object)
    for k, name in enumerate(names):  # a tuple is one name
        labels[k] = name
    return labels


class NodeResult(Result):
    """Base of results with one entry per node, which keep the labels of the graph.

    Subclasses have the field `node_labels`: (n,) the labels of the nodes; None if the numbers are the labels.
    """

    node_labels: NDArray[Any] | None

    def labels_of(self, nodes: ArrayLike) -> NDArray[Any]:
        """Returns the labels of nodes, (k,), with the dtype of the graph's labels.

        Args:
            nodes: (k,) integers: the numbers of the nodes.

        Raises:
            GraphError: the graph does not have one of the nodes.
        """
        numbers, nodes_in_all = as_whole(nodes, "nodes"), self._nodes()
        for node in numbers[(numbers < 0) | (numbers >= nodes_in_all)][:1]:
            raise GraphError(f"there is no node {node}: {numbered(nodes_in_all, 'node')}")
        return numbers if self.node_labels is None else self.node_labels[numbers]

    def _nodes(self) -> int:
        """Returns the number of nodes."""
        raise NotImplementedError

    def _node(self, label: Any) -> int:
        """Returns the number of the node with a label.

        Raises:
            GraphError: there is no such node. WrongTypeError: a label cannot have this type.
        """
        return find_node(label, self._nodes(), self.node_labels, self._nodes_by_label)

    @cached_property
    def _nodes_by_label(self) -> dict[Any, int]:
        """The nodes by label, if labels are Python objects."""
        labels = self.node_labels
        return {} if labels is None or labels.dtype.kind != "O" else number_by_label(labels)
