"""Breadth-first searches, in networkx's order: neighbours in the order of the adjacency."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import networkx
import numpy as np

from static_graph.networkx_backend.graph import Graph
from static_graph.traversal import bfs
from static_graph.traversal.results import Traversal

Edge = tuple[Hashable, Hashable]
Sort = Callable[[Iterator[Hashable]], Iterable[Hashable]]


def bfs_edges(
    G: Graph,
    source: Hashable,
    reverse: bool = False,
    depth_limit: float | None = None,
    sort_neighbors: Sort | None = None,
) -> Iterator[Edge]:
    """Yields the edges of a breadth-first search."""
    _check(G, source)
    found = search(G, [source], reverse=reverse, limit=depth_limit, sort_neighbors=sort_neighbors)
    children = found.order[1:]
    yield from zip(G.named(found.parents[children]), G.named(children), strict=True)


def bfs_tree(
    G: Graph,
    source: Hashable,
    reverse: bool = False,
    depth_limit: float | None = None,
    sort_neighbors: Sort | None = None,
) -> networkx.DiGraph:
    """Returns the tree of a breadth-first search, as a graph of networkx."""
    tree = networkx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(bfs_edges(G, source, reverse, depth_limit, sort_neighbors))
    return tree


def bfs_predecessors(
    G: Graph, source: Hashable, depth_limit: float | None = None, sort_neighbors: Sort | None = None
) -> Iterator[Edge]:
    """Yields each node that a breadth-first search reaches, with its predecessor."""
    for parent, child in bfs_edges(G, source, depth_limit=depth_limit, sort_neighbors=sort_neighbors):
        yield child, parent


def bfs_successors(
    G: Graph, source: Hashable, depth_limit: float | None = None, sort_neighbors: Sort | None = None
) -> Iterator[tuple[Hashable, list[Hashable]]]:
    """Yields the nodes that have successors in a breadth-first search, with these; the source in any case."""
    _check(G, source)
    found = search(G, [source], limit=depth_limit, sort_neighbors=sort_neighbors)
    children = found.order[1:]
    parents = found.parents[children]
    begins = np.append(0, np.flatnonzero(np.diff(parents)) + 1).tolist()
    names = G.named(children)
    heads = G.named(parents[begins]) if len(parents) else [source]
    for head, begin, end in zip(heads, begins, [*begins[1:], len(names)], strict=True):
        yield head, names[begin:end]


def bfs_layers(G: Graph, sources: Any) -> Iterator[list[Hashable]]:
    """Yields the nodes at each distance from a source, or from the nearest of several."""
    if sources in G:
        sources = [sources]
    distinct = list(set(sources))
    for source in distinct:
        if source not in G:
            raise networkx.NetworkXError(f"The node {source} is not in the graph.")
    if not distinct:
        return
    found = search(G, distinct)
    depths = found.distances[found.order]
    names = G.named(found.order)
    begins = np.append(0, np.flatnonzero(np.diff(depths)) + 1).tolist()
    for begin, end in zip(begins, [*begins[1:], len(names)], strict=True):
        yield names[begin:end]


def descendants(G: Graph, source: Hashable) -> set[Hashable]:
    """Returns the nodes that can be reached from a source, without it."""
    return _reached(G, source, reverse=False)


def ancestors(G: Graph, source: Hashable) -> set[Hashable]:
    """Returns the nodes from which a node can be reached, without it."""
    return _reached(G, source, reverse=True)


def descendants_at_distance(G: Graph, source: Hashable, distance: float) -> set[Hashable]:
    """Returns the nodes at a distance from a source."""
    if source not in G:
        raise networkx.NetworkXError(f"The node {source} is not in the graph.")
    found = search(G, [source], order=False)
    return set(G.named(np.flatnonzero(found.reached() & (found.distances == distance))))


def search(
    G: Graph,
    sources: Sequence[Hashable],
    *,
    reverse: bool = False,
    limit: float | None = None,
    sort_neighbors: Sort | None = None,
    order: bool = True,
) -> Traversal:
    """Searches a graph from nodes that it has.

    Args:
        G: the graph.
        sources: the names of the sources.
        reverse: whether to follow the edges of a directed graph backwards.
        limit: nodes at a larger distance are not reached, rounded up as networkx's loops do.
        sort_neighbors: a function that orders the neighbours of a node.
        order: whether to find the order of the nodes, and the parents.
    """
    numbers = [G.numbers[source] for source in sources]
    if sort_neighbors is None:
        graph = G.searchable(reverse=reverse)
    else:
        graph = G.on_device(partial(G.ordered, sort_neighbors, reverse=reverse))
    return bfs(graph, numbers, order=order, depth_limit=_depth(limit))


def _check(G: Graph, node: Hashable) -> None:
    """Raises networkx's exception unless the graph has a node."""
    if node not in G:
        raise networkx.NetworkXError(f"The node {node} is not in the {'digraph' if G.is_directed() else 'graph'}.")


def _reached(G: Graph, source: Hashable, *, reverse: bool) -> set[Hashable]:
    """Returns the nodes that a search reaches, without its source."""
    _check(G, source)
    return set(G.named(np.flatnonzero(search(G, [source], reverse=reverse, order=False).distances > 0)))


def _depth(limit: float | None) -> int | None:
    """Returns the most levels of a loop that runs while the level is less than a limit."""
    if limit is None:
        return None
    if not limit > 0:  # NaN, too
        return 0
    return None if limit == math.inf else math.ceil(limit)
