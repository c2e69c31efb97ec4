"""Components by one thread of a CPU (`cuda_src/graph/components/serial`)."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray
from static_graph.components.outcome import Outcome
from static_graph.graph.device_graph import DeviceGraph


def weak(graph: DeviceGraph) -> Outcome:
    """Finds the weak components by a union-find structure."""
    labels = graph.device.empty(graph.nodes, np.int32)
    graph.device.launch("unite_in_sequence", 1, graph.csr, labels)
    return Outcome(labels, rounds=1)


def strong(graph: DeviceGraph) -> Outcome:
    """Finds the strong components by depth-first search (Tarjan 1972)."""
    labels = graph.device.empty(graph.nodes, np.int32)
    finish(graph, graph.device.zeros(graph.nodes, np.int32), labels)
    return Outcome(labels, rounds=1)


def finish(graph: DeviceGraph, numbers: DeviceArray, labels: DeviceArray) -> None:
    """Finds the strong components of the nodes whose entry in `numbers` is 0; sets these nodes' labels.

    Args:
        graph: a graph on a CPU.
        numbers: (nodes,) int32: 0, or FINISHED for nodes that are left out; it is overwritten.
        labels: (nodes,) int32.
    """
    device, nodes = graph.device, graph.nodes
    open_nodes, path = device.empty(nodes, np.int32), device.empty(nodes, np.int32)
    edges = device.empty(nodes, np.int64)
    device.launch("search_in_sequence", 1, graph.csr, numbers, labels, open_nodes, path, edges)
