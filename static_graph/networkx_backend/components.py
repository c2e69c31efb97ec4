"""Connected components, in the order of their first nodes; strong ones in reverse topological order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

import networkx
import numpy as np
from numpy.typing import NDArray

from static_graph import Components, CsrGraph
from static_graph import condensation as contract
from static_graph import connected_components as find_components
from static_graph.components.condensation import levels_above_sinks
from static_graph.networkx_backend.graph import Graph

Members = set[Hashable]


def connected_components(G: Graph) -> Iterator[Members]:
    """Yields the components of an undirected graph."""
    yield from _members(G, _find(G, "weak").numbers())


def weakly_connected_components(G: Graph) -> Iterator[Members]:
    """Yields the weak components of a directed graph."""
    yield from _members(G, _find(G, "weak").numbers())


def strongly_connected_components(G: Graph) -> Iterator[Members]:
    """Yields the strong components: each after those to which its edges lead, by level and then by first node."""
    yield from _members(G, _reverse_topological(G)[0])


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


def condensation(G: Graph, scc: Iterable[Members] | None = None) -> networkx.DiGraph:
    """Returns the graph of the strong components, numbered as `strongly_connected_components` yields them."""
    if scc is None:
        numbers, dag = _reverse_topological(G)
        members = list(_members(G, numbers))
        edges = zip(dag.sources().tolist(), dag.targets.tolist(), strict=True)
    else:
        members = list(scc)
        places = {node: k for k, component in enumerate(members) for node in component}
        numbers = np.fromiter(map(places.__getitem__, G), np.int64, len(G))
        pairs = np.stack([numbers[G.forward.sources()], numbers[G.forward.targets]])
        edges = zip(*pairs[:, pairs[0] != pairs[1]].tolist(), strict=True)
    condensed = networkx.DiGraph(mapping=dict(zip(G, numbers.tolist(), strict=True)))
    condensed.add_nodes_from((k, {"members": component}) for k, component in enumerate(members))
    condensed.add_edges_from(edges)
    return condensed


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


def _reverse_topological(G: Graph) -> tuple[NDArray[np.int64], CsrGraph]:
    """Numbers the strong components in reverse topological order.

    Returns:
        The number of each node's component, and the edges between the components, with these numbers.
    """
    dag, found = contract(G.searchable())
    places = np.empty(dag.nodes, np.int64)
    places[np.argsort(levels_above_sinks(dag), kind="stable")] = np.arange(dag.nodes)
    return places[found.numbers()], CsrGraph.from_edges(places[dag.sources()], places[dag.targets], nodes=dag.nodes)
