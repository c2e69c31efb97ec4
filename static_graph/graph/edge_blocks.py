"""Even distribution of a graph's edges over the indices of a kernel."""

from __future__ import annotations

from dmr.memory import constant
from static_graph.graph.device_graph import DeviceGraph

GPU_EDGE_BLOCK, CPU_EDGE_BLOCK = constant("GPU_EDGE_BLOCK"), constant("CPU_EDGE_BLOCK")


def edge_blocks(graph: DeviceGraph) -> int:
    """Number of indices of a kernel that processes all edges in blocks of equal size."""
    return graph.device.tiles(graph.edges, CPU_EDGE_BLOCK if graph.device.threads else GPU_EDGE_BLOCK)
