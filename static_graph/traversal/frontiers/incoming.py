"""The transposed graph, on its device."""

from __future__ import annotations

import numpy as np

from static_graph.graph.building import rows_on_device
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.edge_blocks import edge_blocks

MOST_EDGES = 2**31 - 1  # that can be sorted


def incoming(graph: DeviceGraph) -> DeviceGraph | None:
    """Returns the transposed graph without weights; it is made on first use, and kept with the graph.

    Returns:
        A graph in which the edges of node v lead to the nodes that have an edge to v, in order; None if there are too
        many edges to sort (2^31 or more).
    """
    return graph.derived("incoming", lambda: _transposed(graph)) if graph.edges <= MOST_EDGES else None


def _transposed(graph: DeviceGraph) -> DeviceGraph:
    device, edges = graph.device, graph.edges
    targets, sources = device.empty(edges, np.uint32), device.empty(edges, np.int32)
    device.launch("list_edges", edge_blocks(graph), graph.csr, targets, sources)
    offsets, ends = rows_on_device(targets, sources, graph.nodes)
    device.synchronize()  # so that this does not count in the time of the search
    return DeviceGraph(offsets, ends, None, 1.0)
