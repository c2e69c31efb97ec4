"""Even distribution of a graph's edges over the indices of a kernel."""

from __future__ import annotations

from static_graph.graph.device_graph import DeviceGraph

EDGE_BLOCK = 64  # STRETCH of cuda_src/graph/edge_blocks.cuh


def edge_blocks(graph: DeviceGraph) -> int:
    """Number of indices of a kernel that processes all edges in blocks of STRETCH edges."""
    return -(-graph.edges // EDGE_BLOCK)
