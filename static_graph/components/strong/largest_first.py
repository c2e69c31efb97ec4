"""Strong components: the largest one by two searches, then the others, by the fastest method of the device."""

from __future__ import annotations

import numpy as np

from dmr.common.clock import Clock
from static_graph.components import serial
from static_graph.components.outcome import Outcome
from static_graph.components.pivots import find_pivot, label_by_smallest
from static_graph.components.strong import signatures
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import incoming
from static_graph.traversal.frontiers import direction_optimising
from static_graph.traversal.schemes.outcome import Outcome as Search

DEEPEST = 256  # levels of a search on a GPU; signatures need fewer rounds where there are more levels


def run(graph: DeviceGraph, *, transposed: bool = True) -> Outcome:
    """Finds the strong components.

    Args:
        graph: the graph.
        transposed: whether the largest component is searched for, which needs the transposed graph.
    """
    device, nodes = graph.device, graph.nodes
    labels, numbers = device.empty(nodes, np.int32), device.zeros(nodes, np.int32)
    device.launch("fill_indices", nodes, labels)
    back = incoming(graph) if transposed and nodes else None
    clock = Clock(device.synchronize)
    searches = [] if back is None else _find_largest(graph, back, clock)
    figures = {"levels": sum(search.rounds for search in searches)}
    forward = backward = None
    if len(searches) == 2:
        forward, backward = searches[0].distances.array, searches[1].distances.array
        device.launch("mark_component", nodes, forward, backward, searches[0].distances.source, numbers, labels)
    if device.threads:
        serial.finish(graph, numbers, labels)
        rounds = 1
    else:
        rounds, figures["passes"] = signatures.finish(graph, numbers, labels, forward, backward)
    label_by_smallest(labels)
    clock.lap("finish")
    return Outcome(labels, rounds, clock.seconds, figures)


def _find_largest(graph: DeviceGraph, back: DeviceGraph, clock: Clock) -> list[Search]:
    """Searches from the pivot forward and backward.

    Returns:
        Both searches; fewer if one was given up because it is too deep.
    """
    limit = None if graph.device.threads else DEEPEST
    pivot = find_pivot(graph, back, graph.device.zeros(graph.nodes, np.int32))
    clock.lap("pivot")
    searches = []
    for name, each, other in (("forward", graph, back), ("backward", back, graph)):
        searches.append(direction_optimising.run(each, [pivot], depth_limit=limit, transposed=other))
        clock.lap(name)
        if limit is not None and searches[-1].rounds >= limit:
            break
    return searches
