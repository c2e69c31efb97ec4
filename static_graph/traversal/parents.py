"""The shortest-path tree, derived from the distances alone (`cuda_src/graph/traversal/parents.cu`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.memory import DeviceArray, scan, total
from static_graph.errors import GraphError
from static_graph.graph.building import rows_on_device
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.edge_blocks import edge_blocks
from static_graph.graph.gpu_modules import ROWS
from static_graph.graph.incoming import MOST_EDGES
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.frontiers import direction_optimising


def parents_modules(*, weighted: bool) -> tuple[str, ...]:
    """Returns the GPU modules of `find_parents`; with weights, ties need a breadth-first search."""
    found = ("graph/traversal/parents",)
    return (*found, "graph/traversal/breadth_first", *ROWS) if weighted else found


def find_parents(graph: DeviceGraph, distances: DeviceDistances, *, weighted: bool) -> NDArray[np.int32]:
    """Finds the predecessor of each node on a shortest path (`parents_on_device`), and downloads them."""
    return parents_on_device(graph, distances, weighted=weighted).download()


def parents_on_device(graph: DeviceGraph, distances: DeviceDistances, *, weighted: bool) -> DeviceArray:
    """Finds the predecessor of each node on a shortest path.

    The parent is the smallest predecessor that is closer to the sources. A node may have none, because all edges of its
    shortest paths have weight zero or are lost in rounding. Then candidates are the predecessors at the same distance
    with the fewest such edges between them and a node that is a source or has a closer predecessor. The parent is the
    smallest candidate.

    Args:
        graph: the graph.
        distances: the final distances of its nodes from the sources.
        weighted: whether distances are sums of weights.

    Returns:
        (nodes,) int32: the parents, which form a tree below each source; -1 at sources and unreached nodes.

    Raises:
        GraphError: more than 2^31 - 1 edges between nodes at the same distance must be examined.
    """
    device, nodes = graph.device, graph.nodes
    parents = device.empty(nodes, np.int32)
    device.launch("begin_parents", nodes, distances.source, parents)
    if distances.source < 0:
        device.launch("enter_sources", distances.sources.size, device.array(distances.sources), parents)
    device.launch("find_parents", edge_blocks(graph), graph.csr, distances.packed, parents)
    if weighted:
        orphans = device.zeros(1, np.int32)
        device.launch("find_orphans", nodes, graph.csr, distances.packed, parents, orphans)
        if not orphans.download()[0]:
            return parents
        _resolve_ties(graph, distances, parents)
    device.launch("end_parents", nodes, parents)
    return parents


def _resolve_ties(graph: DeviceGraph, distances: DeviceDistances, parents: DeviceArray) -> None:
    device, indices = graph.device, edge_blocks(graph)
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
    steps = direction_optimising.run(ties, [graph.nodes], transposed=False).distances
    device.launch("find_parents_by_ties", edge_blocks(ties), ties.csr, steps.packed, parents)
