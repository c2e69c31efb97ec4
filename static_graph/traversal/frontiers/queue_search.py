"""Breadth-first search in the order of a sequential queue (`cuda_src/graph/traversal/queue_search`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dmr.memory import Argument, DeviceArray, Packed, constant, pack
from static_graph.errors import GraphError
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import MOST_EDGES
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.frontiers.workspace import (
    BEGINNING,
    SINGLE_BLOCK_ON_ONE_THREAD,
    Entry,
    Kernels,
    Total,
    Workspace,
)
from static_graph.traversal.schemes.outcome import Outcome

# CPU threads from which levels are divided: one thread passes over the edges once, several do so four times.
LEAST_THREADS = 8

WORD = constant("WORD")

KERNELS = Kernels("begin_queue", "single_block_queue_levels", "queue_pass", "end_queue_level", "search_by_queue")


class QueueWorkspace(Workspace):
    """A workspace with the claims and sums of a search (`Queue` of `cuda_src/graph/traversal/queue_search`)."""

    def __init__(self, graph: DeviceGraph) -> None:
        super().__init__(graph)
        self.claims = self.device.empty(graph.nodes, np.int32)
        self.seen = self.device.empty(self.device.tiles(graph.nodes, WORD), np.uint32) if self.device.threads else None
        self.sums = self.device.empty(2 * self.device.most_pieces, np.int32)

    def queue(self, order: DeviceArray, parents: DeviceArray) -> Packed:
        """Returns the arrays as a kernel argument, with those of the result."""
        return pack(
            "Queue",
            order=order,
            begins=self.lists[1],  # the queue is the only list of nodes, so this one is free
            parents=parents,
            claims=self.claims,
            seen=self.seen,
            sums=self.sums,
        )

    def single_block_limits(self) -> dict[str, int]:
        """Returns the limits of levels that one team processes alone: on few CPU threads, all levels."""
        return SINGLE_BLOCK_ON_ONE_THREAD if 0 < self.device.threads < LEAST_THREADS else super().single_block_limits()

    def _begin(self, kernel: str, distances: DeviceDistances, arguments: tuple[Argument, ...]) -> None:
        sources = self.lists[0][: distances.sources.size]
        sources.upload(distances.sources)
        self.device.launch(kernel, self.device.tiles(self.lists[0].size, BEGINNING), *arguments)
        self.device.launch("enter_queue", 1, *arguments, sources.size)


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    *,
    weighted: bool = False,
    depth_limit: float | None = None,
    one_launch: bool | None = None,
) -> Outcome:
    """Finds the nodes level by level, each level in the order of the queue.

    Args:
        graph, sources, weighted, depth_limit: as for every scheme (`schemes/outcome.py`); weights never count.
        one_launch: whether one launch does all levels; the default depends on the device.

    Returns:
        The outcome, with the order and its parents.

    Raises:
        GraphError: there are more than 2^31 - 1 edges, which the kernels number in 32 bits.
    """
    assert not weighted
    if graph.edges > MOST_EDGES:
        raise GraphError(f"{graph.edges} edges are more than the {MOST_EDGES} that a search by order=True can number")
    device, nodes = graph.device, graph.nodes
    distances = DeviceDistances(graph, sources, weighted=False, limit=depth_limit, reset=False)
    order, parents = device.empty(nodes, np.int32), device.empty(nodes, np.int32)
    with QueueWorkspace.borrowed(graph) as space:
        arguments = (graph.csr, distances.packed, space.frontier, space.queue(order, parents))
        passes = dict.fromkeys((Entry.PREPARE, Entry.OTHER, Entry.CHUNKS), device.most_pieces)
        outcome = space.run(KERNELS, arguments, distances, most_teams=passes, in_one_launch=one_launch)
        reached = nodes - int(space.totals.download()[Total.UNSEEN])
    return replace(outcome, parents=parents, order=order[:reached])
