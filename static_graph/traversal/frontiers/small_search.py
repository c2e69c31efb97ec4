"""Breadth-first search of a small graph by one thread of a CPU (`cuda_src/graph/traversal/small_search`).

Rounds of several kernels and their arguments would take several times as long as the search.
"""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.memory.host.prepared import PreparedLaunch, address_of
from static_graph.graph.device_graph import DeviceGraph

# Nodes and edges together up to which one thread searches alone: it then takes less time than the other threads take
# to wake up.
MOST = 2**16
FARTHEST = 2**31 - 1  # edges


class Found(NamedTuple):
    """Distances, parents and order, in the user's form, and statistics of the search (`Outcome`)."""

    distances: NDArray[np.int32]
    parents: NDArray[np.int32] | None
    order: NDArray[np.int32] | None
    rounds: int
    followed: int
    seconds: float


class _Plan:
    """The launch of searches of one graph, one at a time, with the arrays that they need."""

    def __init__(self, graph: DeviceGraph) -> None:
        device, nodes = graph.device, graph.nodes
        queue = np.empty(nodes, np.int32)
        self.queue = address_of(queue)
        self.counts = np.zeros(3, np.int64)
        arguments = (graph.csr, 0, FARTHEST, None, None, device.share(queue), 0, device.share(self.counts))
        changing = ("source", "limit", "distances", "parents", "queue", "by_order")
        self.launch = PreparedLaunch(device, "search_small_graph", arguments, changing)


def run(
    graph: DeviceGraph, source: int, *, depth_limit: int | None, parents: bool = False, order: bool = False
) -> Found:
    """Finds the nodes in the order of a queue.

    Args:
        graph: a small graph on a CPU; source: a node.
        depth_limit: nodes more edges away count as unreached.
        parents: whether to find the smallest closer predecessor of each node, too.
        order: whether to return the order, and the predecessors that found the nodes.
    """
    free: list[_Plan] = graph.derived("small search", list)
    try:
        plan = free.pop()  # atomic: other threads borrow, too
    except IndexError:
        plan = _Plan(graph)
    distances = np.empty(graph.nodes, np.int32)
    tree = np.empty(graph.nodes, np.int32) if parents or order else None
    queue = np.empty(graph.nodes, np.int32) if order else None
    limit = FARTHEST if depth_limit is None else min(depth_limit, FARTHEST)
    begun = perf_counter()
    plan.launch(
        source,
        limit,
        address_of(distances),
        0 if tree is None else address_of(tree),
        plan.queue if queue is None else address_of(queue),
        order,
    )
    seconds = perf_counter() - begun
    rounds, followed, reached = plan.counts.tolist()
    free.append(plan)
    return Found(distances, tree, None if queue is None else queue[:reached].copy(), rounds, followed, seconds)
