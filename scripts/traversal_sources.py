"""Where searches from many sources begin: at random nodes of the largest strongly connected component.

"The largest component" of a directed graph may be the strongly or the weakly connected one. From a node of the weak one
a search may reach nothing: of R-MAT's nodes with an edge some have none that leaves them. From every node of the strong
one it reaches the same nodes, those that the component leads to; no source has degree zero, and every search follows
the same arcs. So the mean over the sources is one of like with like, and weights (which are never infinite) change
nothing in what is reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from static_graph.device_graph import DeviceGraph
from static_graph.frontiers import direction_optimising
from static_graph.frontiers.incoming import incoming
from static_graph.graphs import CsrGraph


@dataclass(frozen=True)
class Component:
    """The largest strongly connected component.

    Attributes:
        nodes: its nodes, in order; edges: the arcs of all nodes that they reach, inside and outside of it.
    """

    nodes: NDArray[Any]
    edges: int

    def draw(self, count: int, seed: int) -> list[int]:
        """Some of its nodes, each once; all of them where there are no more."""
        random = np.random.default_rng(seed)
        return [int(node) for node in random.choice(self.nodes, min(count, len(self.nodes)), replace=False)]


def largest_component(graph: DeviceGraph) -> Component:
    """Finds it by two searches, one along the edges and one against them.

    What both reach from one node is that node's component (Fleischer, Hendrickson, Pinar 2000); the node with the
    largest product of its degrees is nearly always in the largest one (Slota, Rajamanickam, Madduri 2014). It surely
    is the largest, if no more nodes are left that have edges both ways; if it is not sure, scipy finds all components.
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
    """The graph as scipy's algorithms take it, each edge a one: nothing is added up, and no weight of 0 lost."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(graph.edges, np.int8), graph.targets, graph.offsets), (graph.nodes, graph.nodes))


def _reached(graph: DeviceGraph, source: int) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = direction_optimising.run(graph, [source], turned=False).distances.download() >= 0
    return found
