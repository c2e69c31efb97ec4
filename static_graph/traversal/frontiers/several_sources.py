"""Breadth-first searches from up to 64 sources at once (`cuda_src/graph/traversal/several_sources`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dmr.memory import DeviceArray, constant, pack
from static_graph.engine.gpu_modules import ENGINE
from static_graph.engine.loop import Entry, Expansion, Frontier, how_for, run_rounds
from static_graph.graph.device_graph import DeviceGraph

AT_ONCE = constant("SEARCHES_AT_ONCE")
GPU_MODULES = (*ENGINE, "graph/traversal/several_sources")
FARTHEST = 2**31 - 1  # edges


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    distances: DeviceArray,
    *,
    depth_limit: float | None = None,
    balance: str = "auto",
) -> None:
    """Finds the number of edges on a shortest path from each source to each node.

    Args:
        graph: the graph.
        sources: AT_ONCE nodes at most.
        distances: (len(sources) * nodes,) int32: receives a row per source, with -1 for unreached nodes.
        depth_limit: nodes more edges away count as unreached.
        balance: how the edges are distributed over threads (`BALANCES` of the engine).
    """
    device, nodes = graph.device, graph.nodes
    distances.fill(255)
    seen, fresh, arriving = (device.zeros(nodes, np.uint64) for _ in range(3))
    limit = FARTHEST if depth_limit is None else int(min(depth_limit, FARTHEST))
    body = pack("Searches", seen=seen, fresh=fresh, arriving=arriving, limit=limit)
    ends = np.array(sources, np.int32)
    device.launch("begin_together", ends.size, device.array(ends), arriving)
    frontier = Frontier(graph, np.unique(ends))
    reached = frontier.number(Entry.FRONTIER, nodes)

    def arrive() -> None:
        device.launch("arrive_together", reached, frontier.packed, body, nodes, distances)

    arrive()
    expansion = Expansion(graph, "follow_together", body, frontier, how_for(balance, graph))
    run_rounds(frontier, [expansion], end=arrive)
