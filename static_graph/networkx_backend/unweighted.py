"""Shortest paths by the number of edges. Paths and the order of nodes are networkx's."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import networkx

from static_graph.networkx_backend.graph import Graph
from static_graph.networkx_backend.traversal import depths_from, visit

Lengths = dict[Hashable, int]
Paths = dict[Hashable, list[Hashable]]


def single_source_shortest_path_length(G: Graph, source: Hashable, cutoff: float | None = None) -> Lengths:
    """Returns the distance of each node that can be reached from a source."""
    if source not in G:
        raise networkx.NodeNotFound(f"Source {source} is not in G")
    return _lengths(G, source, cutoff, reverse=False)


def single_target_shortest_path_length(G: Graph, target: Hashable, cutoff: float | None = None) -> Lengths:
    """Returns the distance to a target of each node from which it can be reached."""
    if target not in G:
        raise networkx.NodeNotFound(f"Target {target} is not in G")
    return _lengths(G, target, cutoff, reverse=True)


def all_pairs_shortest_path_length(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Hashable, Lengths]]:
    """Yields each node with the distances from it."""
    for node in G:
        yield node, _lengths(G, node, cutoff, reverse=False)


def single_source_shortest_path(G: Graph, source: Hashable, cutoff: float | None = None) -> Paths:
    """Returns a shortest path to each node that can be reached from a source."""
    if source not in G:
        raise networkx.NodeNotFound(f"Source {source} not in G")
    paths: Paths = {source: [source]}
    for child, parent in _tree(G, source, cutoff, reverse=False):
        paths[child] = [*paths[parent], child]
    return paths


def single_target_shortest_path(G: Graph, target: Hashable, cutoff: float | None = None) -> Paths:
    """Returns a shortest path to a target from each node from which it can be reached."""
    if target not in G:
        raise networkx.NodeNotFound(f"Target {target} not in G")
    paths: Paths = {target: [target]}
    for child, parent in _tree(G, target, cutoff, reverse=True):
        paths[child] = [child, *paths[parent]]
    return paths


def all_pairs_shortest_path(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Hashable, Paths]]:
    """Yields each node with the shortest paths from it."""
    for node in G:
        yield node, single_source_shortest_path(G, node, cutoff)


def has_path(G: Graph, source: Hashable, target: Hashable) -> bool:
    """Returns whether a target can be reached from a source."""
    for kind, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise networkx.NodeNotFound(f"{kind} {node} is not in G")
    return bool(depths_from(G, source)[G.numbers[target]] >= 0)


def _lengths(G: Graph, node: Hashable, cutoff: float | None, *, reverse: bool) -> Lengths:
    found = visit(G, [node], reverse=reverse, limit=cutoff)
    return dict(zip(G.named(found.nodes), found.depths.tolist(), strict=True))


def _tree(G: Graph, node: Hashable, cutoff: float | None, *, reverse: bool) -> Iterator[tuple[Hashable, Hashable]]:
    """Yields the nodes that a search reaches after its source, each with its parent."""
    found = visit(G, [node], reverse=reverse, limit=cutoff)
    yield from zip(G.named(found.nodes[1:]), G.named(found.parents[1:]), strict=True)
