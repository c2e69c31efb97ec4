"""Connected components, in the order of their first nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import networkx
import numpy as np
from numpy.typing import NDArray

from static_graph import Components
from static_graph import connected_components as find_components
from static_graph.networkx_backend.graph import Graph

Members = set[Hashable]


def connected_components(G: Graph) -> Iterator[Members]:
    """Yields the components of an undirected graph."""
    yield from _members(G, _find(G, "weak").numbers())


def weakly_connected_components(G: Graph) -> Iterator[Members]:
    """Yields the weak components of a directed graph."""
    yield from _members(G, _find(G, "weak").numbers())


def number_connected_components(G: Graph) -> int:
    """Returns the number of components of an undirected graph."""
    return _find(G, "weak").count


def number_weakly_connected_components(G: Graph) -> int:
    """Returns the number of weak components."""
    return _find(G, "weak").count


def number_strongly_connected_components(G: Graph) -> int:
    """Returns the number of strong components."""
    return _find(G, "strong").count


def is_connected(G: Graph) -> bool:
    """Returns whether an undirected graph has one component."""
    return _is_one(G, "weak")


def is_weakly_connected(G: Graph) -> bool:
    """Returns whether a directed graph has one weak component."""
    return _is_one(G, "weak")


def is_strongly_connected(G: Graph) -> bool:
    """Returns whether a directed graph has one strong component."""
    return _is_one(G, "strong")


def node_connected_component(G: Graph, n: Hashable) -> Members:
    """Returns the component of a node."""
    number = G.numbers[n]
    labels = _find(G, "weak").labels
    return set(G.named(np.flatnonzero(labels == labels[number])))


def _find(G: Graph, connection: str) -> Components:
    return find_components(G.searchable(), connection=connection)


def _is_one(G: Graph, connection: str) -> bool:
    if not len(G):
        raise networkx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _find(G, connection).count == 1


def _members(G: Graph, numbers: NDArray[np.integer]) -> Iterator[Members]:
    """Yields the nodes of each component, by the component's number."""
    names = G.named(np.argsort(numbers, kind="stable"))
    end = 0
    for size in np.bincount(numbers).tolist():
        begin, end = end, end + size
        yield set(names[begin:end])
