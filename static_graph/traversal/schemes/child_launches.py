"""Balance "child-launch": a child kernel, launched by the kernel, relaxes the edges of a node of large degree (thesis,
section 4.3).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dmr.common.text import option
from dmr.memory import Enumeration
from static_graph.engine.repetition import repeat_from_host
from static_graph.errors import OptionError
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.schemes.outcome import Outcome
from static_graph.traversal.schemes.rounds import RoundState

PENDING = 2048  # the default limit of pending child launches on a device


class Children(Enumeration, enum="ChildEntry", count="CHILD_ENTRIES"):
    """Indices into the counters of children."""


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    *,
    weighted: bool,
    depth_limit: float | None = None,
    threshold: int = 128,
    most_children: int = PENDING,
    atomic: bool = True,
) -> Outcome:
    """Relaxes all edges until nothing changes; child kernels relax the edges of large nodes.

    The host drives the rounds. On a CPU a child is a function call.

    Args:
        graph, sources, weighted, depth_limit: as for every scheme (`outcome.py`).
        threshold: nodes with more edges launch a child (the thesis' best: 169 on its R-MAT graph, 128 on web-Stanford).
        most_children: the largest number of children per round. The device's limit of pending launches is set to this
            number, or to the largest one that it supports.
        atomic: relax by an atomic minimum, otherwise by plain stores.

    Returns:
        The outcome. Its figures: children, the number that ran, as counted by themselves; in_place, the number of nodes
        above the threshold that were relaxed in place because a child could not be launched.

    Raises:
        OptionError: a negative threshold or number of children.
    """
    if threshold < 0 or most_children < 0:
        raise OptionError(
            f"{option('threshold')} = {threshold}, {option('most_children')} = {most_children}: neither can be negative"
        )
    device = graph.device
    most = min(most_children, device.allow_children(most_children))
    distances = DeviceDistances(graph, sources, weighted=weighted, limit=depth_limit)
    state, children = RoundState.on(device), device.zeros(len(Children), np.int64)

    def one_round() -> None:
        device.launch(
            "relax_by_children", graph.nodes, graph.csr, distances.packed, int(atomic), threshold, most,
            state.progress, state.cursors, state.relaxed, children,
        )  # fmt: skip
        state.end_round()

    repeated, counted = repeat_from_host(device, state.stop, one_round), children.download()
    figures = {"children": int(counted[Children.RAN]), "in_place": int(counted[Children.IN_PLACE])}
    return state.outcome(distances, repeated, figures)
