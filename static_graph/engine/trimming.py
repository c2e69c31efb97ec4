"""Trimming: removal of nodes that are on no cycle and on no path between cycles (`cuda_src/graph/engine/trimming`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import checks_keywords, chosen
from dmr.memory import DeviceArray, DeviceCount, pack
from static_graph.common.arguments import check_graph
from static_graph.common.memory_estimates import trimming_bytes
from static_graph.engine.gpu_modules import TRIMMING
from static_graph.engine.loop import BALANCES, Counts, Expansion, Frontier, How, how_for, run_rounds
from static_graph.engine.repetition import run_once
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import required_incoming
from static_graph.graph.placement import device_for, require_work, uploaded

METHODS = ("complete", "simple")


# Where a graph may be, and how its edges are shared out, stands in each public signature, as in `bfs`.
@checks_keywords
def trim(
    graph: CsrGraph | DeviceGraph,
    *,
    method: str = "complete",
    balance: str = "auto",
    device: str = "auto",
    threads: int | None = None,
) -> NDArray[np.bool_]:
    """Finds the nodes that stay after trimming: the removal of nodes without incoming or without outgoing edges.

    A trimmed node is a strong component of its own. Self loops do not count as edges. All balances, devices and numbers
    of threads give the same mask.

    Args:
        graph: a graph on the host, or on a device.
        method: "complete" removes nodes until every one that is left has an edge from, and an edge to, another one that
            is left; "simple" checks all nodes once, by the edges of the whole graph.
        balance: how edges are distributed over threads: "auto", "baseline", "hierarchical", "collapse-local" or
            "collapse-global" (Slota, Rajamanickam, Madduri 2015).
        device, threads: as for `upload`; only for a graph on the host.

    Returns:
        (nodes,) bool: True for nodes that stay.

    Raises:
        OptionError: an option is invalid; `graph` is not a graph (WrongTypeError).
        GraphError: the graph has 2^31 edges or more.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    check_graph(graph, CsrGraph, DeviceGraph)
    complete = chosen("method", method, METHODS) == "complete"
    chosen("balance", balance, BALANCES)
    where = device_for(graph, device, threads)
    require_work(graph, where, trimming_bytes(graph.nodes, graph.edges), "a trim")
    with where.lock, where.current:
        where.prepare(*TRIMMING)
        on_device = uploaded(graph, where)
        how = how_for(balance, on_device, required_incoming(on_device))
        trimmed, _ = trimmed_nodes(on_device, how, complete=complete, alone=True)
        stays: NDArray[np.bool_] = trimmed.download() == 0
        return stays


def trimmed_nodes(
    graph: DeviceGraph, how: How, *, complete: bool = True, alone: bool = False, mask: DeviceArray | None = None
) -> tuple[DeviceArray, Counts]:
    """Trims a graph on its device.

    Args:
        graph: the graph; how: the strategy of the loops.
        complete: whether to repeat until no node is left to be trimmed.
        alone: whether one team processes rounds with few nodes alone.
        mask: (nodes,) uint8: 0 for nodes that count as absent.

    Returns:
        (nodes,) int32, 1 for trimmed nodes, and statistics of the rounds; the first round counts the edges.

    Raises:
        GraphError: the graph has 2^31 edges or more.
    """
    back = required_incoming(graph)
    device, nodes = graph.device, graph.nodes
    leaving, entering = device.empty(nodes, np.int32), device.empty(nodes, np.int32)
    trimmed = device.zeros(nodes, np.int32)
    frontier = Frontier(graph, None, mask=mask, alone=alone)
    count_leaving = pack("EdgeCounts", counts=leaving, other=None, trimmed=None)
    count_entering = pack("EdgeCounts", counts=entering, other=leaving, trimmed=trimmed)
    first = [
        Expansion(graph, "count_edges", count_leaving, frontier, how, reduces=True),
        Expansion(back, "count_edges", count_entering, frontier, how, reduces=True),
    ]

    def count() -> None:
        for expansion in first:
            expansion.launch()
        frontier.end_round()

    counted = run_once(device, count)
    if not complete:
        return trimmed, frontier.counts(counted.launches, counted.seconds)
    along = pack("Trimming", counts=entering, trimmed=trimmed)
    against = pack("Trimming", counts=leaving, trimmed=trimmed)
    expansions = [Expansion(graph, "trim", along, frontier, how), Expansion(back, "trim", against, frontier, how)]

    def trim_alone(teams: DeviceCount) -> None:
        device.launch("trim_alone", teams, graph.csr, back.csr, frontier.packed, how.packed, along, against)

    counts = run_rounds(frontier, expansions, trim_alone if alone else None)
    launches, seconds = counted.launches + counts.launches, counted.seconds + counts.seconds
    return trimmed, replace(counts, launches=launches, seconds=seconds)
