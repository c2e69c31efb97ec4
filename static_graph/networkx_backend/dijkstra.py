"""Shortest paths by weights. Nodes are in the order of their distances."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Any

import networkx
import numpy as np
from numpy.typing import NDArray

from static_graph.networkx_backend.graph import Graph, declining
from static_graph.traversal import bfs, sssp
from static_graph.traversal.results import Traversal

Weight = Hashable | Callable[..., Any]
Lengths = dict[Hashable, Any]
Paths = dict[Hashable, list[Hashable]]


def single_source_dijkstra(
    G: Graph, source: Hashable, target: Hashable | None = None, cutoff: float | None = None, weight: Weight = "weight"
) -> tuple[Any, Any]:
    """Returns the distances from a source and the paths, by node; or those of a target."""
    sources = _checked(G, {source})
    if target in sources:
        return 0, [target]
    found = _search(G, sources, cutoff, weight, parents=True)
    if target is None:
        order = _order(found)
        return _lengths(G, found, order), _paths(G, found, order)
    if target not in G or not found.reached()[G.numbers[target]]:
        raise networkx.NetworkXNoPath(f"No path to {target}.")
    number = G.numbers[target]
    path = found.path_to(number)
    assert path is not None
    return found.distances[number].item(), G.named(path)


def single_source_dijkstra_path(
    G: Graph, source: Hashable, cutoff: float | None = None, weight: Weight = "weight"
) -> Paths:
    """Returns a shortest path from a source to each node that can be reached."""
    found = _search(G, _checked(G, {source}), cutoff, weight, parents=True)
    return _paths(G, found, _order(found))


def single_source_dijkstra_path_length(
    G: Graph, source: Hashable, cutoff: float | None = None, weight: Weight = "weight"
) -> Lengths:
    """Returns the distance from a source of each node that can be reached."""
    return multi_source_dijkstra_path_length(G, {source}, cutoff, weight)


def multi_source_dijkstra_path_length(
    G: Graph, sources: Iterable[Hashable], cutoff: float | None = None, weight: Weight = "weight"
) -> Lengths:
    """Returns the distance of each node that can be reached from the nearest of several sources."""
    found = _search(G, _checked(G, sources), cutoff, weight, parents=False)
    return _lengths(G, found, _order(found))


def _checked(G: Graph, sources: Iterable[Hashable]) -> list[Hashable]:
    """Returns the sources as a list.

    Raises:
        ValueError: there are none. NodeNotFound: the graph does not have one.
    """
    given = list(dict.fromkeys(sources))
    if not given:
        raise ValueError("sources must not be empty")
    for source in given:
        if source not in G:
            raise networkx.NodeNotFound(f"Node {source} not found in graph")
    return given


def _search(G: Graph, sources: Sequence[Hashable], cutoff: float | None, weight: Weight, *, parents: bool) -> Traversal:
    """Finds the shortest paths; a cutoff that is NaN has no effect, as in networkx's comparisons.

    A negative one leaves the sources alone.
    """
    limit = None if cutoff is None or cutoff != cutoff else cutoff  # integers may be too large for math.isnan
    key = None if callable(weight) else ("weighted", weight)
    graph = G.on_device(partial(G.weighted, weight), key)
    numbers = [G.numbers[source] for source in sources]
    if limit is not None and limit < 0:
        return bfs(graph, numbers, depth_limit=0, parents=parents)
    if not math.isfinite(graph.largest_weight * len(G)):
        raise NotImplementedError("a sum of the weights may be infinite, which is the distance of nodes without a path")
    with declining():
        return sssp(graph, numbers, parents=parents, distance_limit=limit)


def _order(found: Traversal) -> NDArray[np.intp]:
    """Returns the nodes reached: the sources, then by distance, and by number where distances are equal."""
    rest = found.reached()
    sources = np.array(found.sources, np.intp)
    rest[sources] = False
    others = np.flatnonzero(rest)
    return np.concatenate([sources, others[np.argsort(found.distances[others], kind="stable")]])


def _lengths(G: Graph, found: Traversal, order: NDArray[np.intp]) -> Lengths:
    """Returns the distances by node: those of the sources are the integer 0, whatever the weights are."""
    lengths = dict(zip(G.named(order), found.distances[order].tolist(), strict=True))
    return lengths | dict.fromkeys((G.nodes[source] for source in found.sources), 0)


def _paths(G: Graph, found: Traversal, order: NDArray[np.intp]) -> Paths:
    """Follows the parents of each node up to one whose path is known: a parent at the same distance may come later."""
    assert found.parents is not None
    parents = found.parents.tolist()
    paths: dict[int, list[Hashable]] = {}
    for node in order.tolist():
        below = []
        at = node
        while at not in paths and parents[at] >= 0:
            below.append(at)
            at = parents[at]
        path = paths.setdefault(at, [G.nodes[at]])
        for each in reversed(below):
            path = paths[each] = [*path, G.nodes[each]]
    return {G.nodes[node]: paths[node] for node in order.tolist()}
