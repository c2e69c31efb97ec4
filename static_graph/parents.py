"""The tree of shortest paths, from the distances alone (`cuda_src/graph/parents.cu`): one way for every scheme."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dmr.memory import DeviceArray, scan, total
from static_graph.building import rows_on_device
from static_graph.device_graph import DeviceGraph
from static_graph.distances import DeviceDistances
from static_graph.errors import GraphError
from static_graph.frontiers import direction_optimising
from static_graph.frontiers.incoming import MOST_EDGES
from static_graph.stretches import stretches


def find_parents(
    graph: DeviceGraph, sources: Sequence[int], distances: DeviceDistances, *, weighted: bool
) -> NDArray[np.int32]:
    """A node before each one on a shortest path to it.

    It is the smallest of those that are closer to the sources. Where there is none, since all edges of shortest paths
    to a node have weight zero or are lost in rounding, it is the smallest of those at the same distance that the
    fewest such edges separate from a node that is a source, or has a closer one before it.

    Args:
        graph: the graph; sources: where the paths begin.
        distances: of its nodes, which are final.
        weighted: whether they are sums of weights.

    Returns:
        (nodes,) int32: the parents, which form a tree below each source; -1 at sources and where no path leads.

    Raises:
        GraphError: more than 2^31 - 1 edges between nodes at the same distance have to be looked at.
    """
    device, nodes = graph.device, graph.nodes
    parents = device.empty(nodes, np.int32)
    device.launch("clear_parents", nodes, parents)
    device.launch("enter_sources", len(sources), device.array(np.asarray(sources, np.int32)), parents)
    device.launch("find_parents", stretches(graph), graph.csr, distances.packed, parents)
    if weighted and graph.edges:
        _settle_ties(graph, distances, parents)
    device.launch("end_parents", nodes, parents)
    return parents.download()


def _settle_ties(graph: DeviceGraph, distances: DeviceDistances, parents: DeviceArray) -> None:
    device, indices = graph.device, stretches(graph)
    counts = device.empty(indices, np.int64)
    device.launch("count_ties", indices, graph.csr, distances.packed, parents, counts)
    places = scan(counts)
    edges = total(places, indices)
    if edges == 0:
        return
    if edges > MOST_EDGES:
        raise GraphError(
            f"{edges} edges between nodes at the same distance are more than the {MOST_EDGES} that can be sorted"
        )
    sources, targets = device.empty(edges, np.uint32), device.empty(edges, np.int32)
    device.launch("list_ties", indices, graph.csr, distances.packed, parents, places, sources, targets)
    ties = DeviceGraph(*rows_on_device(sources, targets, graph.nodes + 1), None, 1.0)
    steps = direction_optimising.run(ties, [graph.nodes], turned=False).distances
    device.launch("find_parents_by_ties", stretches(ties), ties.csr, steps.packed, parents)
