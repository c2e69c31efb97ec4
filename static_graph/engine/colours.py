"""Colour propagation: the largest node number that reaches each node (`cuda_src/graph/engine/colours.cu`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import checks_keywords, chosen, switch
from dmr.memory import DeviceArray, DeviceCount, pack
from static_graph.common.arguments import check_graph
from static_graph.common.memory_estimates import colouring_bytes
from static_graph.engine.gpu_modules import COLOURS
from static_graph.engine.loop import BALANCES, Counts, Expansion, Frontier, How, how_for, run_rounds
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.placement import device_for, require_work, uploaded

GROWTH = 8  # a phase sends this many times as many colours as all phases before


@checks_keywords
def propagate_colours(
    graph: CsrGraph | DeviceGraph,
    *,
    atomic: bool = True,
    balance: str = "auto",
    device: str = "auto",
    threads: int | None = None,
) -> NDArray[np.int32]:
    """Colours each node with the largest number of a node from which it can be reached, its own included.

    The largest colours go first, so few are sent in vain. The rounds are as many as the longest path of a colour
    has edges, for each of about log n / 3 phases; rounds with few nodes need no launch each.

    All balances, devices and numbers of threads give the same colours. Among the nodes of one colour, those from which
    the colour's node can be reached form its strong component.

    Args:
        graph: a graph on the host, or on a device.
        atomic: whether colours rise by an atomic maximum; otherwise by plain stores, after which the sender looks
            again, because a store may overwrite a larger colour.
        balance: how edges are distributed over threads: "baseline", "hierarchical", "collapse-local" or
            "collapse-global" (Slota, Rajamanickam, Madduri 2015).
        device, threads: as for `upload`; only for a graph on the host.

    Returns:
        (nodes,) int32: the colours.

    Raises:
        OptionError: an option is invalid; `graph` is not a graph (WrongTypeError).
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    check_graph(graph, CsrGraph, DeviceGraph)
    atomic = switch("atomic", atomic)
    chosen("balance", balance, BALANCES)
    where = device_for(graph, device, threads)
    require_work(graph, where, colouring_bytes(graph.nodes), "a colouring")
    with where.lock, where.current:
        where.prepare(*COLOURS)
        on_device = uploaded(graph, where)
        colours, _ = coloured(on_device, how_for(balance, on_device), atomic=atomic, alone=True, growth=GROWTH)
        return colours.detach()


def coloured(
    graph: DeviceGraph,
    how: How,
    *,
    atomic: bool = True,
    alone: bool = False,
    growth: int | None = None,
    mask: DeviceArray | None = None,
    back: DeviceGraph | None = None,
) -> tuple[DeviceArray, Counts]:
    """Colours the nodes of a graph on its device.

    Args:
        graph: the graph; how: the strategy of the loops; atomic: as for `propagate_colours`.
        alone: whether one team processes rounds with few nodes alone.
        growth: the largest colour is sent first; each later phase sends this many times as many colours as all phases
            before. None: all nodes send their colours at once.
        mask: (nodes,) uint8: 0 for nodes that count as absent; they keep their numbers.
        back: the transposed graph, if colours go against the edges, too.

    Returns:
        (nodes,) int32, and statistics of the rounds.
    """
    device, nodes = graph.device, graph.nodes
    colours = device.empty(nodes, np.int32)
    device.launch("begin_colours", nodes, colours)
    first = 0 if growth is None else max(nodes - 1, 0)
    bounds = device.array(np.array([first, nodes], np.int32))
    epochs = device.zeros(nodes, np.int32)
    body = pack("Colours", colours=colours, epochs=epochs, bounds=bounds, atomic=int(atomic))
    frontier = Frontier(graph, None, mask=mask, alone=alone)

    def propagate_alone(teams: DeviceCount) -> None:
        if back is None:
            device.launch("propagate_alone", teams, graph.csr, frontier.packed, how.packed, body)
        else:
            device.launch("propagate_both_alone", teams, graph.csr, back.csr, frontier.packed, how.packed, body)

    def end_phase() -> None:
        device.launch("end_phase", 1, frontier.packed, body, nodes, growth)

    counts = run_rounds(
        frontier,
        [Expansion(each, "propagate", body, frontier, how) for each in (graph, back) if each is not None],
        propagate_alone if alone else None,
        None if growth is None else end_phase,
    )
    return colours, counts
