"""The strong component of a pivot, and labels from pivots (`cuda_src/graph/components/largest.cu`)."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray
from static_graph.graph.device_graph import DeviceGraph


def find_pivot(graph: DeviceGraph, back: DeviceGraph, numbers: DeviceArray) -> int:
    """Returns the node with the largest product of in- and out-degree, of several the smallest; waits for it.

    Args:
        graph, back: the graph, and the transposed one.
        numbers: (nodes,) int32: 0 at the nodes to choose from.

    Returns:
        The node; the number of nodes if there are none to choose from.
    """
    device, nodes = graph.device, graph.nodes
    largest, pivot = device.array(np.array([-1], np.int64)), device.array(np.array([nodes], np.int32))
    device.launch("find_largest_product", device.pieces(nodes), graph.csr, back.csr, numbers, largest)
    device.launch("find_pivot", nodes, graph.csr, back.csr, numbers, largest, pivot)
    return int(pivot.download()[0])


def label_by_smallest(pivots: DeviceArray) -> None:
    """Replaces the pivot of each node's component by the smallest node of the component."""
    device, nodes = pivots.device, pivots.size
    least = device.empty(nodes, np.int32)
    device.launch("fill_indices", nodes, least)
    device.launch("find_smallest_nodes", nodes, pivots, least)
    device.launch("label_by_smallest", nodes, least, pivots)
