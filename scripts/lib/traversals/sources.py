"""Draws the sources of multi-source searches from the largest strongly connected component.

"The largest component" of a directed graph may be the strongly or the weakly connected one. From a node of the weak one
a search may reach nothing, because some of R-MAT's nodes with an edge have no outgoing edge. From every node of the
strong one a search reaches the same nodes, those reachable from the component; no source has degree zero, and every
search follows the same arcs. Therefore the mean over the sources compares like with like, and weights (which are never
infinite) do not affect which nodes are reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import incoming
from static_graph.traversal.frontiers import direction_optimising


@dataclass(frozen=True)
class Component:
    """The largest strongly connected component.

    Attributes:
        nodes: its nodes, in order; edges: number of arcs of all nodes reachable from it, inside and outside of it.
    """

    nodes: NDArray[Any]
    edges: int

    def draw(self, count: int, seed: int) -> list[int]:
        """Draws `count` distinct nodes, or all if there are fewer."""
        random = np.random.default_rng(seed)
        return [int(node) for node in random.choice(self.nodes, min(count, len(self.nodes)), replace=False)]


def largest_component(graph: DeviceGraph) -> Component:
    """Finds the component by two searches, one along the edges and one against them.

    The nodes that both searches reach from one node are its component (Fleischer, Hendrickson, Pinar 2000). The node
    with the largest product of its degrees is nearly always in the largest one (Slota, Rajamanickam, Madduri 2014). The
    component is certainly the largest if it has at least as many nodes as remain with edges both ways; otherwise scipy
    finds all components.
    """
    host, back = graph.host, incoming(graph)
    assert host is not None and back is not None
    out, into = host.out_degrees, np.diff(back.offsets.download())
    pivot = int(np.argmax(out.astype(np.float64) * into))
    reached = _reached(graph, pivot)
    members = reached & _reached(back, pivot)
    left = np.count_nonzero((out > 0) & (into > 0) & ~members)
    if np.count_nonzero(members) < left:
        from scipy.sparse.csgraph import connected_components

        _, part = connected_components(structure(host), connection="strong")
        members = part == np.bincount(part).argmax()
        reached = _reached(graph, int(np.argmax(members)))
    return Component(np.flatnonzero(members), int(out[reached].sum()))


def structure(graph: CsrGraph) -> Any:
    """Converts the graph for scipy's algorithms with a 1 per edge, so that no weights are summed and no zeros lost."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(graph.edges, np.int8), graph.targets, graph.offsets), (graph.nodes, graph.nodes))


def _reached(graph: DeviceGraph, source: int) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = direction_optimising.run(graph, [source], transposed=False).distances.download() >= 0
    return found
