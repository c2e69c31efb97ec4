"""Even distribution of a graph's edges over the indices of a kernel."""

from __future__ import annotations

from dmr.memory import constant
from static_graph.graph.device_graph import DeviceGraph

EDGE_BLOCK = constant("EDGE_BLOCK")


def edge_blocks(graph: DeviceGraph) -> int:
    """Number of indices of a kernel that processes all edges in blocks of EDGE_BLOCK edges."""
    return -(-graph.edges // EDGE_BLOCK)
