"""The graph with its edges turned round, on its device."""

from __future__ import annotations

import numpy as np

from static_graph.building import rows_on_device
from static_graph.device_graph import DeviceGraph
from static_graph.stretches import stretches

MOST_EDGES = 2**31 - 1  # that can be sorted


def incoming(graph: DeviceGraph) -> DeviceGraph | None:
    """The edges that lead to each node, without weights; made when they are first asked for, and kept with the graph.

    Returns:
        A graph of which the edges of node v lead to what had an edge to v, in order; None where there are too many
        edges to sort (2^31 and more).
    """
    return graph.derived("incoming", lambda: _turned(graph)) if graph.edges <= MOST_EDGES else None


def _turned(graph: DeviceGraph) -> DeviceGraph:
    device, edges = graph.device, graph.edges
    targets, sources = device.empty(edges, np.uint32), device.empty(edges, np.int32)
    device.launch("list_edges", stretches(graph), graph.csr, targets, sources)
    offsets, ends = rows_on_device(targets, sources, graph.nodes)
    device.synchronize()  # so that the search that needs it is not taken for slow
    return DeviceGraph(offsets, ends, None, 1.0)
