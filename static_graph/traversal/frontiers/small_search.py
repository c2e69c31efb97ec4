"""Breadth-first search of a small graph by one thread of a CPU (`cuda_src/graph/traversal/small_search.cu`).

Rounds of several kernels and their arguments would take several times as long as the search.
"""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.memory import DeviceArray
from static_graph.graph.device_graph import DeviceGraph

# Nodes and edges together up to which one thread searches alone: it then takes less time than the other threads take
# to wake up.
MOST = 2**16
FARTHEST = 2**31 - 1  # edges


class Found(NamedTuple):
    """Distances and parents, in the user's form, and statistics of the search (`Outcome`)."""

    distances: NDArray[np.int32]
    parents: NDArray[np.int32] | None
    rounds: int
    followed: int
    seconds: float


def run(graph: DeviceGraph, source: int, *, depth_limit: int | None, parents: bool) -> Found:
    """Finds the nodes in the order of a queue.

    Args:
        graph: a small graph; source: a node.
        depth_limit: nodes more edges away count as unreached.
        parents: whether to find the smallest closer predecessor of each node, too.
    """
    device, nodes = graph.device, graph.nodes
    free: list[tuple[DeviceArray, DeviceArray]] = graph.derived("small search", list)
    try:
        queue, counts = free.pop()  # atomic: other threads borrow, too
    except IndexError:
        queue, counts = device.empty(nodes, np.int32), device.empty(2, np.int64)
    distances = device.empty(nodes, np.int32)
    tree = device.empty(nodes, np.int32) if parents else None
    limit = FARTHEST if depth_limit is None else min(depth_limit, FARTHEST)
    begun = perf_counter()
    device.launch("search_small_graph", 1, graph.csr, source, limit, distances, tree, queue, counts)
    seconds = perf_counter() - begun
    rounds, followed = counts.download().tolist()
    free.append((queue, counts))
    return Found(distances.detach(), None if tree is None else tree.detach(), rounds, followed, seconds)
