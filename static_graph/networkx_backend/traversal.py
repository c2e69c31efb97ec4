"""Breadth-first searches, in networkx's order: neighbours in the order of the adjacency."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import networkx
import numpy as np
from numpy.typing import NDArray

from static_graph.networkx_backend.graph import Graph
from static_graph.traversal import bfs

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
    found = visit(G, [source], reverse=reverse, limit=depth_limit, sort_neighbors=sort_neighbors)
    yield from zip(G.named(found.parents[1:]), G.named(found.nodes[1:]), strict=True)


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
    found = visit(G, [source], limit=depth_limit, sort_neighbors=sort_neighbors)
    children = G.named(found.nodes[1:])
    if not children:
        yield source, []
    for begin, end in _runs(found.parents[1:]):
        yield G.nodes[found.parents[1 + begin]], children[begin:end]


def bfs_layers(G: Graph, sources: Any) -> Iterator[list[Hashable]]:
    """Yields the nodes at each distance from a source, or from the nearest of several."""
    if sources in G:
        sources = [sources]
    distinct = list(set(sources))
    for source in distinct:
        if source not in G:
            raise networkx.NetworkXError(f"The node {source} is not in the graph.")
    if distinct:
        found = visit(G, distinct)
        names = G.named(found.nodes)
        for begin, end in _runs(found.depths):
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
    if distance not in range(len(G)):  # fractions and negative numbers are not distances
        return set()
    return set(G.named(np.flatnonzero(depths_from(G, source, limit=distance) == distance)))


class Visits(NamedTuple):
    """The nodes that a search reaches, in networkx's order: each before those that it leads to.

    Attributes:
        nodes: (k,) int32; parents: (k,) int32, -1 for the sources; depths: (k,) int32, the number of edges.
    """

    nodes: NDArray[np.int32]
    parents: NDArray[np.int32]
    depths: NDArray[np.int32]


def visit(
    G: Graph,
    sources: Sequence[Hashable],
    *,
    sort_neighbors: Sort | None = None,
    reverse: bool = False,
    limit: float | None = None,
) -> Visits:
    """Searches a graph from nodes that it has.

    Args:
        G: the graph.
        sources: the names of the sources, in their order.
        reverse: whether to follow the edges of a directed graph backwards.
        limit: the largest depth, rounded up as by a loop that runs while the depth is less.
        sort_neighbors: a function that orders the neighbours of a node.
    """
    if sort_neighbors is None:
        graph = G.searchable(reverse=reverse)
    else:
        graph = G.on_device(partial(G.ordered, sort_neighbors, reverse=reverse))
    found = bfs(graph, [G.numbers[source] for source in sources], order=True, depth_limit=_depth(limit))
    assert found.order is not None and found.parents is not None
    return Visits(found.order, found.parents[found.order], found.distances[found.order])


def depths_from(G: Graph, source: Hashable, *, reverse: bool = False, limit: float | None = None) -> NDArray[np.int32]:
    """Returns the number of edges on a shortest path from a node that the graph has to each node.

    It is -1 for nodes without a path, and for those at a larger depth than `limit`.
    """
    return bfs(G.searchable(reverse=reverse), G.numbers[source], depth_limit=_depth(limit)).distances


def _check(G: Graph, node: Hashable) -> None:
    """Raises networkx's exception unless the graph has a node."""
    if node not in G:
        raise networkx.NetworkXError(f"The node {node} is not in the {'digraph' if G.is_directed() else 'graph'}.")


def _reached(G: Graph, source: Hashable, *, reverse: bool) -> set[Hashable]:
    """Returns the nodes that a search reaches, without its source."""
    _check(G, source)
    return set(G.named(np.flatnonzero(depths_from(G, source, reverse=reverse) > 0)))


def _runs(values: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Yields begin and end of each run of equal values."""
    cuts = (np.flatnonzero(np.diff(values)) + 1).tolist()
    yield from pairwise([0, *cuts, len(values)] if len(values) else [])


def _depth(limit: float | None) -> int | None:
    """Returns the most levels of a loop that runs while the level is less than a limit."""
    if limit is None:
        return None
    if not limit > 0:  # NaN, too
        return 0
    return None if limit == math.inf else math.ceil(limit)
