"""Breadth-first search of a small graph by one thread of a CPU (`cuda_src/graph/traversal/small_search`).

Rounds of several kernels and their arguments would take several times as long as the search. It lasts a few
microseconds, about as long as twenty Python calls: what the searches of a graph have in common is made once.
"""

from __future__ import annotations

from sys import getrefcount
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import set_once
from dmr.common.native import address_of
from dmr.memory.host.prepared import PreparedLaunch
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.results import Traversal

# Nodes and edges together up to which one thread searches alone: it then takes less time than the other threads take
# to wake up.
MOST = 2**16
FARTHEST = 2**31 - 1  # edges
BYTES = 4  # of an int32

UNUSED = 2  # references to an array that only one attribute holds, one of them by getrefcount itself

KEPT = "_small_searches"  # the key of a graph's searches


class _Plan:
    """A prepared launch of searches of one graph, one at a time, with the arrays that they need."""

    def __init__(self, graph: DeviceGraph) -> None:
        device, self.nodes = graph.device, graph.nodes
        queue = np.empty(self.nodes, np.int32)
        self.queue = address_of(queue)
        self.rows, self.address = np.empty((0, self.nodes), np.int32), 0
        self.counts = np.zeros(3, np.int64)
        arguments = (graph.csr, 0, FARTHEST, None, None, device.share(queue), 0, device.share(self.counts))
        changing = ("source", "limit", "distances", "parents", "queue", "by_order")
        self.launch = PreparedLaunch(device, "search_small_graph", arguments, changing)

    def memory(self, rows: int) -> NDArray[np.int32]:
        """Returns memory for a result, (rows, nodes), at `address`: that of the last one if the user has dropped it.

        New memory takes as long as a third of the search, because the system provides its pages one by one.
        """
        if len(self.rows) != rows or getrefcount(self.rows) > UNUSED:
            self.rows = np.empty((rows, self.nodes), np.int32)
            self.address = address_of(self.rows)
        return self.rows


class SmallSearches:
    """Searches of one small graph on a CPU, by any number of threads at the same time.

    Attributes:
        size: nodes and edges together; nodes: their number.
    """

    def __init__(self, graph: DeviceGraph, labels: NDArray[Any] | None) -> None:
        """Takes a graph on a CPU, and the labels of its nodes."""
        self.size, self.nodes = graph.nodes + graph.edges, graph.nodes
        self._graph = graph
        self._free: list[_Plan] = []
        self._common: dict[str, Any] = {  # fields of all results
            "balance": "auto",
            "launches": 1,
            "device": graph.device.name,
            "threads": graph.device.threads,
            "node_labels": labels,
        }

    def search(
        self, source: int, limit: int = FARTHEST, parents: bool = False, order: bool = False, begun: float | None = None
    ) -> Traversal:
        """Finds the nodes in the order of a queue.

        Args:
            source: a node; limit: nodes more edges away count as unreached.
            parents: whether to find the smallest closer predecessor of each node, too.
            order: whether to return the order, and the predecessors that found the nodes.
            begun: when the user's call began, by `perf_counter`.
        """
        if begun is None:
            begun = perf_counter()
        try:
            plan = self._free.pop()  # atomic: other threads borrow, too
        except IndexError:
            plan = _Plan(self._graph)
        rows = plan.memory(3 if order else 2 if parents else 1)
        distances, row = plan.address, BYTES * self.nodes
        tree = distances + row if parents or order else 0
        launched = perf_counter()
        plan.launch(source, limit, distances, tree, distances + 2 * row if order else plan.queue, order)
        ended = perf_counter()
        rounds, followed, reached = plan.counts.tolist()
        self._free.append(plan)
        arrays, attributes = {"distances": rows[0]}, self._common.copy()
        if tree:
            arrays["parents"] = rows[1]
        else:
            attributes["parents"] = None
        if order:
            arrays["order"] = rows[2, :reached]
        else:
            attributes["order"] = None
        attributes["sources"] = (source,)
        attributes["rounds"] = rounds
        attributes["edges_followed"] = followed
        attributes["figures"] = {}
        seconds = ended - launched
        attributes["seconds"] = {"prepare": perf_counter() - begun - seconds, "rounds": seconds, "download": 0.0}
        return Traversal.unread(arrays, attributes)


def searches_on(graph: DeviceGraph) -> SmallSearches:
    """Returns the searches of a small graph on a CPU; they are kept with it."""
    labels = None if graph.host is None else graph.host.labels
    return graph.derived(KEPT, lambda: SmallSearches(graph, labels))


def kept_searches(graph: CsrGraph | DeviceGraph, device: str, threads: int | None) -> SmallSearches | None:
    """Returns the searches that an earlier call has kept, or None; quick.

    Args:
        graph: the graph; device, threads: as the caller gives them, unchecked.
    """
    found: SmallSearches | None = None
    if not _are_plain(device, threads):
        return None
    if type(graph) is CsrGraph:
        kept = vars(graph).get(KEPT)
        found = None if kept is None else kept.get((device, threads))
    elif type(graph) is DeviceGraph and device == "auto" and threads is None:
        found = graph.kept(KEPT)
    return found if found is not None and found.size <= MOST else None


def keep_searches(graph: CsrGraph, device: str, threads: int | None, searches: SmallSearches) -> None:
    """Keeps the searches of a graph on the host, as long as it lives, for calls with the same device and threads."""
    if not _are_plain(device, threads):
        return
    kept: dict[tuple[str, int | None], SmallSearches] = set_once(graph, KEPT, {})
    kept[device, threads] = searches


def _are_plain(device: object, threads: object) -> bool:
    """Whether the caller's device and threads can be keys: other values of equal meaning need not be hashable."""
    return type(device) is str and (threads is None or type(threads) is int)
