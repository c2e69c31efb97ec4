"""All edges of a graph, shared out evenly."""

from __future__ import annotations

from static_graph.device_graph import DeviceGraph

STRETCH = 64  # STRETCH of cuda_src/graph/stretches.cuh


def stretches(graph: DeviceGraph) -> int:
    """How many indices a kernel has that goes through all edges."""
    return -(-graph.edges // STRETCH)
